"""LLaMA-Factory as an application, over Rolecall's engine protocol: it gets conversations as a dataset of
the format `openai` has them, and answers with the text on which LLaMA-Factory trains, and with what is
learned of it.

All of this is LLaMA-Factory's own code, with its usual settings. It does not render chat templates: it has
templates of its own, which the setting `template` names, and without that setting it makes one from what
the chat template writes of a few messages. So does this program; an argument is the name of a template of
LLaMA-Factory. Of the options of a conversation, it has `enable_thinking`. Neither a model nor torch is
here: `modules.txt` names the modules that are needed, and all others are stand-ins.
"""

import importlib.metadata
import os
import sys
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import jinja2
import stand_ins
import transformers
from serving import Refused, serve
from training import Trainer

stand_ins.install(
    os.path.join(HERE, "modules.txt"), {"datasets", "peft", "torch", "torchaudio"}
)

from llamafactory.data.converter import OpenAIDatasetConverter
from llamafactory.data.parser import DatasetAttr
from llamafactory.data.processor.supervised import SupervisedDatasetProcessor
from llamafactory.data.template import get_template_and_fix_tokenizer

DATASET = DatasetAttr(
    "hf_hub",
    "dataset",
    formatting="openai",
    messages="messages",
    tools="tools",
    role_tag="role",
    content_tag="content",
    user_tag="user",
    assistant_tag="assistant",
    observation_tag="tool",
    system_tag="system",
)


class LlamaFactory(Trainer):
    name = "llama-factory"
    version = importlib.metadata.version("llamafactory")
    components = {"jinja2": jinja2.__version__, "transformers": transformers.__version__}
    template = (*sys.argv[1:], None)[0]

    def labels(self, tokenizer, messages, tools, options):
        settings = SimpleNamespace(
            cutoff_len=sys.maxsize,
            default_system=None,
            enable_thinking=options.get("enable_thinking", True),
            mask_history=False,
            preserve_thinking=False,
            template=self.template,
            tool_format=None,
            train_on_prompt=False,
        )
        template = get_template_and_fix_tokenizer(tokenizer, settings)
        example = {"messages": messages, "tools": tools or ""}
        converted = OpenAIDatasetConverter(DATASET, settings)(example)
        processor = SupervisedDatasetProcessor(template, tokenizer, None, settings)
        prepared = processor.preprocess_dataset({name: [value] for name, value in converted.items()})
        if not prepared:
            raise Refused("it drops the example: turns do not alternate, or no answer is the last")
        return prepared["input_ids"][0], prepared["labels"][0]


stand_ins.seal()
serve(LlamaFactory())

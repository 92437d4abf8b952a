"""axolotl as an application, over Rolecall's engine protocol: it gets conversations as a dataset has them,
and answers with the text on which axolotl trains, and with what is learned of it.

All of this is axolotl's own code for datasets of the type `chat_template`, with its usual settings: it
learns what assistants write, and the end of their turns. The options of a conversation are in
`chat_template_kwargs`, and so is nothing else. Neither a model nor torch is here: `modules.txt` names the
modules that are needed, and all others are stand-ins.
"""

import importlib.metadata
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import jinja2
import stand_ins
import transformers
from serving import serve
from training import Trainer

stand_ins.install(
    os.path.join(HERE, "modules.txt"),
    {"datasets", "torch"},
    get_logger=transformers.utils.logging.get_logger,
)

from axolotl.prompt_strategies.chat_template import load
from axolotl.utils.dict import DictDefault


class Axolotl(Trainer):
    name = "axolotl"
    version = importlib.metadata.version("axolotl")
    components = {"jinja2": jinja2.__version__, "transformers": transformers.__version__}

    def labels(self, tokenizer, messages, tools, options):
        settings = DictDefault(sequence_len=sys.maxsize - 1, chat_template_kwargs=options)
        example = {"messages": messages}
        if tools is not None:
            example["tools"] = tools
        strategy = load(tokenizer, settings, {"type": "chat_template"})
        prepared = strategy.tokenize_prompt(example)
        return prepared["input_ids"], prepared["labels"]


stand_ins.seal()
serve(Axolotl())

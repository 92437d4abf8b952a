"""TRL as an application, over Rolecall's engine protocol: it gets conversations as a dataset has them, and
answers with the text on which `SFTTrainer` trains, and with what is learned of it if only answers are
(`assistant_only_loss`).

All of this is TRL's own code: `SFTTrainer._prepare_dataset`, `get_training_chat_template`, and transformers.
Neither a model nor torch is here: `modules.txt` names the modules that are needed, and all others are
stand-ins.
"""

import contextlib
import importlib.metadata
import os
import sys
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import jinja2
import stand_ins
import transformers
from serving import serve
from training import Trainer

stand_ins.install(
    os.path.join(HERE, "modules.txt"),
    {"accelerate", "datasets", "pandas", "pyarrow", "torch"},
    get_logger=transformers.utils.logging.get_logger,
    global_then_local_main_first=contextlib.nullcontext,
)

from trl.chat_template_utils import get_training_chat_template, has_generation_markers
from trl.trainer.sft_trainer import SFTTrainer

SETTINGS = SimpleNamespace(
    assistant_only_loss=True,
    dataset_text_field="text",
    max_length=None,
    shuffle_dataset=False,
)


class Dataset(list):
    """What the trainer needs of a dataset of `datasets`."""

    column_names = None

    def map(self, change, fn_kwargs=None, remove_columns=None, **options):
        changed = [{**row, **change(dict(row), **(fn_kwargs or {}))} for row in self]
        dropped = remove_columns or []
        return Dataset({k: v for k, v in row.items() if k not in dropped} for row in changed)


class TRL(Trainer):
    name = "trl"
    version = importlib.metadata.version("trl")
    components = {"jinja2": jinja2.__version__, "transformers": transformers.__version__}

    def labels(self, tokenizer, messages, tools, options):
        # `SFTTrainer` chooses the template so when it is made, which needs a model.
        has_markers = has_generation_markers(tokenizer.chat_template)
        template = None if has_markers else get_training_chat_template(tokenizer)
        trainer = SimpleNamespace(
            chat_template=template, completion_only_loss=False, _tokenizer=tokenizer
        )
        example = {"messages": messages, "tools": tools, "chat_template_kwargs": options}
        [prepared] = SFTTrainer._prepare_dataset(
            trainer, Dataset([example]), tokenizer, SETTINGS, False, None, "train"
        )
        return prepared["input_ids"], prepared["labels"]


stand_ins.seal()
serve(TRL())

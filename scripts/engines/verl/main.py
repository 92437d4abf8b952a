"""verl as an application, over Rolecall's engine protocol: it gets conversations as a dataset has them, and
answers with the text on which verl trains, and with what is learned of it.

All of this is verl's own code: `MultiTurnSFTDataset`, which renders each message alone and puts the tokens
together, and transformers. A conversation is read from a list and not from a file. The options of a
conversation are `apply_chat_template_kwargs`. Neither a model nor torch is here: arrays of numpy are the
tensors, `modules.txt` names the modules that are needed, and all others are stand-ins.
"""

import importlib.metadata
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import jinja2
import numpy
import stand_ins
import transformers
from serving import serve
from training import IGNORED, Trainer


def put_together(arrays, dim=0):
    return numpy.concatenate(arrays, axis=dim)


stand_ins.install(
    os.path.join(HERE, "modules.txt"),
    {"omegaconf", "pandas", "tensordict", "torch"},
    Tensor=numpy.ndarray,
    arange=numpy.arange,
    cat=put_together,
    concat=put_together,
    equal=numpy.array_equal,
    long=numpy.int64,
    ones_like=numpy.ones_like,
    zeros_like=numpy.zeros_like,
)

from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
from verl.utils.tokenizer.chat_template import extract_system_prompt_and_generation


class Row:
    """What the dataset needs of a table with one row."""

    def __init__(self, row):
        self.iloc = [self]
        self.to_dict = lambda: row


class Dataset(MultiTurnSFTDataset):
    """A dataset of one conversation."""

    def _download(self):
        pass

    def _read_files_and_process(self):
        [row] = self.parquet_files
        self.dataframe, self.tools, self.enable_thinking = Row(row), [row["tools"]], None
        self.system_prompt, self.generation_prompt = extract_system_prompt_and_generation(
            self.tokenizer, **self.apply_chat_template_kwargs
        )


class Tokenizer(Trainer.tokenizer):
    """A tokenizer whose tensors are arrays."""

    def apply_chat_template(self, *arguments, return_tensors=None, **options):
        kind = return_tensors and "np"
        return super().apply_chat_template(*arguments, return_tensors=kind, **options)


class Verl(Trainer):
    name = "verl"
    version = importlib.metadata.version("verl")
    components = {"jinja2": jinja2.__version__, "transformers": transformers.__version__}
    tokenizer = Tokenizer

    def labels(self, tokenizer, messages, tools, options):
        settings = {
            "apply_chat_template_kwargs": options,
            "max_length": sys.maxsize,
            "pad_mode": "no_padding",
        }
        row = {"messages": messages, "tools": tools}
        prepared = Dataset(row, tokenizer, settings)[0]
        ids, mask = prepared["input_ids"].tolist(), prepared["loss_mask"].tolist()
        labels = [token if is_learned else IGNORED for token, is_learned in zip(ids, mask)]
        return ids, labels


stand_ins.seal()
serve(Verl())

"""What the adapters of trainers share: they answer with the text that a trainer makes of a conversation,
and with the parts of it that the model learns.

The tokenizer is a real one of transformers, with the chat template and its special tokens. The vocabulary
of the model is not known, so it has a token for each byte and for each mark of the template, such as
`<|im_end|>`.
"""

import itertools

from serving_transformers import NAMED_TOKENS, TransformersServer, check
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from tokens import MARK
from transformers import PreTrainedTokenizerFast

# What labels have for a token that is not learned.
IGNORED = -100


def tokenizer(kind, source, tokens):
    """A tokenizer of a class, with a token for each byte, with the tokens of the model, and with the template's
    marks as further tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: at for at, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_tokens([AddedToken(mark, normalized=False) for mark in sorted(set(MARK.findall(source)))])
    named = {name: token for name, token in tokens.items() if name in NAMED_TOKENS}
    extra = {name: token for name, token in tokens.items() if name not in NAMED_TOKENS}
    return kind(tokenizer_object=made, chat_template=source, extra_special_tokens=extra, **named)


def learned(tokenizer, ids, labels):
    """The text of tokens, and the ranges of bytes of those that are learned. A character is learned if one
    of its bytes is."""
    letters = {letter: byte for byte, letter in bytes_of_letters()}
    added = tokenizer.get_added_vocab()
    pieces = []
    for token in tokenizer.convert_ids_to_tokens(ids):
        is_added = token in added
        pieces.append(token.encode() if is_added else bytes(letters[letter] for letter in token))
    ends = list(itertools.accumulate(map(len, pieces)))
    text = b"".join(pieces)
    ranges = []
    for piece, end, label in zip(pieces, ends, labels, strict=True):
        start = end - len(piece)
        if label == IGNORED or not piece:
            continue
        # The further bytes of a character are between these.
        while 0x80 <= text[start] < 0xC0:
            start -= 1
        while end < len(text) and 0x80 <= text[end] < 0xC0:
            end += 1
        if ranges and ranges[-1][1] >= start:
            ranges[-1][1] = end
        else:
            ranges.append([start, end])
    return text.decode(), ranges


def bytes_of_letters():
    """The letters with which a byte-level tokenizer writes bytes: bytes that print are themselves."""
    prints = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in prints]
    yield from ((byte, chr(byte)) for byte in prints)
    yield from ((byte, chr(256 + at)) for at, byte in enumerate(others))


class Trainer(TransformersServer):
    """A trainer, as an application for transformers' templates."""

    fronts = ["transformers", "transformers-processor"]
    tokenizer = PreTrainedTokenizerFast

    def load(self, number, templates, tokens, media):
        source = templates if isinstance(templates, str) else templates["default"]
        check(source)
        return tokenizer(self.tokenizer, source, tokens)

    def rendered(self, tokenizer, asked):
        options = dict(asked["variables"])
        if asked["documents"] is not None:
            options["documents"] = asked["documents"]
        ids, labels = self.labels(tokenizer, asked["messages"], asked["tools"], options)
        text, ranges = learned(tokenizer, ids, labels)
        return {"text": text, "learned": ranges}

    def labels(self, tokenizer, messages, tools, options):
        """The tokens of a conversation, and their labels. `options` are those for the template."""
        raise NotImplementedError

"""A tokenizer for parsers that want the ids of tokens. The vocabulary of the model is not known here,
so it has the bytes, and each mark in the source of the chat template, such as `<tool_call>`,
`[TOOL_CALLS]` or `<|im_end|>`, as one token."""

import re

MARK = re.compile(r"<[^<>\s'\"{}()%]{1,60}>|\[/?[A-Z_]{2,40}\]")
SPECIAL = re.compile(r"<[|｜].*[|｜]>", re.DOTALL)


class Tokenizer:
    def __init__(self, source, response_template=None):
        self.chat_template = source
        self.response_template = response_template
        marks = sorted(set(MARK.findall(source)), key=lambda mark: (-len(mark), mark))
        self.marks = marks
        self.vocab = {mark: 256 + at for at, mark in enumerate(marks)}
        self.all_special_tokens = [mark for mark in marks if SPECIAL.fullmatch(mark)]
        self.all_special_ids = [self.vocab[mark] for mark in self.all_special_tokens]
        self.splits = re.compile("|".join(map(re.escape, marks)) or "(?!)")
        self.init_kwargs = {}

    def get_vocab(self):
        return self.vocab

    def __len__(self):
        return 256 + len(self.marks)

    def pieces(self, text):
        """The ids of a text, each with its text. A character of several bytes comes with the last
        of them."""
        start = 0
        for found in self.splits.finditer(text):
            yield from self.bytes_of(text[start : found.start()])
            yield [self.vocab[found[0]]], found[0]
            start = found.end()
        yield from self.bytes_of(text[start:])

    def bytes_of(self, text):
        for character in text:
            yield list(character.encode(errors="surrogatepass")), character

    def encode(self, text, add_special_tokens=False, **options):
        return [token for ids, _ in self.pieces(text) for token in ids]

    def decode(self, tokens, skip_special_tokens=False, **options):
        tokens = [tokens] if isinstance(tokens, int) else list(tokens)
        known = [token for token in tokens if token not in self.all_special_ids]
        raw = b"".join(
            bytes([token]) if token < 256 else self.marks[token - 256].encode()
            for token in (known if skip_special_tokens else tokens)
        )
        return raw.decode(errors="replace")

    def convert_tokens_to_ids(self, tokens):
        if isinstance(tokens, str):
            return self.vocab.get(tokens)
        return [self.vocab.get(token) for token in tokens]

    def convert_ids_to_tokens(self, tokens, **options):
        return [self.decode([token]) for token in tokens]

    def tokenize(self, text, **options):
        return [piece for _, piece in self.pieces(text)]

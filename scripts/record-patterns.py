#!/usr/bin/env python3
"""Records what `regex` finds, for harness/response/tests/data/patterns.jsonl.

    .references/python-transformers/bin/python scripts/record-patterns.py [COUNT [SEED]] \
        > harness/response/tests/data/patterns.jsonl

Beside the patterns below it makes COUNT patterns that nobody wrote (default: 0). A row has a
pattern, a text, and what is found: for each place the search for a whole match and for a partial
one, then all matches.
"""

import json
import random
import signal
import sys

import regex

WRITTEN = r"""
<e>\s*|$
\)(?:\]<e>)?
(?=[\s\S]*?</think>)
\s*(?:<\|a\|>|<\|b\|>)
\s*<t>\s*<f=(?P<name>[^>\n]+)>
<p=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</p>
\w*?b
\w*?bcd
[^<]*?</a>
a{0,2}?bcd
x{0,3}abc
(?:ab)*c
(?:ab)*?c
(?:ab)+
(?:ab|a)(?:c|bcd)
(?>a|ab)c
a*+b
(?!(?:x|y)*z)[xyz]
(?<=a)b
(?<!a)b
\bab\b
\Bb
^a|b$
\Aa|b\Z
(?m)^a$
(?-s:a.b)
(a)|b\1
(?P<n>a|b)(?P=n)
[^\s\S]a
[\s\S]a
[]a-]b
[a-c\d]+?;
a{,2}b
a{2}b
a{
(?:)*a
(?:a?)*b
(?:a|aa)+$
a??b
(a*)*b
(a|b|ab)*c
[ab]|c|\d
abc|abd|ab
(?:<a>|<b>)x
(?=ab)a
(?!ab)a
((a)|b)*
\x41\u0042\U00000043\101
"""

WRONG = ["(", ")", "[a", "a**", "*", "a{2,1}", r"\8", r"\x4", r"\q", "(?P<1>a)", "(?P=n)", r"(a\1)", "(?z)", "(?s-s)", "[b-a]", "\\"]

TEXTS = ["", "a", "ab", "abc", "abab", "aabbcd", "<e> x", "(x)]<e>\n", "a b\nb", "hi <t> <f=g>", "x<p=k> v </p>\n<p=", "ab cd</th", "<|a|", "AB\n", "bcd xbc", "aaaa", "a;1;", "xyz", "<a>x<b", "a\n"]

ATOMS = ["a", "b", "c", "ab", "bc", "abc", ".", r"\s", r"\w", r"\d", r"\S", "[ab]", "[^a]", "[a-c]", r"[^\sb]", r"[\s\S]", r"\b", r"\B", "^", "$", r"\Z", r"\A", " ", r"\n", "<a>", "</a>", "abcde", "(?m:^)", "(?m:$)", "(?-s:.)", "(?-s:.)*", "[^a-c]+", "[ab]*?", "é", "(?P<n>a|b)"]
COUNTS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}?", "{0,3}", "*+", "?+", "{1,3}?"]
ALPHABET = "aabbcc <>/\n1deé"


def generated(chance, depth):
    """A pattern, and whether it may be repeated."""
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        return chance.choice(ATOMS)
    if kind < 0.55:
        return "".join(generated(chance, depth - 1) for _ in range(chance.randint(2, 3)))
    if kind < 0.75:
        inner = generated(chance, depth - 1)
        if chance.random() < 0.7 or len(inner) > 1:
            inner = f"(?:{inner})" if chance.random() < 0.6 else f"({inner})"
        return inner + chance.choice(COUNTS)
    if kind < 0.9:
        branches = "|".join(generated(chance, depth - 1) for _ in range(chance.randint(2, 3)))
        return f"(?:{branches})" if chance.random() < 0.7 else f"({branches})"
    inner = generated(chance, depth - 1)
    form = chance.choice(["(?={})", "(?!{})", "(?>{})", "({})\\1", "(?<={})", "(?<!{})", "(?=[\\s\\S]*?{})"])
    return form.format(inner)


def spans(match):
    return [match.start(), match.end(), [list(match.span(n + 1)) for n in range(match.re.groups)]]


def found(pattern, text):
    try:
        compiled = regex.compile(pattern, regex.DOTALL)
    except regex.error:
        return "error"
    rows = []
    for start in range(len(text) + 1):
        whole = compiled.search(text, start)
        partial = compiled.search(text, start, partial=True)
        row = [spans(whole) if whole else None]
        if partial is None or partial.partial and partial.start() == len(text):
            row.append(None)
        else:
            row.append(partial.start() if partial.partial else spans(partial))
        rows.append(row)
    rows.append([spans(match) for match in compiled.finditer(text)])
    return rows


def give_up(*_):
    raise TimeoutError


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    pairs = [(p, t) for p in WRITTEN.strip().split("\n") for t in TEXTS]
    pairs += [(p, "a") for p in WRONG]
    while len(pairs) < len(TEXTS) * len(WRITTEN.strip().split("\n")) + len(WRONG) + count:
        pattern = generated(chance, 3)
        for _ in range(4):
            text = "".join(chance.choice(ALPHABET) for _ in range(chance.randint(0, 9)))
            pairs.append((pattern, text))
    signal.signal(signal.SIGALRM, give_up)
    for pattern, text in pairs:
        signal.alarm(2)
        try:
            row = {"pattern": pattern, "text": text, "found": found(pattern, text)}
        except TimeoutError:
            continue
        finally:
            signal.alarm(0)
        print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares the crate `rolecall-response` with transformers, on templates that nobody wrote.

    .references/python-transformers/bin/python scripts/agree-response.py [SECONDS [SEED [FILE…]]]

Makes response templates, tools, prompts and answers, cuts the answers into pieces, and gives all of
it to both (default: 60 seconds, and a new seed each time). A FILE is JSON with response templates,
anywhere in it: every other template is one of them. Reports two differences of each kind with their
requests. Exit codes: 0 no difference; 1 a difference.
"""

import importlib
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

from response_reference import answer

# A name with a hyphen cannot be imported by a statement.
generated = importlib.import_module("record-patterns").generated

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ["cargo", "run", "--release", "--quiet", "--package", "rolecall-response", "--example", "answer"]

LITERALS = ["<t>", "</t>", "<e>", "<c>", "</c>", "<think>", "</think>", "<|im_end|>", "[TOOL]", "[", "]", "\n\n", "<", "a", "é", "<t>\n", "<te>", " "]
PATTERNS = [
    r"\s*<t>", r"\s*<t>\s*", r"</t>\s*", r"<e>\s*|$", r"\s*(?:<e>|<\|im_end\|>)", r"$", r"\Z", r"\)(?:\]<e>)?",
    r"(?=[\s\S]*?</think>)", r"(?=<c>)", r"</t>|$", r"<f=(?P<name>[^>\n]+)>", r"\s*<t>\s*<f=(?P<name>\w+)>",
    r"call:(?P<name>\w+)", r"<t(?P<kind> \w+)?>", r"(?:<t>|<te>)", r"<t>|<c>|<think>", r"\n+", r"\n{2,}", r"\b\w+\(",
    r"[\[(]", r"\w*?<c>", r".*?</t>", r"(?P<a>x)|(?P<b>y)", r"(?<=a)<t>", r"(?!<e>)<", r"(?:ab)*c", r"(?:a|aa)+<",
    r"a*?b", r"^", r"^a", r"(?m)^#+", r"(?:<t>)?\s*<c>", r"\d+\.", r"x?", r"", r"(<t>|<c>)\1", r"(?>\s*)<t>", r"\s*+<t>",
    r"</?(?:t|c)>", r"[^<]*<t>", r"<t>[^<]*", r"</t>(?=\s*\Z|<)", r"<e>(?:\n|$)", r"</(?P<name>\w+)>", r"<e>(?P<tail>\n$|)", r"b(?!\Z)", r"\)(?P<kind>\]$)?", r"(?:\s|<t>)+", r"\s+?<e>", r"<\w+>", r"</\w+>", r"<\|[a-z_]+\|>",
]
TAG_PATTERNS = [
    r"<p=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</p>", r"(?P<key>\w+)=(?P<value>[^,\s]*)", r"<k>(?P<key>.*?)</k>(?:<v>(?P<value>.*?)</v>)?",
    r"(?P<key>\w+)", r"(?P<value>\d+)", r"(?P<key>a)?x", r"(?P<key>\w*)", r"(", r"(?P<key>\w+):(?:\"(?P<value>[^\"]*)\")?", 5, None,
]
PARSERS = ["text", "int", "float", "bool", "json", "xml-inline", "kv-lines", "python-call-list"]
NAMES = ["content", "reasoning", "tool_calls", "thinking", "z", "A", "role"]
SPACE = [" ", "\n", "\n\n", "\t", "\u00a0", "\x1c", "\u2028", "\ufeff", "\x0b"]
NUMBERS = ["1", "42", "-7", "1_000", "٣", "1.5", "1e3", "1e22", "nan", "inf", "-Infinity", "1e400", "0x1", "+5", "1__0", "2.0", "1E5", "9" * 20, "-0", "1e-400", ".5", "5.", "true", "True", "1.0.0", "²"]
CALL_LISTS = [
    '[f(x="42", y=null)]', "[]", " [ f ( ) , g(x = 'a') ]\n", "[f(1)]", "[f(x=1,)]", "[f(x=1, x=2)]", "f(x=1)", "[f(x=1)] x", "[f-g.h_1(a.b=True)]", "[f.(x=1)]",
    "[f(x=[1, 2.0, -0, -0.0, 1e5, 1E+400])]", "[f(x={'a': {\"b\": [None, false]}, 'c': 01})]", "[f(x={a: 1})]", "[f(x={'a': 1, \"a\": 2})]", "[f(x=9007199254740991)]",
    "[f(x=-9007199254740992)]", r"[f(x='\n\u00e9\ud83d\ude00\/\'')]", r"[f(x='\ud83d')]", r"[f(x='\x41')]", r"[f(x='\u12')]", "[f(x='a\nb')]", "[f(x='a\tb\u2028é')]",
    "[f(x='" + '"' + "')]", "[f(x=truex)]", "[f(x=1.)]", "[f(x=.5)]", "[f(x=--1)]", "[f(x=-)]", "[f(x=1e)]", "[é(x=1)]", "[f(x='open)]", "[" * 3 + "]" * 3, "[f(x=" + "[" * 99 + "{}" + "]" * 99 + ")]",
    "[f(x=" + "[" * 101 + "]" * 101 + ")]", "[f(x=Infinity)]", "[f(x=nan), f(x='1')]", "[f(\xa0x=1)]", "[f(x=True, y=False, k=None, a=true)]", "[1f(x=1)]", "[f(x=1 y=2)]", "[f(x)]", "[,]",
]
JSONS = [
    '{"name": "f", "arguments": {"x": "42", "y": "null"}}', '{"a": 1, "a": 2}', "[1, 2]", '[{"name": "f", "arguments": {"x": "1"}}]',
    '"text"', '"\\ud83d"', '"\\ud83d\\ude00"', "null", "NaN", "[Infinity, -Infinity, 1e400]", "{}", "[]", '{"k": "v"', '{"x": "a\tb"}',
    '{name:"f",arguments:{x:1}}', '{ name : "f", arguments:{ x: 1, y :"a,b: c" }}', '{a:"\\\\", b:"x,y:1"}', '{a:"open, b:1}', '{a:"\\\n, b:1"}', "{a:<|\"|>v\"\\\n<|\"|>,b:2}", '{"f": "http://x, y:1"}', "12345678901234567890123", "-", "1.", "01", '"\\u12"', "'a'", "[1,]", '{"a":1,}', "tru",
    '{"\\ud800": 1}', '"\\u0001"', "[[]]", ' [1] ', '\u00a0[1]', '{"$float": "nan"}', '{"x": {"y": ["1", 2.0, "2.5"]}}', "-1.5e+3", "1e5",
]
KV = ["a: 1\nb: x:y", "k:v", " a : 2 \n\n:z", "a=1;b=2", "nothing", "a:1\na:2"]
TAGS = ["<p=x>[1]</p><p=x>[2]</p><p=x>3</p>", "<p=x> 42 </p>", "<p=y>null</p><p=x>1</p><p=x>2</p>", "<p=a>\n</p>", "x=1, y=true", "<k>x</k><v>3</v><k>y</k>", "<k>x</k>", "x:\"1\" y:\"\"", "ax x"]
WORDS = ["Hello", "Let me see.", "f", "é", "𝒳", "a", "b", "(", ")", "x", "call:f", "f(", "<f=f>", "<f=g>", "# ", "1.", "", "ab", "c", "\x01", "</", "<t", "<|", "\\"]
LETTERS = ["a", "b", "c", "ab", "abc", "abcde", "bc", "1", "d", "<a>", "</a>"]
TYPES = ["string", "integer", "number", "boolean", "null", "object", "array", "any", 5]


class Maker:
    def __init__(self, chance):
        self.chance = chance

    def one(self, things):
        return self.chance.choice(things)

    def often(self, percent):
        return self.chance.random() * 100 < percent

    def delimiter(self, spec, kind):
        if self.often(45):
            literal = self.one(LITERALS)
            if self.often(25):
                literal = [self.one(LITERALS) for _ in range(self.chance.randint(1, 3))]
            spec[kind] = literal
        else:
            spec[f"{kind}_pattern"] = self.one(PATTERNS) if self.often(70) else generated(self.chance, 2)
        if self.often(1):
            spec[kind] = self.one(["", [], None, 5, [1], ["", "a"], True])
        if self.often(1):
            spec[f"{kind}_pattern"] = self.one(["(", None, 5, [], "a**", "(?P<n>a", "<t>"])

    def parser_args(self, parser, depth=0):
        args = {}
        if self.often(20):
            args["strip"] = self.one([True, False, False, None, 0, "no"])
        if parser == "json":
            if self.often(25):
                args["unquoted_keys"] = True
            if self.often(25):
                args["string_delims"] = self.one([[['<|"|>', '<|"|>']], [["<", ">"], ["'", "'"]], [["", "x"]], [["a"]], ["ab", "()"], 5, {"ab": 1}, [5], [[1, 2]], "ab", [["<|", "|>"], ["«", "»"]]])
            if self.often(25):
                args["allow_non_json"] = True
        if parser == "xml-inline":
            if self.often(95):
                args["tag_pattern"] = self.one(TAG_PATTERNS) if self.often(85) else f"(?P<key>{generated(self.chance, 1)})(?P<value>{generated(self.chance, 2)})"
            if self.often(30):
                args["merge_duplicates"] = True
        if parser == "kv-lines":
            if self.often(30):
                args["line_sep"] = self.one([";", "\n\n", "", None, 5, ", ", " "])
            if self.often(30):
                args["kv_sep"] = self.one(["=", "", None, 5, ": ", "::"])
        if parser in ("xml-inline", "kv-lines") and self.often(50) and depth < 3:
            inner = self.one(PARSERS)
            value = {"name": inner}
            if self.often(60):
                value["args"] = self.parser_args(inner, depth + 1)
            if self.often(5):
                value = self.one([{}, {"name": "none"}, {"name": []}, 5, "text", {"name": None}, {"args": None}, False])
            args["value_parser"] = value
        return args

    def transform(self, depth=0):
        kind = self.chance.random()
        if kind < 0.35 or depth > 2:
            return self.one(["{content}", "{name}", "{content.name}", "{content.arguments}", "{content.a.b}", "f", "{}", "{ x }", 1, 1.0, None, True, "{kind}", "{arguments}", "{x}", "{a}"])
        if kind < 0.5:
            return [self.transform(depth + 1) for _ in range(self.chance.randint(0, 2))]
        if kind < 0.8:
            return {"type": "function", "function": {"name": self.one(["{name}", "f", "{content.name}", "g"]), "arguments": self.one(["{content}", "{content.arguments}", "{arguments}", {"x": "{content}"}, {"x": "{name}", "y": "{content}"}])}}
        if kind < 0.81:
            return "a {content}"
        return {self.one(["a", "b", "function", "{x}"]): self.transform(depth + 1) for _ in range(self.chance.randint(0, 2))}

    def field(self, implicit):
        spec = {}
        if not implicit:
            self.delimiter(spec, "open")
        if self.often(80):
            self.delimiter(spec, "close")
        parser = self.one(PARSERS) if self.often(60) else "text"
        if parser != "text" or self.often(50):
            spec["content"] = parser
        if self.often(50):
            args = self.parser_args(parser)
            if args or self.often(10):
                spec["content_args"] = args
        if self.often(1):
            spec["content_args"] = self.one([None, [], "x", 5])
        if self.often(1):
            spec["content"] = self.one(["xml", 5, [], {}, None])
        if self.often(30):
            spec["repeats"] = self.one([True, True, True, False, "no", 0, 1, None])
        if self.often(10):
            spec["join"] = self.one(["", "\n", " | ", None, 5])
            if self.often(80):
                spec["repeats"] = True
        if self.often(8):
            spec["optional"] = self.one([False, True, 0, None])
        patterns = f"{spec.get('open_pattern')} {spec.get('close_pattern')}"
        if self.often(85 if "(?P" in patterns else 25):
            spec["transform"] = self.transform()
            if self.often(20):
                spec["transform_each"] = self.one([True, True, True, False, 1])
        elif self.often(2):
            spec["transform_each"] = True
        if self.often(1):
            spec["extra"] = 1
        return spec

    def template(self):
        spec = {}
        if self.often(20):
            spec["version"] = self.one([1, 1, 1, True, 1.0, 2, None, "1"])
        if self.often(60):
            spec["defaults"] = {"role": "assistant"}
            if self.often(20):
                spec["defaults"][self.one(NAMES)] = self.one(["", [], None, "d", 5, ["x"], {}, 1.0, 12345678901234567890])
        names = self.chance.sample(NAMES, self.chance.randint(1, 4))
        fields = {}
        for number, name in enumerate(names):
            fields[name] = self.field(number == 0 and self.often(75) or self.often(2))
        entries = list(fields.items())
        self.chance.shuffle(entries)
        spec["fields"] = dict(entries)
        if self.often(85):
            spec["start_anchor"] = self.one(["<a>", "assistant\n", ["<a>", "<a>\n"], "é"])
        else:
            spec["start_anchor_pattern"] = self.one([r"<a>\s*", r"a", r"", r"(?<=<)a>", r"^", r".", r"[\s\S]*a", 5])
        if self.often(1):
            spec[self.one(["defaults", "fields", "x", "start_anchor"])] = self.one([None, [], 5, {}])
        return spec

    def piece(self, delimiters):
        pools = [WORDS, SPACE, NUMBERS, JSONS, CALL_LISTS, KV, TAGS, LITERALS, LETTERS, delimiters, delimiters, delimiters]
        return self.one(self.one(pools) or WORDS)

    def text(self, template, most):
        delimiters = []
        for field in template.get("fields", {}).values() if isinstance(template.get("fields"), dict) else []:
            for key in ("open", "close"):
                literal = field.get(key)
                delimiters += [literal] if isinstance(literal, str) else [x for x in literal or [] if isinstance(x, str)] if isinstance(literal, list) else []
                pattern = field.get(f"{key}_pattern")
                if isinstance(pattern, str):
                    delimiters += literal_parts(pattern)
                    delimiters += ["<t>", "</t>", "<e>", "<c>", "<f=f>", "</think>", "\n", "call:f", "<t>\n<f=f>", "abc", "(x)]<e>", "aa<"]
        return "".join(self.piece(delimiters) for _ in range(self.chance.randint(0, most)))

    def region(self, template):
        """Text that a field of the template probably takes."""
        fields = template.get("fields")
        if not isinstance(fields, dict) or not fields:
            return ""
        field = self.one(list(fields.values()))
        examples = {"<f=(?P<name>[^>\\n]+)>": "<f=f>", r"call:(?P<name>\w+)": "call:f", r"\s*<t>\s*<f=(?P<name>\w+)>": " <t><f=f>", r"(?P<a>x)|(?P<b>y)": "x"}

        def written(kind):
            literal = field.get(kind)
            if isinstance(literal, list) and literal:
                literal = literal[0]
            if isinstance(literal, str):
                return literal
            pattern = field.get(f"{kind}_pattern")
            if not isinstance(pattern, str):
                return ""
            return examples.get(pattern) or "".join(literal_parts(pattern)) or self.one(["<t>", "</t>", "<e>", "<c>", ""])

        pools = {"int": NUMBERS, "float": NUMBERS, "bool": NUMBERS, "json": JSONS, "xml-inline": TAGS, "kv-lines": KV, "python-call-list": CALL_LISTS}
        content = field.get("content", "text")
        body = self.one(pools.get(content if isinstance(content, str) else "text", WORDS))
        if self.often(20):
            body = self.one(SPACE) + body + self.one(SPACE)
        return written("open") + body + written("close")

    def answer(self, template):
        parts = []
        for _ in range(self.chance.randint(0, 4)):
            parts.append(self.region(template) if self.often(55) else self.text(template, 3))
        return "".join(parts)

    def schema(self, depth=0):
        kind = self.chance.random()
        if kind < 0.6:
            schema = {"type": self.one(TYPES)}
        elif kind < 0.8:
            schema = {"type": [self.one(TYPES) for _ in range(self.chance.randint(0, 3))]}
        else:
            schema = {}
        if self.often(20) and depth < 2:
            schema[self.one(["anyOf", "oneOf"])] = self.one([[self.schema(depth + 1) for _ in range(2)], {}, None, "ab", {"type": "integer"}]) if self.often(97) else self.one([5, True])
        if self.often(10):
            schema["nullable"] = self.one([True, False, 1])
        return schema if self.often(98) else self.one([None, 5, "integer"])

    def tools(self):
        if self.often(50):
            return self.one([None, []])
        tools = []
        for name in ["f", "g"]:
            function = {"name": name, "parameters": {"type": "object", "properties": {key: self.schema() for key in self.chance.sample(["x", "y", "a", "k"], 3)}}}
            if self.often(3):
                function = self.one([{"name": name}, {"name": 5}, {"name": name, "parameters": []}, {"name": name, "parameters": {"properties": 5}}, None])
            tools.append(function if self.often(30) else {"type": "function", "function": function})
        if self.often(2):
            tools.append(self.one([None, 5, "f", {}]))
        return tools

    def prompt(self, template):
        kind = self.chance.random()
        if kind < 0.4:
            return ""
        if kind < 0.41:
            return None
        return self.one(["", "Hi<a>", "<a>x<a>\n", "assistant\n", "no anchor "]) + self.one(["", "", "<think>", self.text(template, 1)])

    def pieces(self, text):
        kind = self.chance.random()
        if kind < 0.25 or not text:
            return [text]
        if kind < 0.5:
            return list(text)
        if kind < 0.65:
            return [text[at : at + 4] for at in range(0, len(text), 4)]
        if kind < 0.8:
            cut = self.chance.randint(0, len(text))
            return [text[:cut], text[cut:]]
        pieces, at = [], 0
        while at < len(text):
            size = self.chance.randint(0, 6)
            pieces.append(text[at : at + size])
            at += size
        return pieces


def literal_parts(pattern):
    """What stands in a pattern as it is, such as a tag."""
    bare = re.sub(r"\\s[*+]?|\(\?P?<?[\w:=!]*>?", "(", pattern).replace(r"\|", "|")
    return re.findall(r"[^\\(){}*+?.^$]{3,}", bare)


def templates_in(value):
    """The response templates that are anywhere in a JSON document."""
    if isinstance(value, dict) and isinstance(value.get("fields"), dict):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from templates_in(item)


def difference(ours, theirs):
    """What differs first, in a few words: one cause usually has one or two of them."""
    first = next(key for key in ["load", "start", "initial", "fed", "end"] if json.dumps(ours.get(key)) != json.dumps(theirs.get(key)))
    errors = [re.findall(r'"error": "(\w+)"', json.dumps(side.get(first))) for side in (theirs, ours)]
    said = [side.get("load") or ", ".join(dict.fromkeys(found)) or "read" for side, found in zip((theirs, ours), errors)]
    return f"{first}: transformers {said[0]}, rolecall {said[1]}"


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    sys.set_int_max_str_digits(4300)
    maker = Maker(random.Random(seed))
    given = [found for name in sys.argv[3:] for found in templates_in(json.loads(Path(name).read_text("utf-8")))]
    counts = dict.fromkeys(["same", "refused", "unsupported", "raised", "limit"], 0)
    differences = {}
    with subprocess.Popen(PROGRAM, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as program:
        # The time begins when the program is built.
        program.stdin.write("{}\n")
        program.stdin.flush()
        program.stdout.readline()
        end = time.monotonic() + seconds
        while time.monotonic() < end and len(differences) < 10:
            template = maker.one(given) if given and maker.often(50) else maker.template()
            tools = maker.tools()
            for _ in range(6):
                text = maker.answer(template)
                request = {"template": template, "prompt": maker.prompt(template), "tools": tools, "pieces": maker.pieces(text)}
                program.stdin.write(json.dumps(request) + "\n")
                program.stdin.flush()
                ours = json.loads(program.stdout.readline())
                theirs = json.loads(json.dumps(answer(request)))
                written = json.dumps(theirs)
                if "unsupported" in ours:
                    counts["unsupported"] += 1
                elif "limit" in theirs or '"limit"' in json.dumps(ours):
                    counts["limit"] += 1
                elif json.dumps(ours) == written:
                    kind = "refused" if "load" in ours else "raised" if '"error"' in written else "same"
                    counts[kind] += 1
                else:
                    kind = difference(ours, theirs)
                    differences[kind] = differences.get(kind, 0) + 1
                    if differences[kind] <= 2:
                        print(json.dumps({"differ": kind, "request": request, "transformers": theirs, "rolecall": ours}), flush=True)
                if "load" in theirs or "unsupported" in ours:
                    break
        program.stdin.close()
    print(f"seed {seed}: {counts}, {sum(differences.values())} differences", file=sys.stderr)
    for kind, count in differences.items():
        print(f"  {count}: {kind}", file=sys.stderr)
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()

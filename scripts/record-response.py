#!/usr/bin/env python3
"""Records what the parser of transformers makes of small answers.

    .references/python-transformers/bin/python scripts/record-response.py \
        > harness/response/tests/data/answers.json

A case is a response template with answers. Each answer is given as a whole, by characters, in
pieces of four characters, and in two pieces with every possible cut.
"""

import json
import sys

from response_reference import answer

ANCHOR = {"start_anchor": "<a>"}


def fields(**specs):
    return {**ANCHOR, "fields": specs}


CONTENT = {"content": {"close": "<e>"}}
FUNCTION = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
TAGS = r"<p=(?P<key>\w+)>\s*(?P<value>.*?)\s*</p>"


def one(**spec):
    """A template with a single field that takes the whole answer."""
    return fields(x=spec)


def tool(**properties):
    return [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": properties}}}]


def case(about, template, answers, prompt="", tools=None):
    return {"about": about, "template": template, "prompt": prompt, "tools": tools, "answers": answers}


def loads():
    """Templates that are loaded, or refused."""
    field = {"open": "<t>"}
    yield from [[], None, {}, {"fields": {}}, {**ANCHOR, "fields": {}}, {**ANCHOR, "fields": []}, {"fields": {"x": {}}}]
    for version in [1, 1.0, True, 2, 0, None, "1", [1], False]:
        yield {**one(), "version": version}
    yield {**one(), "default": {}}
    yield {**one(), "defaults": None}
    yield {**one(), "start_anchor_pattern": "a"}
    for anchor in ["", [], ["a", ""], ["a", 1], None, 5, ["a", "a"]]:
        yield {"fields": {"x": {}}, "start_anchor": anchor}
        yield one(open=anchor)
        yield one(close=anchor)
    for pattern in [None, 5, [], "(", "a**", "[", "(?P<n>a", "a", "$"]:
        yield one(open_pattern=pattern)
        yield one(close_pattern=pattern)
        yield {"fields": {"x": {}}, "start_anchor_pattern": pattern}
    yield from [fields(x={}, y={}), fields(x=field, y=field), fields(x=[]), fields(x={**field, "end": "a"})]
    yield one(open="a", open_pattern="a")
    yield one(close="a", close_pattern=None)
    for content in ["text", "python-call-list", "xml", None, 5, [], {}]:
        yield one(content=content)
    for join in [None, "", "\n", 5, []]:
        yield one(join=join)
        yield one(join=join, repeats=True)
        yield one(join=join, repeats="no")
        yield one(join=join, repeats=0)
    for each in [True, False, None, 1, "yes"]:
        yield one(transform_each=each)
        yield one(transform_each=each, transform="{content}")
    for transform in ["{content}", "a{content}", "{a}{b}", "{}", "{ a }", {"{a}b": 1}, ["{a.b}", "x{a}"], None, 5, "{a.}", "{é}"]:
        yield one(transform=transform)
    yield one(open_pattern="(?P<n>a)")
    yield one(close_pattern="(?P<n>a)")
    yield one(close_pattern="(?P<n>a)", transform="{content}")
    yield one(open_pattern="(a)")
    yield one(content_args=None)
    yield one(content="xml-inline", content_args={"tag_pattern": "("})


def cases():
    yield case("the text outside of regions", fields(**CONTENT), ["Hello<e>", "Hello", "", "<e>", "a<e>b", "a<e>\n", " a ", "a<"])
    yield case("text that no field takes is thrown away", fields(t={"open": "<t>", "close": "</t>"}), ["a<t>b</t>c", "<t>b", "a"])
    yield case("the last region of a field stays", fields(t={"open": "<t>", "close": "</t>"}, **CONTENT), ["a<t>b</t>c<t>d</t>", "a<t>b</t>\n", "a<t></t>", "<t><t>a</t></t>"])
    yield case("repeated and joined fields", fields(t={"open": "<t>", "close": "</t>", "repeats": True}, j={"open": "<j>", "close": "</j>", "repeats": True, "join": "+"}), ["<t>a</t><j>b</j><t>c</t><j>d</j>", "<j></j><j>x</j>"])
    yield case("a region without an end", fields(t={"open": "<t>"}, **CONTENT), ["a<t>b<e><t>c"])
    yield case("a prompt that opens a region", fields(t={"open": "<t>", "close": "</t>"}, **CONTENT), ["b</t>c<e>", "</t>", ""], "x<a>y<a><t>")
    yield case("a prompt without an anchor", fields(t={"open": "<t>", "close": "</t>"}, **CONTENT), ["b</t>c"], "no <t>")
    spaced = {"fields": fields(t={"open": "<t>", "close": "</t>"}, **CONTENT)["fields"], "start_anchor_pattern": r"<a>\s*"}
    yield case("an anchor that is a pattern", spaced, ["b</t>c", "b"], "x<a>y<a>\n <t>")
    yield case("defaults", {**fields(r={"open": "<r>", "close": "</r>"}, c={"close": "<e>"}), "defaults": {"role": "assistant", "r": "", "c": []}}, ["a", "<r></r><e>", "<r> </r>b"])
    for default in [["x"], "x", None, 5, {}]:
        yield case("a default of a repeated field", {**one(repeats=True), "defaults": {"x": default}}, ["a"])
        yield case("a default of a joined field", {**one(repeats=True, join="-"), "defaults": {"x": default}}, ["a"])
    yield case("a required field", fields(t={"open": "<t>", "close": "</t>", "optional": False}, **CONTENT), ["a", "<t></t>", "<t>b</t>"])
    yield case("literals of which one begins another", fields(t={"open": ["<t>", "<t>>"], "close": ["</t>", "</t>\n"]}, **CONTENT), ["<t>>a</t>\nb", "<t>a</t>b"])
    yield case("an end that may match at the end of the text", fields(c={"close_pattern": r"<e>\s*|$"}), ["Hi<e>", "Hi<e>\n", "One.\n\nTwo.", "a\n"])
    yield case("an end that may match short", fields(t={"open": "(", "close_pattern": r"\)(?:\]<e>)?"}, **CONTENT), ["(x)]<e>", "(x)b"])
    yield case("white space before an opener", fields(t={"open_pattern": r"\s*<t>", "close_pattern": r"</t>\s*"}, **CONTENT), ["a \n <t>b</t>\n\n<t>c</t> d", "a  ", "a <"])
    yield case("an opener that looks ahead", fields(r={"open_pattern": r"(?=[\s\S]*?</r>)", "close": "</r>"}, **CONTENT), ["ab</r>c", "abc", "</r>", "a</r>b</r>c"])
    yield case("a lazy run that sees the end early", fields(t={"open_pattern": r"\w*?<t>", "close_pattern": r"[^<]*?</t>"}, **CONTENT), ["ab cd<t>x</t>y", "a <b", "ab<"])
    yield case("openers at the same place", fields(b={"open": "<t>"}, a={"open": "<t>"}, l={"open_pattern": "<t>x"}), ["<t>xy", "<t>y"])
    yield case("an empty end", fields(c={"close_pattern": "(?=b)"}), ["abab", "b", "a"])
    yield case("captures", fields(t={"open_pattern": r"<(?P<name>\w+)(?P<more> \w+)?>", "close": "</>", "transform": {"n": "{name}", "m": "{more}", "c": "{content}"}}), ["<f x>a</>", "<f>a</>"])
    yield case("groups of an end", fields(t={"open": "<t>", "close_pattern": "</(?P<name>t)>", "transform": "{name}"}), ["<t>a</t>", "<t>a"])
    both = {"open_pattern": r"<(?P<name>\w+)(?P<kind> \w+)?>", "close_pattern": r"</(?P<name>\w+)(?P<kind> \w+)?>", "transform": ["{name}", "{kind}"]}
    yield case("groups of both delimiters with the same name", fields(t=both, **CONTENT), ["<t a>x</u>", "<t>x</u b>", "<t a>x", "<t>x</u>"])
    yield case("groups of the end of text outside", fields(c={"close_pattern": "(?P<name>!)", "transform": ["{name}", "{content}"]}), ["a!", "a", "!"])
    for close in [r"</t>(?=\s*\Z|<)", r"</t>(?!\n?\Z)", r"</t>(?:\n|$)", r"</t>(?P<tail>\n$)?", r"</t>\n?$", r"(?m)</t>$"]:
        yield case(f"an end that leans on the end of the text: {close}", fields(t={"open": "<t>", "close_pattern": close, "transform": "{content}"}, content={}), ["<t>a</t>", "<t>a</t>\n", "<t>a</t>\nb", "<t>a</t><e>", "<t>a</t>\n\n"])
    for kind, answers in {
        "int": ["42", " -7\n", "1_000", "٣", "+5", "", "1.0", "1__0", "\x1c5", "0" * 4300, "9" * 4301, "\u00a05", "²"],
        "float": ["1.5", "nan", "-inf", "Infinity", "1_0.5", "1e400", ".5", "5.", "", "0x1", "٣.٤", "1e22", "-0"],
        "bool": ["true", "TRUE", " 1 ", "0", "no", "", "tru\u212a"],
        "text": ["\x1c a \u2028", "\u200b", "a\n"],
    }.items():
        yield case(f"the parser {kind}", one(content=kind), answers)
        yield case(f"the parser {kind} without stripping", one(content=kind, content_args={"strip": False}), answers[:4])
    yield case("JSON as Python reads it", one(content="json"), ['{"a": 1, "b": 2, "a": 3}', "NaN", "[Infinity, -Infinity, 1e400]", "123456789012345678901234567890", "1.0", "-0", '"\\ud83d"', '"\\ud83d\\ude00"', '{"\\ud800": 1}', '"a\tb"', "\ufeff1", "\u00a01", " 1\n", "[1,]", "'a'", "01", "1.", "-", '{"a"', "", "null", '"\\u12"', "1 2", "1" * 4301, '{"$float": "nan"}', "true", "[" * 1500])
    yield case("JSON or else text", one(content="json", content_args={"allow_non_json": True}), ["{a", " b ", "1" * 4301, "[" * 1500, '"c"'])
    yield case("keys without quotes", one(content="json", content_args={"unquoted_keys": True}), ['{ a : 1, b:"c,d: e" ,\n f\t: [{g:2}]}', '{a:"\\\\",b:"x,y:1"}', '{a:"x\\",b:1"}', '{a:"open,b:1}', '{a:"x\\\n",b:1}', '{é:1,"k:k":2}', "{a b:1}", "[a:1]"])
    lax = {"unquoted_keys": True, "string_delims": [["<q>", "<q>"], ["«", "»"]]}
    yield case("lax JSON", one(content="json", content_args=lax), ["{a:<q>x\"\\\n<q>,b:«<q>»}", "{a:1, b:2}", '{"u":"x,http://y"}', "{a:\x01}", "{a:<q>é𝒳<q>}", "{a:<q>b}"])
    for delims in [5, "ab", ["ab"], [["a"]], [[1, 2]], {"ab": 1}, [5], [["", "x"]], None]:
        yield case("delimiters of another type", one(content="json", content_args={"string_delims": delims}), ["1", "a1b", "x"])
    yield case("tags", one(content="xml-inline", content_args={"tag_pattern": TAGS}), ["<p=x> 1 </p><p=y>2</p><p=x>3</p>", "none", "<p=x>"])
    yield case("tags that are merged, with values", one(content="xml-inline", content_args={"tag_pattern": TAGS, "merge_duplicates": True, "value_parser": {"name": "json", "args": {"allow_non_json": True}}}), ["<p=x>[1]</p><p=x>2</p><p=x>b</p>", "<p=x>1</p><p=x>2</p><p=y></p>"])
    for pattern in [None, 5, "(", r"(?P<k>\w)", r"(?P<key>\w)", r"(?P<key>a)?b", r"(?P<key>a)(?P<value>b)?", r"(?P<key>\w*)"]:
        yield case("a pattern of tags", one(content="xml-inline", content_args={"tag_pattern": pattern}), ["ab", "b", ""])
        for parser in ["text", "int", "json", "bool", "kv-lines", "xml-inline", "none", None, []]:
            yield case("a value of a tag", one(content="xml-inline", content_args={"tag_pattern": pattern, "value_parser": {"name": parser}}), ["ab", "a"])
    merged = {"content": "xml-inline", "content_args": {"tag_pattern": TAGS, "merge_duplicates": True, "value_parser": {"name": "json"}}}
    yield case("lists that stand twice", one(**merged), ["<p=x>[1]</p><p=x>[2]</p><p=x>3</p>", "<p=x>1</p><p=y>[]</p><p=x>[2]</p>"])
    yield from call_lists()
    yield case("lines", one(content="kv-lines"), ["a: 1\nb:c:d\n\n e\nf :", "", "a:1\na:2"])
    for args in [{"line_sep": ";", "kv_sep": "="}, {"line_sep": ""}, {"line_sep": None}, {"line_sep": 5}, {"kv_sep": ""}, {"kv_sep": None}, {"strip": False}, {"value_parser": {"name": "int"}}, {"value_parser": {}}, {"value_parser": 5}, {"value_parser": {"args": None}}]:
        yield case("arguments of lines", one(content="kv-lines", content_args=args), ["a=1;b:2\nc:3", ""])
    for args in [None, [], "a", 5]:
        yield case("arguments that are no object", one(content="text", content_args=args), ["a", ""])
    listed = {"content": "json", "transform": {"n": "{name}", "r": "{content}"}, "transform_each": True}
    yield case("a transform of each", fields(x=listed), ['[{"name": 1, "content": 2}]', "[]", "[1]", "{}", '[{"content": 1}]'])
    yield case("a transform that looks inside", fields(x={"content": "json", "transform": ["{content.a.b}", "{content}", 1.0, None]}), ['{"a": {"b": [1]}}', '{"a": 1}', '{"a": {}}', "1"])
    yield case("a joined field that is no text", fields(x={"content": "int", "repeats": True, "join": ","}), ["1"])

    call = fields(calls={"open_pattern": r"<f=(?P<name>\w+)>", "close": "</f>", "content": "xml-inline", "content_args": {"tag_pattern": TAGS, "merge_duplicates": True}, "repeats": True, "transform": FUNCTION})
    text = "<f=f><p=x>{}</p></f>"
    values = ["42", "3.0", "1e22", "1E5", "2.0", "nan", "null", "None", "true", "0", "TRUE", '{"a": 1}', "[1]", "abc", " 7 ", "1_0", "9" * 30, "1e-400"]
    for types in ["integer", "number", "boolean", "null", "object", "array", "string", ["string", "null"], ["integer", "number"], [], 5]:
        yield case(f"an argument of type {types}", call, [text.replace("{}", value) for value in values[::1]], tools=tool(x={"type": types}))
    for schema in [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"oneOf": [{"anyOf": [{"type": "null"}]}]}, {"type": "integer", "nullable": True}, {"anyOf": 5}, {"anyOf": "ab"}, {"anyOf": {"type": "integer"}}, {"enum": [1]}, None, 5]:
        yield case("a schema of an argument", call, [text.replace("{}", value) for value in ["42", "null"]], tools=tool(x=schema))
    yield case("arguments that stand twice", call, ["<f=f><p=x>1</p><p=x>b</p></f>", "<f=g><p=x>1</p></f>", "<f=f><p=y>1</p></f>"], tools=tool(x={"type": "integer"}))
    yield case("arguments that stand twice, for a list", call, ["<f=f><p=x>1</p><p=x>2</p></f>"], tools=tool(x={"type": ["integer", "array"]}))
    shared = fields(x={"content": "json", "transform": {"function": {"name": "f", "arguments": "{content}"}, "raw": "{content}", "deep": ["{content.y}"]}})
    yield case("what placeholders share is cast together", shared, ['{"x": "1", "y": {"x": "2"}}'], tools=tool(x={"type": "integer"}))
    jsons = fields(x={"content": "json"})
    yield case("calls in JSON", jsons, ['[{"function": {"name": "f", "arguments": {"x": "42"}}}]', '{"function": {"name": "f", "arguments": "1"}}', "[" * 600 + "]" * 600, '{"function": {"name": "f", "arguments": {"x": "[\\"\\\\ud83d\\"]"}}}'], tools=tool(x={"type": ["integer", "array"]}))
    yield case("tools that are none", jsons, ['[{"function": {"name": "f", "arguments": {"x": "1"}}}]'], tools=[None, 5, {"name": "f"}, {"function": None}, {"name": "f", "parameters": []}])


def call_lists():
    """Calls in the notation of Python."""
    values = [
        "'a'", '"a\'b"', "'a", "'a\nb'", r"'\n\r\t\b\f\/\\\"\''", r"'\u00e9\uD83D\uDE00'", r"'\ud83d'", r"'\ud83d\u0041'", r"'\ude00'", r"'\u12'", r"'\x41'", "'\\\n'", "'é𝒳\u2028'",
        "0", "-0", "-7", "01", "--1", "-", "+1", "9007199254740991", "-9007199254740991", "9007199254740992", "1" * 5000, "1.5", "-0.0", "1.", ".5", "1e5", "1E-3", "1e400", "-1e400", "1e-400", "1e", "1_0", "٣",
        "True", "true", "False", "false", "None", "null", "TRUE", "nan", "Infinity", "truex", "true.x", "x", "",
        "[]", "[1, [2], 'a']", "[1,]", "[,]", "[1 2]", "{}", "{'a': 1, \"b\": {'c': [None]}}", "{'a': 1, 'a': 2}", "{a: 1}", "{1: 2}", "{'a'}", "(1)", "[" * 100 + "]" * 100, "[" * 101 + "]" * 101, "{'a':" * 100 + "1" + "}" * 100,
    ]
    plain = one(content="python-call-list", content_args=5)
    yield case("a value in a list of calls", plain, [f"[f(x={value})]" for value in values])
    lists = [
        "", "[]", " [ ] ", "[f()]", "f()", "[f()] x", "[f(),]", "[f(), g(x=1)]", "[ f ( x = 1 , y = 2 ) ]\n", "[f(x=1, x=2)]", "[f(1)]", "[f(x)]", "[f(x=1,)]", "[f(x=1 y=2)]", "[f(x=1]", "[f", "[f.g-h_1(a-b.c=1)]",
        "[f.(x=1)]", "[1f()]", "[é()]", "[f()", "\u00a0[]", "[f(\x0bx=1)]", "[_(x=1)]",
    ]
    yield case("a list of calls", plain, lists)
    calls = {"open": "<c>", "close": "</c>", "content": "python-call-list", "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}}, "transform_each": True}
    streamed = ["Hi<c>[f(x='1'), g(x=2)]</c> there", "<c>[f(x='1')", "<c>[f(x)]</c>", "Hi"]
    yield case("a list of calls with tools", fields(calls=calls, content={}), streamed, tools=tool(x={"type": "integer"}))
    yield case("a list of calls in a tag", one(content="xml-inline", content_args={"tag_pattern": r"(?P<key>a)(?P<value>\[.*\])?", "value_parser": {"name": "python-call-list"}}), ["a[f(x=1)]", "a"])


def pieces(text):
    yield "whole", [text]
    yield "characters", list(text)
    yield "fours", [text[at : at + 4] for at in range(0, len(text), 4)]
    if len(text) <= 60:
        for cut in range(len(text) + 1):
            yield cut, [text[:cut], text[cut:]]


def record(case):
    answers = []
    for text in case["answers"]:
        row = {"text": text, "ends": [], "cuts": []}
        for way, parts in pieces(text):
            # A long text is its own test: no events are needed.
            result = answer({**case, "pieces": parts}, 20)
            if isinstance(way, int):
                end = result.get("end")
                end = {"message": end["message"]} if end and "message" in end else end
                if end not in row["ends"]:
                    row["ends"].append(end)
                row["cuts"].append(row["ends"].index(end))
            elif len(text) <= 60 or way == "whole":
                row[way] = result
        answers.append(row)
    return {**case, "answers": answers}


def main():
    sys.set_int_max_str_digits(4300)
    loaded = [[template, answer({"template": template, "prompt": "", "pieces": []}).get("load")] for template in loads()]
    print('{"loads": [')
    print(",\n".join(json.dumps(row, ensure_ascii=False) for row in loaded))
    print('], "cases": [')
    print(",\n".join(json.dumps(record(case), ensure_ascii=False) for case in cases()))
    print("]}")


main()

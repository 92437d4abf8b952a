#!/usr/bin/env python3
"""Records how Ollama's own readers read answers, for harness/go/tests/answers.rs.

    OLLAMA_SOURCE=PATH/TO/OLLAMA scripts/setup-references ollama
    python3 scripts/record-go-answers.py .references/ollama > harness/tests/data/go-answers.json

Each row has a template, a request and a text. It is read whole, by characters, in fours, and cut in
two at every place. The row has the messages that came of it, and which way gave which. It also has
what came out after each character.
"""

import json
import re
import subprocess
import sys

CALLS = "{{ range .Messages }}{{ .Content }}{{ if .ToolCalls }}%s{{ end }}{{ end }}"
THOUGHTS = "{{ range .Messages }}{{ if .Thinking }}%s{{ end }}{{ .Content }}{{ end }}"
BOTH = (
    "{{ range .Messages }}{{ if .Thinking }}<think>\n{{ .Thinking }}\n</think>\n\n{{ end }}{{ .Content }}"
    '{{ if .ToolCalls }}<tool_call>\n{{ range .ToolCalls }}{"name": "{{ .Function.Name }}"}{{ end }}'
    "</tool_call>{{ end }}{{ end }}"
)
TAGGED = CALLS % '<tool_call>{"name": 1}</tool_call>'
OBJECT = CALLS % "{{ range .ToolCalls }}{{ .Function }}{{ end }}"
LIST = CALLS % '[{"name": 1}]'
MISTRAL = CALLS % '[TOOL_CALLS] [{"name": 1}]'
WIDE = CALLS % '<｜tool▁call▁begin｜>{"name": 1}'

# Only the tags are asked here, with a text that shows them.
TEMPLATES = [
    # The tag of calls: the first text in the first `if` on the field .ToolCalls.
    "no field",
    "{{ .ToolCalls }}<x>",
    "{{ range .ToolCalls }}<x>{{ end }}",
    "{{ with .ToolCalls }}<x>{{ end }}",
    "{{ if .ToolCalls }}<x>{{ end }}",
    "{{ if .ToolCalls }} \n\u00a0<x>\n {{ end }}",
    "{{ if .ToolCalls }}{{ else }}<x>{{ end }}",
    "{{ if not .ToolCalls }}<x>{{ end }}",
    "{{ if (.ToolCalls) }}<x>{{ end }}",
    "{{ if (len .ToolCalls) }}<x>{{ end }}",
    "{{ if len .ToolCalls | gt 1 }}<x>{{ end }}",
    "{{ if .Message.ToolCalls.Any }}<x>{{ end }}",
    "{{ if $.ToolCalls }}<x>{{ end }}",
    "{{ $m := . }}{{ if $m.ToolCalls }}<x>{{ end }}",
    "{{ if .A }}<y>{{ else if .ToolCalls }}<x>{{ end }}",
    "{{ if .A }}{{ if .ToolCalls }}<x>{{ end }}{{ end }}",
    "{{ range .A }}a{{ else }}{{ if .ToolCalls }}<x>{{ end }}{{ end }}",
    "{{ with .A }}{{ if .ToolCalls }}<x>{{ end }}{{ end }}{{ if .ToolCalls }}<y>{{ end }}",
    '{{ define "a" }}{{ if .ToolCalls }}<x>{{ end }}{{ end }}{{ template "a" . }}',
    '{{ block "a" . }}{{ if .ToolCalls }}<x>{{ end }}{{ end }}',
    "{{ if .ToolCalls }}{{ .Content }}<x>{{ end }}",
    '{{ if .ToolCalls }}{{ template "a" . }}<x>{{ end }}{{ define "a" }}<y>{{ end }}',
    "{{ if .ToolCalls }}{{ $x := 1 }}<x>{{ end }}",
    "{{ if .ToolCalls }}{{ range .ToolCalls }}{{ .Function }}<x>{{ end }}<y>{{ end }}",
    "{{ if .ToolCalls }}{{ range .ToolCalls }}{{ else }}<x>{{ end }}<y>{{ end }}",
    "{{ if .ToolCalls }}{{ if .A }}{{ end }}<y>{{ end }}",
    "{{ if .ToolCalls }}{{ with .A }} {{ else }}<x>{{ end }}{{ end }}",
    "{{ range .M }}{{ if .ToolCalls }}{{ break }}<x>{{ end }}{{ end }}",
    '{{ if .ToolCalls }}{"name"{{ end }}',
    '{{ if .ToolCalls }}<x> {"name"{{ end }}',
    "{{ if .ToolCalls }}<x>{ {{- .A }}{{ end }}",
    "{{ if .ToolCalls }}{ {{- .A }}{{ end }}",
    "{{ if .ToolCalls }}a{{/* c */}}b{{ end }}",
    "{{ if .ToolCalls }} {{/* c */}}b{{ end }}",
    "{{ if .ToolCalls }}a{{- /* c */ -}} {{/* d */}}{b{{ end }}",
    "{{ if .ToolCalls }}<a\r\nb>{{ end }}",
    "{{ if .ToolCalls }}[{{ end }}",
    "{{ if .ToolCalls }}<x>\n<y>{{ end }}",
    # The tags of thoughts: the first and the last text of the list around the field .Thinking.
    "{{ range .Messages }}<a>{{ .Thinking }}<b>{{ end }}",
    "{{ range .Messages }} <a>\n{{ .Thinking }}\n<b>\u00a0{{ end }}",
    "{{ range $i, $m := .Messages }}<a>{{ .Thinking }}<b>{{ end }}",
    "{{ range $.Messages }}<a>{{ .Thinking }}<b>{{ end }}",
    "{{ range (slice .Messages 1) }}<a>{{ .Thinking }}<b>{{ end }}",
    "{{ range .Messages }}<a>{{ $.Thinking }}<b>{{ end }}",
    "{{ range .Messages }}<a>{{ (print .Thinking) }}<b>{{ end }}",
    "{{ range .Messages }}<a>{{ .Thinking.X }}<b>{{ end }}",
    "{{ range .Messages }}<a>{{ .X.Thinking }}<b>{{ end }}",
    "{{ range .Messages }}{{ if .Thinking }}<a>{{ .Thinking }}<b>{{ end }}<c>{{ end }}",
    "{{ range .Messages }}<c>{{ if .Thinking }}<d>{{ end }}<e>{{ end }}",
    "{{ range .Messages }}{{ range .X }}<a>{{ .Thinking }}<b>{{ end }}{{ end }}",
    "{{ range .Messages }}<a>{{ .Thinking }}{{ end }}",
    "{{ range .Messages }}<a>{{ .Thinking }}<b>{{ end }}{{ range .Messages }}{{ .Thinking }}<c>{{ end }}",
    "{{ range .Messages }}<a>{{ .Thinking }}<b>{{/* c */}}<d>{{ end }}",
    "{{ range .Messages }}<a>{{/* c */}}<d>{{ .Thinking }}<b>{ {{- end }}",
    "{{ range .Messages }}<a>{ {{- .Thinking }}<b>{{/* c */}}{ {{- end }}",
    "<r>{{ range (and .Thinking .Messages) }}x{{ end }}{{ define \"d\" }}{{ end }}<s>",
    '{{ range .Messages }}<a>{{ template "t" .Thinking }}<b>{{ end }}{{ define "t" }}{{ end }}',
    '{{ define "t" }}{{ range .Messages }}<a>{{ .Thinking }}<b>{{ end }}{{ end }}{{ template "t" . }}',
]

GET = '{"name": "get", "arguments": {"x": 1}}'
# Each is (template, names of the tools, think, prompt, text).
ANSWERS = [
    # Without tools, nothing is a call.
    (TAGGED, [], None, "", f"<tool_call>{GET}</tool_call>"),
    (TAGGED, ["get"], None, "", "Hi."),
    (TAGGED, ["get"], None, "", ""),
    (TAGGED, ["get"], None, "", f"<tool_call>{GET}</tool_call>"),
    (TAGGED, ["get"], None, "", f"Let me see. <tool_call>{GET}</tool_call>\n<tool_call>{GET}</tool_call> Done."),
    (TAGGED, ["get"], None, "", f"a <tool_cal <tool_call>{GET}"),
    (TAGGED, ["get"], None, "", "a <tool_cal"),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "nope", "arguments": {}}</tool_call> x'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": {"x": 1}'),
    (TAGGED, ["get"], None, "", f"{GET}"),
    # One name begins another.
    (TAGGED, ["get", "get_weather"], None, "", '<tool_call>{"name": "get_weather", "arguments": {"a": {}}}'),
    (TAGGED, ["get_weather", "get"], None, "", '<tool_call>{"name": "get", "arguments": {"a": {}}}'),
    (TAGGED, ["a", "name"], None, "", '<tool_call>{"name": "b", "arguments": {"a": 1}}'),
    (TAGGED, [""], None, "", '<tool_call>{"x": 1}{"y": 2}'),
    # Where the arguments are.
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "parameters": {"x": "}"}}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": "{\\"x\\": \\"\\\\n\\"}"}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": "[1]"} {"name": "get", "arguments": {}}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": null, "parameters": {"p": 1}}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "parameters": {"p": 1}, "arguments": {"a": 1}}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": "null"}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get"}<tool_call>' + GET),
    (TAGGED, ["get"], None, "", '<tool_call>{"get": {"x": [{}]}}'),
    (TAGGED, ["get"], None, "", '<tool_call>get{"x": 1}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"type": "function", "function": {"name": "get", "arguments": {"x": null}}}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"calls": [1, [{"name": "no"}], {"name": "get", "arguments": {"x": true}}]}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"x": 1, "y": "get"}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"x"} get {"y": 2}'),
    (TAGGED, ["get"], None, "", '<tool_call>}} get \\{ {"y": "{"}'),
    (TAGGED, ["get"], None, "", '<tool_call>get "{" {"y": 2}'),
    # Values.
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": {"a": 1.50, "b": 1e21, "c": -0.0, "d": 12345678901234567890, "e": 1E-7}}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": {"a": 1, "a": {"b": 2}, "ü": "\\ud83d\\ude00 \\ud83d \\u00e9<&"}}'),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": {"a": 1e400}} ' + GET),
    (TAGGED, ["get"], None, "", '<tool_call>{"name": "get", "arguments": {"a": "\n"}} ' + GET),
    # Without a tag, a call stands at the beginning.
    (OBJECT, ["get"], None, "", GET),
    (OBJECT, ["get"], None, "", f" \n{GET}{GET} x"),
    (OBJECT, ["get"], None, "", f"Hi {GET}"),
    (OBJECT, ["get"], None, "", "Hi."),
    (OBJECT, ["get"], None, "", '{"a": 1} x'),
    (OBJECT, ["get"], None, "", '{"a": "}\\"" x'),
    (OBJECT, ["get"], None, "", "<tool_call>\n" + GET + "\n</tool_call>"),
    (LIST, ["get"], None, "", f"[{GET}, {GET}]"),
    (LIST, ["get"], None, "", f"[1] {GET}"),
    (LIST, ["get"], None, "", f"x [{GET}]"),
    (LIST, ["get"], None, "", f"[{GET}"),
    (MISTRAL, ["get"], None, "", f"[TOOL_CALLS] [{GET}, {GET}]"),
    (MISTRAL, ["get"], None, "", f"[TOOL_CALLS][{GET}]"),
    (WIDE, ["get"], None, "", f"é<｜tool▁call▁end<｜tool▁call▁begin｜>{GET}"),
    # Thoughts.
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], None, "", "<think>\n hm\n</think>\n\nHi."),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "", " \n<think>a</thin</think></think> b"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "", "<think></think>"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "", "<think> "),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "", "<think>hm</thi"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "", "<thi"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "", " \n"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "", " Hi <think>x</think>"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "", "<think>a</think> <think>b</think>"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], False, "", "<think>a</think> b"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "…<think>\n", " a</think> b"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], True, "…<think>\n\n</think>\n\n", "b</think> c"),
    (THOUGHTS % "<think>{{ .Thinking }}</think>", [], None, "<think>\u00a0", "\u2003a</think>\u2003b"),
    (THOUGHTS % "<think>{{ .Thinking }}", [], True, "", "<think>a</think> b"),
    (THOUGHTS % "Ä{{ .Thinking }}öÖ", [], True, "", "Äaäöää öÖ b"),
    # Both.
    (BOTH, ["get"], None, "", f"<think>\nhm\n</think>\n\nHi.\n<tool_call>\n{GET}\n</tool_call>"),
    (BOTH, ["get"], True, "x<think>\n", f"hm</think><tool_call>{GET}"),
    (BOTH, ["get"], False, "", f"<think>hm</think><tool_call>{GET}</tool_call>"),
    (BOTH, ["get"], True, "", f"<think><tool_call>{GET}</tool_call></think> a"),
    (BOTH, ["get"], True, "", "<think>hm</think><tool"),
]


class Reference:
    """The reference program."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask(request="start", rolecall=1)

    def ask(self, **request):
        """The answer to a request."""
        self.process.stdin.write(json.dumps({"id": 1, **request}) + "\n")
        self.process.stdin.flush()
        # Numbers keep the form that Go gives them.
        written = "#{}#".format
        return json.loads(self.process.stdout.readline(), parse_int=written, parse_float=written)

    def load(self, source):
        """Loads a template."""
        loaded = self.ask(request="load", template="t", source=source)
        if not loaded.get("ok"):
            sys.exit(f"{source!r}: {loaded}")

    def read(self, names, think, prompt, chunks):
        """Reads an answer."""
        tools = [{"type": "function", "function": {"name": name}} for name in names]
        answer = self.ask(
            request="parse", template="t", tools=tools, think=think, prefix=prompt, chunks=chunks, events=True
        )
        if answer["outcome"] != "read":
            sys.exit(f"{chunks!r}: {answer}")
        return answer


def main():
    reference = Reference(sys.argv[1])
    tags = []
    for source in TEMPLATES:
        reference.load(source)
        tags.append({"template": source, **reference.read([], None, "", [""])["tags"]})
    answers = []
    for source, tools, think, prompt, text in ANSWERS:
        reference.load(source)
        row = {"template": source, "tools": tools, "think": think, "prompt": prompt, "text": text, "messages": []}

        def way(chunks, row=row, tools=tools, think=think, prompt=prompt):
            """The number of the message that comes of a text in these pieces."""
            message = reference.read(tools, think, prompt, chunks)["message"]
            if message not in row["messages"]:
                row["messages"].append(message)
            return row["messages"].index(message)

        row["whole"] = way([text])
        row["characters"] = way(list(text))
        row["fours"] = way([text[at : at + 4] for at in range(0, len(text), 4)])
        row["cuts"] = [way([text[:at], text[at:]]) for at in range(1, len(text))]
        events = reference.read(tools, think, prompt, list(text))["events"]
        row["events"] = {str(at): sent for at, sent in enumerate(events) if sent}
        answers.append(row)

    def rows(table):
        text = ",\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in table)
        return re.sub('"#([-+.e0-9]+)#"', r"\1", text)

    print('{"tags": [\n' + rows(tags) + '\n],\n"answers": [\n' + rows(answers) + "\n]}")


if __name__ == "__main__":
    main()

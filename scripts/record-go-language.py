#!/usr/bin/env python3
"""Records what Go's text/template gives as Ollama uses it, for harness/tests/go_language.rs.

    scripts/setup-references
    python3 scripts/record-go-language.py .references/ollama > harness/tests/data/go-language.json

The recorded table is of Go 1.26.
"""

import json
import subprocess
import sys

PARAMETERS = {
    "type": "object",
    "$defs": {"b": 1, "a": [1.5, None]},
    "required": ["city", "days"],
    "properties": {
        "days": {"type": ["integer", "null"], "enum": [1, 1000000, "x"]},
        "city": {"type": "string", "description": "Where <to> & \"from\"\u2028"},
        "deep": {"type": "object", "properties": {"z": {"type": "array", "items": {"type": "string"}}, "a": {}}},
        "any": {"anyOf": [{"type": "string"}, {"type": "number"}]},
    },
}
CASE = {
    "messages": [
        {"role": "System", "content": "Be brief."},
        {"role": "user", "content": "日本 <b>"},
        {"role": "user", "content": "again"},
        {
            "role": "assistant",
            "content": "",
            "reasoning_content": "hm",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {
                        "name": "weather",
                        "arguments": '{"z": 1000000, "a": [1, null, {"k": 0.00001}], "t": true, "n": null, "s": "é<"}',
                    },
                },
                {"id": "c2", "type": "function", "function": {"name": "ping", "arguments": {}}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "[1]"},
        {"role": "tool", "name": "ping", "content": ""},
    ],
    "tools": [
        {"type": "function", "function": {"name": "weather", "description": "d", "parameters": PARAMETERS}},
        {"type": "function", "extra": 1, "function": {"name": "ping"}},
    ],
    "variables": {"think": "high"},
}

LAST = "{{ range .Messages }}{{ range .ToolCalls }}{{ %s }}|{{ end }}{{ end }}"
TOOL = "{{ if .Messages }}{{ range .Tools }}{{ %s }}|{{ end }}{{ end }}"
PROPERTY = "{{ $m := .Messages }}{{ range $k, $p := (index .Tools 0).Function.Parameters.Properties }}{{ $k }}={{ %s }};{{ end }}"
PLAIN = "{{ $m := .Messages }}%s"

TEMPLATES = [
    # What an action prints.
    "{{ range .Messages }}{{ . }}\n{{ end }}",
    "{{ range .Messages }}{{ json . }}\n{{ end }}",
    "{{ range .Messages }}{{ printf \"%v\" . }}{{ end }}",
    PLAIN % "{{ .Tools }}",
    PLAIN % "{{ json .Tools }}",
    PLAIN % "{{ .System }}{{ .Think }}{{ .ThinkLevel }}{{ .IsThinkSet }}",
    PLAIN % "{{ .Nope }}|{{ if .Nope }}x{{ else }}y{{ end }}|{{ json .Nope }}|{{ printf \"%s\" .Nope }}",
    PLAIN % "{{ .Nope.Deeper }}",
    LAST % ".",
    LAST % ".Function",
    LAST % ".Function.Arguments",
    LAST % "json .Function.Arguments",
    LAST % "json .Function",
    LAST % "printf \"%s %v %d\" .Function.Arguments .Function.Arguments .Function.Index",
    LAST % ".Function.Arguments.a",
    LAST % ".Function.Arguments.String",
    LAST % ".Function.Nope",
    LAST % "len .Function.Arguments",
    "{{ range .Messages }}{{ range .ToolCalls }}{{ range $k, $v := .Function.Arguments }}{{ $k }}={{ $v }},{{ else }}none{{ end }};{{ end }}{{ end }}",
    TOOL % ".",
    TOOL % ".Function",
    TOOL % ".Function.Parameters",
    TOOL % "json .Function.Parameters",
    TOOL % ".Function.Parameters.Properties",
    TOOL % "json .Function.Parameters.Required",
    TOOL % ".Function.Parameters.Defs",
    TOOL % "printf \"%+v\" .Function.Parameters.Required",
    PROPERTY % "$p.Type",
    PROPERTY % "json $p",
    PROPERTY % "toTypeScriptType $p",
    PROPERTY % "$p.ToTypeScriptType",
    PROPERTY % "$p.Enum",
    PROPERTY % "printf \"%q\" $p.Type",
    # Strings are bytes.
    "{{ range .Messages }}{{ if .Content }}{{ slice .Content 0 1 }},{{ end }}{{ end }}",
    "{{ range .Messages }}{{ if .Content }}{{ json (slice .Content 1) }},{{ end }}{{ end }}",
    "{{ range .Messages }}{{ index .Content 0 }}{{ end }}",
    "{{ range .Messages }}{{ if eq .Role \"tool\" }}{{ if .Content }}{{ eq (slice .Content 0 1) \"[\" }}{{ end }}{{ .ToolName }}{{ end }}{{ end }}",
    "{{ $m := index .Messages 99 }}{{ $m.Role }}",
    "{{ (index .Messages 0).Role }}",
    "{{ $m := .Messages }}{{ (index $m 0).Role }}{{ len (slice .Messages 1) }}",
    "{{ slice .Messages 9 }}",
    "{{ range $i, $m := .Messages }}{{ $last := eq (len (slice $.Messages $i)) 1 }}{{ if $last }}last{{ end }}{{ $i }}{{ end }}",
    # Functions.
    PLAIN % "{{ printf \"%5s|%-5s|%05d|%x|%q|%v|%t|%6.2f|%e\" \"ab\" \"cd\" 42 \"hi\" \"a\\n\" nil true 3.14159 1e9 }}",
    PLAIN % "{{ printf \"%d %s\" \"x\" 3 }}{{ printf \"%s\" }}{{ printf \"x\" 1 \"y\" }}{{ printf \"%!\" }}",
    PLAIN % "{{ printf \"%[2]d %[1]s %d %[9]d\" \"x\" 3 }}{{ printf \"%*d|%.*f\" 5 42 1 2.25 }}",
    PLAIN % "{{ print 1 2 \"a\" 3 nil }}{{ println \"a\" 1 }}",
    PLAIN % "{{ 1e6 }} {{ 1.0 }} {{ 123456789.5 }} {{ 0x1F }} {{ 'a' }} {{ -3 }} {{ 1_000 }} {{ 1e-7 }}",
    PLAIN % "{{ html \"<a href='x'>&\" }}{{ js \"it's <b> =\\n\" }}{{ urlquery \"a b&é\" }}",
    PLAIN % "{{ and 1 0 2 }}{{ or 0 \"\" \"x\" }}{{ not 0 }}{{ eq 1 2 1 }}{{ ne \"a\" \"b\" }}{{ lt 1 2 }}{{ ge 2.5 2.5 }}",
    PLAIN % "{{ eq 1 \"1\" }}",
    PLAIN % "{{ eq .Nope nil }}{{ eq .Messages nil }}{{ lt \"a\" 1 }}",
    PLAIN % "{{ currentDate }} {{ currentDate \"x\" }} {{ yesterdayDate }}",
    PLAIN % "{{ currentDate 1 }}",
    PLAIN % "{{ json \"<é\\u2028>\" }}{{ json 1.5 }}{{ json nil }}{{ json true }}",
    PLAIN % "{{ json }}",
    PLAIN % "{{ len 3 }}",
    PLAIN % "{{ index .Tools 0 | json | len }}{{ \"x\" | printf \"%s-%s\" \"y\" }}",
    # Blocks, variables, trimming, comments.
    PLAIN % "{{ range 3 }}{{ . }}{{ end }}{{ range $x := 2 }}{{ $x }}{{ end }}{{ range 0 }}{{ else }}none{{ end }}",
    PLAIN % "{{ range \"abc\" }}{{ . }}{{ end }}",
    "{{ $n := 0 }}{{ range .Messages }}{{ if eq .Role \"tool\" }}{{ break }}{{ end }}{{ if eq .Role \"user\" }}{{ continue }}{{ end }}{{ $n = len .Role }}{{ .Role }}{{ end }}{{ $n }}",
    "{{ with .Messages }}{{ len . }}{{ else with .Tools }}x{{ end }}{{ with $x := .System }}{{ $x }}{{ end }}",
    "{{ if .Nope }}a{{ else if .Messages }}b{{ else }}c{{ end }}",
    "a  \n {{- /* gone */ -}} \n b {{- 1 }} c {{ 2 -}} d{{/* e */}} f {{ .Messages | len }}",
    "x\u00a0{{- 1 -}}\u00a0y {{- /* c */}} z {{ len .Messages }}",
    "{ {{- 1 }}{{ \"}\" }}{{ len .Messages }}{{ `raw\\n` }}",
    "{{ define \"m\" }}<{{ .Role }}>{{ end }}{{ range .Messages }}{{ template \"m\" . }}{{ end }}{{ block \"b\" .System }}[{{ . }}]{{ end }}",
    "{{ .Messages | len }}{{ template \"nope\" . }}",
    # Templates that know no messages.
    "{{ if .System }}S:{{ .System }}\n{{ end }}U:{{ .Prompt }}\nA:{{ .Response }}<end>\n",
    "{{ .System }}|{{ .Prompt }}|",
    "{{ .Prompt }}{{ if .Response }}{{ .Response }}</s>{{ end }}{{ json .Prompt }}",
    "{{ json .Prompt }}{{ .Response }}",
    "{{ if .Prompt }}{{ .Prompt }}{{ .Response }}{{ else }}x{{ end }}",
    "{{ .Prompt }}{{ .Nope.Deeper }}{{ printf \"%s\" .Response | len }}!",
    # What Go refuses to parse.
    "{{ range .Messages }}",
    "a{{ end }}",
    "a\n{{ else }}",
    "{{ if 1 }}{{ else }}{{ else }}{{ end }}",
    "{{ nope .Messages }}",
    "{{ $x }}",
    "{{ if 1 }}{{ $x := 1 }}{{ end }}\n{{ $x }}",
    "{{ .Messages | 3 }}",
    "{{ break }}",
    "{{ template \"x\" }}",
    "{{ \"a\nb\" }}",
    "{{ .A.B\"x\" }}",
    "{{ ( 1 }}",
    "{{}}",
    "{{ if }}x{{ end }}",
    "{{ /* spaced */ }}",
    "{{ define \"a\" }}1{{ end }}{{ define \"a\" }}2{{ end }}",
    "{{ range $a, $b, $c := .Messages }}{{ end }}",
    "{{ $a, $b := .Messages }}",
    "{{ 1 2 }}{{ len .Messages }}",
    "{{ nil }}{{ len .Messages }}",
    "{{ true.x }}",
    "{{ .Messages.X }}",
    "{{ if 1 }}{{ define \"d\" }}{{ end }}{{ end }}",
    "{{ 09 }}",
    "{{ 1 | len }}{{ len .Messages }}",
    "{{ index .Messages 6 }}",
    "{{ slice .Messages 2 1 }}",
    "{{ .Messages 1 }}",
    "{{ (len .Messages).X }}",
    "{{ not .Messages .Tools }}",
    "{{ template \"a\" .Messages }}{{ define \"a\" }}{{ $ | len }}{{ end }}",
    "{{ range $i, $m := .Messages }}{{ $i }}{{ with $m.ToolCalls }}{{ range . }}{{ .ID }}{{ end }}{{ else }}-{{ end }}{{ end }}",
    "{{ $a := 1 }}{{ if .Messages }}{{ $a := 2 }}{{ $a = 3 }}{{ end }}{{ $a }}",
    "{{ range $i, $a := .Messages }}{{ else }}{{ $a }}{{ end }}",
    "{{ 'ab' }}",
    "{{ \"\\q\" }}",
    "{{ $m := .Messages }}{{ range $i, $m := 3 }}{{ end }}",
]


def main():
    requests = [{"rolecall": 1, "request": "start"}]
    for number, source in enumerate(TEMPLATES):
        name = str(number)
        requests.append({"id": 2 * number + 1, "request": "load", "template": name, "source": source})
        requests.append(
            {"id": 2 * number + 2, "request": "render", "template": name, "now": "2024-03-01T00:00:00Z", **CASE}
        )
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    run = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()][1:]
    rows = []
    for source, loaded, rendered in zip(TEMPLATES, answers[::2], answers[1::2]):
        answer = rendered if loaded.get("ok") else loaded
        row = {"template": source, "outcome": answer["outcome"]}
        for key in ("text", "stage", "line"):
            if key in answer:
                row[key] = answer[key]
        rows.append(row)
    text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    print('{"case": ' + json.dumps(CASE, ensure_ascii=False) + ',\n"rows": [\n' + text + "\n]}")


if __name__ == "__main__":
    main()

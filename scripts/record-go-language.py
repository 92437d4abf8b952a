#!/usr/bin/env python3
"""Records the results of Go's text/template as Ollama uses it, for harness/go/tests/language.rs.

    scripts/setup-references
    python3 scripts/record-go-language.py .references/ollama > cases/constructs/go.json

The recorded table is from Go 1.26. It also has the names of the functions that a template can call:
Go's from its own source, Ollama's from the reference. Some row has to call each function.
"""

import json
import pathlib
import re
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
# What Go leaves out of an `any` is nil only, of a list and a string whatever is empty.
EMPTY = {
    "type": "object",
    "$defs": [],
    "items": "",
    "required": [],
    "properties": {"a": {"type": "", "items": [], "enum": [], "anyOf": [], "description": ""}, "b": {"items": ""}},
}
NULL = {
    "type": "object",
    "$defs": "",
    "items": {},
    "properties": {"a": {"type": [], "items": None, "enum": None, "properties": {}}, "b": {"items": 0}},
}
CASE = {
    "now": "2024-03-01T00:00:00Z",
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
        {"type": "function", "items": [], "function": {"name": "empty", "parameters": EMPTY}},
        {"type": "function", "items": "", "function": {"name": "null", "parameters": NULL}},
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
    # Each function with what it does not expect.
    PLAIN % "{{ gt 2 1 }}{{ gt 1 1 }}{{ gt 2.5 1.5 }}{{ gt \"b\" \"a\" }}{{ gt (len .Messages) 2 }}",
    PLAIN % "{{ le 2 1 }}{{ le 1 1 }}{{ le 1.5 2.5 }}{{ le \"a\" \"b\" }}{{ le (len .Messages) 2 }}",
    PLAIN % "{{ lt 2 1 }}{{ lt 1 1 }}{{ lt \"a\" \"b\" }}{{ ge 1 1 }}{{ ge \"a\" \"b\" }}{{ ge 1 2 }}",
    PLAIN % "{{ gt 1 2.5 }}",
    PLAIN % "{{ le \"a\" 1 }}",
    PLAIN % "{{ lt true false }}",
    PLAIN % "{{ ge .Nope 1 }}",
    PLAIN % "{{ gt 1 }}",
    PLAIN % "{{ le 1 2 3 }}",
    PLAIN % "{{ lt .Messages .Messages }}",
    PLAIN % "{{ eq 1 }}",
    PLAIN % "{{ eq }}",
    PLAIN % "{{ eq \"a\" \"b\" \"c\" \"a\" }}{{ eq 1 1.0 }}",
    PLAIN % "{{ eq .System \"Be brief.\" }}{{ eq true true }}{{ eq .Nope .Nope }}{{ eq nil nil }}",
    PLAIN % "{{ ne 1 1 }}{{ ne .System \"\" }}{{ ne true false }}{{ ne .Nope nil }}",
    PLAIN % "{{ ne 1 2 3 }}",
    PLAIN % "{{ eq .Tools .Tools }}",
    PLAIN % "{{ and }}",
    PLAIN % "{{ and 0 (index .Messages 99) }}{{ or 1 (index .Messages 99) }}",
    PLAIN % "{{ and 1 (index .Messages 99) }}",
    PLAIN % "{{ and .System }}{{ and .Nope 1 }}|{{ or .Nope 0 }}|{{ or .Nope .System }}",
    PLAIN % "{{ or }}",
    PLAIN % "{{ not \"\" }}{{ not \"a\" }}{{ not .Tools }}{{ not .Nope }}{{ not nil }}{{ not 0.0 }}",
    PLAIN % "{{ not }}",
    PLAIN % "{{ len \"é\" }}{{ len .Tools }}{{ len .System }}",
    PLAIN % "{{ len .Nope }}",
    PLAIN % "{{ len nil }}",
    PLAIN % "{{ len }}",
    PLAIN % "{{ index .System 0 }}{{ index .Tools 0 | json | len }}{{ (index .Tools 1).Function.Name }}",
    PLAIN % "{{ index .Tools }}",
    PLAIN % "{{ index .Tools -1 }}",
    PLAIN % "{{ index .Tools \"0\" }}",
    PLAIN % "{{ index . \"System\" }}{{ index . \"Nope\" }}",
    PLAIN % "{{ index . 0 }}",
    PLAIN % "{{ index 3 0 }}",
    PLAIN % "{{ index nil 0 }}",
    PLAIN % "{{ index .Messages 0 \"Role\" }}",
    PLAIN % "{{ slice .System 1 3 }}{{ slice .System }}{{ slice \"abc\" 3 }}|{{ len (slice .Messages 1 2) }}",
    PLAIN % "{{ slice \"abc\" 1 2 3 }}",
    PLAIN % "{{ slice \"abc\" -1 }}",
    PLAIN % "{{ slice \"abc\" \"1\" }}",
    PLAIN % "{{ slice 3 1 }}",
    PLAIN % "{{ slice }}",
    PLAIN % "{{ slice .Messages 0 1 1 | len }}",
    PLAIN % "{{ print }}|{{ print nil }}|{{ print \"a\" \"b\" 1 2 true \"c\" 1.5 }}|{{ print .Tools }}",
    PLAIN % "{{ println }}|{{ println nil }}|{{ println \"a\" \"b\" 1 2 }}|",
    PLAIN % "{{ printf \"%v %v\" nil .Nope }}|{{ printf \"%s\" nil }}|{{ printf \"%t\" 1 }}|{{ printf \"%q\" 97 }}|{{ printf \"%c%U\" 97 97 }}",
    PLAIN % "{{ printf }}",
    PLAIN % "{{ printf 1 }}",
    PLAIN % "{{ printf \"%T %T %T\" 1 \"a\" .System }}|{{ printf \"%+d|% d|%x|%X|%o|%b\" 1 2 255 255 8 5 }}",
    PLAIN % "{{ html }}|{{ html \"<\" 1 2 \">\" }}|{{ html .System }}",
    PLAIN % "{{ js }}|{{ js \"<'\" 1 \"&=\" }}|{{ js \"\\u2028é\" }}",
    PLAIN % "{{ urlquery }}|{{ urlquery \"a/b?\" 1 }}",
    PLAIN % "{{ html nil }}|{{ html .Nope }}|{{ js nil }}|{{ js .Nope }}|{{ urlquery nil }}|{{ urlquery .Nope }}",
    PLAIN % "{{ call }}",
    PLAIN % "{{ call nil }}",
    PLAIN % "{{ call .System }}",
    PLAIN % "{{ call .Nope 1 }}",
    PLAIN % "{{ call (index .Tools 0) }}",
    PLAIN % "{{ json 1 2 }}",
    PLAIN % "{{ json .Think }}{{ json .ThinkLevel }}{{ json 1e21 }}{{ json 'a' }}{{ json (slice \"é\" 1) }}",
    PLAIN % "{{ currentDate \"a\" \"b\" }}{{ currentDate | len }}{{ yesterdayDate \"x\" }}{{ yesterdayDate | printf \"%q\" }}",
    PLAIN % "{{ yesterdayDate nil }}",
    PLAIN % "{{ currentDate .System 1 }}",
    PLAIN % "{{ toTypeScriptType 1 }}{{ toTypeScriptType nil }}{{ toTypeScriptType .Tools }}{{ toTypeScriptType .Nope }}",
    PLAIN % "{{ toTypeScriptType }}",
    PLAIN % "{{ toTypeScriptType 1 2 }}",
    # Constructs that few templates use.
    "{{ with .Nope }}a{{ else with .Tools }}{{ len . }}{{ else }}b{{ end }}{{ with .Nope }}{{ else }}c{{ end }}{{ len .Messages }}",
    "{{ $i := 0 }}{{ $m := 0 }}{{ range $i, $m = .Messages }}{{ end }}{{ $i }}{{ $m.Role }}",
    "{{ $m := 0 }}{{ range $m = .Messages }}{{ break }}{{ end }}{{ $m.Role }}",
    "{{ range $m := .Messages }}{{ $m.Role }},{{ end }}",
    "{{ define \"a\" }}[{{ . }}]{{ end }}{{ template \"a\" }}{{ len .Messages }}",
    "{{ define \"a\" }}{{ $ }}{{ end }}{{ template \"a\" 1 }}{{ template \"a\" nil }}{{ len .Messages }}",
    "{{ if (and .Messages .Tools) }}a{{ end }}{{ if $.System }}b{{ end }}{{ if .Response }}c{{ else }}d{{ end }}",
    "{{ if .Messages }}{{ range .Messages }}{{ .Role }};{{ end }}{{ else }}{{ .Prompt }}{{ end }}{{ .Response }}",
    "{{ if $x := len .Messages }}{{ $x }}{{ else }}{{ $x }}{{ end }}{{ with $y := .System }}{{ len $y }}{{ end }}",
    "{{ len\n.Messages }}{{ len (\n.Messages\n) }}{{ `a\nb` }}{{ '\\n' }}{{ '\\u00e9' }}",
    "{{ (index .Messages 0).Role | printf \"%s-%s\" \"a\" | len }}{{ .Messages | len | printf \"%03d\" }}",
    "{{ 0b101 }} {{ 0o17 }} {{ 017 }} {{ 0x1p4 }} {{ +3 }} {{ .5 }} {{ 9223372036854775807 }} {{ len .Messages }}",
    "{{ 9223372036854775808 }}{{ len .Messages }}",
    "{{ 1i }}{{ len .Messages }}",
    TOOL % "json .",
    TOOL % "json .Function.Parameters.Properties",
    TOOL % "json .Items",
    TOOL % "json .Function.Parameters.Defs",
    TOOL % "printf \"%v %s\" .Items .Function.Parameters.Defs",
    PLAIN % "{{ json .Tools }}{{ .Tools }}",
    PLAIN % "{{ html nil nil }}|{{ html nil 1 }}|{{ js .Nope 2 }}|{{ html .Tools }}|{{ urlquery 1 nil \"a\" }}",
    PLAIN % "{{ 1e1000 }}",
    PLAIN % "{{ printf \"%[1d\" 1 }}|{{ printf \"%[\" 1 }}|{{ printf \"%[1]\" 1 }}",
    PLAIN % "{{ printf \"%T %T %T %T\" nil .Nope 1 \"a\" }}",
    LAST % "printf \"%+v\" .Function",
    "{{ | index }}{{ len .Messages }}",
    # What touches a keyword, and pipes that nothing follows.
    "{{ if(.Messages) }}a{{ else if(1) }}b{{ end }}{{ with(1) }}{{ . }}{{ end }}",
    "{{ range.Messages }}{{ .Role }}{{ end }}",
    '{{ define "t" }}{{ . }}{{ end }}{{ template "t".System }}{{ template "t"(len .Messages) }}{{ block "b".System }}{{ . }}{{ end }}',
    PLAIN % "{{ 1| }}{{ .System | }}{{ (len .Messages |) }}",
    PLAIN % "{{ | }}",
    PLAIN % "{{ 1 || }}",
    PLAIN % "{{ if | }}{{ end }}",
    PLAIN % "{{ 1nil }}",
    PLAIN % "{{ 0b1.e }}",
    PLAIN % "{{ 0b1. }}",
    PLAIN % "{{ -0O1.5 }}",
    PLAIN % "{{ 2..5 }}",
    PLAIN % "{{ 1e2.A }}",
    PLAIN % "{{ 0x1p4 }} {{ 0x_1 }} {{ 1_000.5 }} {{ 0o17 }} {{ 1.e2 }} {{ +1 }}",
    # A break in what is for an empty range.
    PLAIN % "{{ range .Messages }}a{{ range .Images }}{{ else }}{{ break }}{{ end }}b{{ end }}",
    PLAIN % "{{ range .Messages }}a{{ range .Images }}{{ else }}{{ continue }}{{ end }}b{{ end }}",
    # Formats.
    PLAIN % '{{ printf "%." 1 }}|{{ printf "%5." 1 }}|{{ printf "%.d" 1 }}',
    PLAIN % '{{ printf "%b|%x|%X|%.3x|%#x|%#X" 1.5 1e7 0.1 1e7 2.0 2.0 }}',
    PLAIN % '{{ printf "%#g|%#v|%#.3g|%#f|%#.0f|%#e|%#G" 100.0 1.5 2.0 1.5 2.0 1e100 0.0 }}',
    PLAIN % '{{ printf "%+d|%#o|%#b|%+U|%+v|%+v" 1.5 "" "a" 100.0 1 1.5 }}',
    PLAIN % "{{ +0o1 }}{{ +0x1f }}{{ +0b1 }}{{ +1.5 }}",
    PLAIN % '{{ printf "%#s|%#x" .Tools .System }}|{{ printf "%10s" (index .Tools 1).Function.Parameters }}',
    PLAIN % '{{ printf "%x|%b|%8.2x|%-12x|%012x|%+x|% x" 0.0 5e-324 1.0 -1.5 1.5 1.5 1.5 }}',
    PLAIN % '{{ printf "[%.d|%5.0d|%-5.0v|%05.0x|%.0U|%.0c|%.0q]" 0 0 0 0 0 65 65 }}',
    PLAIN % '{{ printf "%#U|%#U|%U|%.6U|%012U|%#-12U|%#.8U" 100 7 -1 100 100 100 128512 }}',
    PLAIN % '{{ printf "%#o|%#o|%#.3o|%#05o|%#.0o" 0 8 8 8 8 }}',
    PLAIN % '{{ printf "%[3]*.[2]*[1]f|%[2]*[1]d|%[1]d %d" 12.0 2 6 }}',
    PLAIN % '{{ printf "%[3]2d|%[1].2d|%[2]*d|%.[2]*d" 1 2 3 }}',
    PLAIN % '{{ printf "%[]d|%[0]d|%[x]d|%[9]d|%.[d|%[]" 1 2 }}',
    PLAIN % '{{ printf "%*d|%.*d|%*d" "a" 1 -1 2 (index .System 0) 3 }}',
    PLAIN % '{{ printf "%é|%世|ÿ%" 1 2 }}',
    "{{ range .Messages }}{{ html . }}|{{ js . 1 }}|{{ urlquery . . }}{{ end }}",
    PLAIN % "{{ html (index .Messages 0) nil (index .Messages 0) }}",
    # A range that declares one variable, and ends in front of the second.
    PLAIN % "{{ range $m, $ }}{{ end }}",
    PLAIN % "{{ range $, $ 3 }}{{ end }}",
    PLAIN % "{{ range $s, $.System }}{{ end }}",
    "{{ range $m,$.Messages }}[{{ $m.Role }} {{ .Role }}]{{ else }}none{{ end }}",
    "{{ range $m, $n }}{{ end }}",
    "{{ range $m, }}{{ end }}",
    "{{ range $m, $.Messages := 1 }}{{ end }}",
    # The template itself has the empty name.
    PLAIN % '{{ define "" }}{{ end }}',
    PLAIN % '{{ define "" }}a{{ end }}',
    '{{ define "" }}{{ len .Messages }}{{ end }} ',
    '{{ if .Messages }}a{{ template "" (slice "abc" 1) }}{{ else }}b{{ end }}',
    '{{ with .Messages }}{{ len . }}{{ template "" $.Tools }}{{ end }}{{ len . }}',
    PLAIN % "{{ 0x. }}",
    PLAIN % "{{ 0x1.8 }}",
    PLAIN % "{{ 0x.p1 }}",
    PLAIN % "{{ 0x.8p1 }}|{{ 0X1.p-1 }}",
    # A number with a sign is no unsigned one.
    PLAIN % "{{ +9223372036854775808 }}",
    PLAIN % "{{ +9_223_372_036_854_775_808 }}",
    PLAIN % "{{ +9223372036854775807 }}|{{ +1.e19 }}",
    # What is behind the first response of an action.
    "{{ .Response .Response }}",
    "{{ print .Response .Prompt .Response }}|",
]


def functions():
    """The names in Go's table of functions, and in that of the reference."""
    here = pathlib.Path(__file__).parent
    go = pathlib.Path(sys.argv[1]).parent / "python-ollama/bin/go"
    root = subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout
    builtins = pathlib.Path(root.strip(), "src/text/template/funcs.go").read_text("utf-8")
    ollamas = (here / "engines/ollama/template.go").read_text("utf-8")
    tables = (("FuncMap{\n(.*?)\n\t}", builtins), ("template.FuncMap{\n(.*?)\n\t}", ollamas))
    names = []
    for pattern, source in tables:
        table = re.search(pattern, source, re.DOTALL).group(1)
        names += re.findall(r'^\t\t"(\w+)":', table, re.MULTILINE)
    return sorted(names)


def main():
    requests = [{"rolecall": 1, "request": "start"}]
    for number, source in enumerate(TEMPLATES):
        name = str(number)
        requests.append({"id": 2 * number + 1, "request": "load", "template": name, "source": source})
        requests.append(
            {"id": 2 * number + 2, "request": "render", "template": name, **CASE}
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
    print('{"case": ' + json.dumps(CASE, ensure_ascii=False) + ",")
    print('"functions": ' + json.dumps(functions()) + ',\n"rows": [\n' + text + "\n]}")


if __name__ == "__main__":
    main()

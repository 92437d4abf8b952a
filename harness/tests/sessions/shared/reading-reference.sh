#!/bin/sh
# It renders a question and an answer with the template of `with-response`, and reads the answer.
while read -r line; do
  id=${line#*\"id\":} id=${id%%,*}
  text='<user>q</s>\n'
  case $line in *'It is so.'*) text="$text<assistant>It is so.</s>\\n" ;; esac
  case $line in *'"add_generation_prompt":true'*) text="$text<assistant>" ;; esac
  case $line in
    *'"request":"start"'*) echo '{"rolecall": 1, "engine": "transformers", "version": "5.24.0", "dialect": "jinja", "components": {"jinja2": "3.1.6"}, "reads": ["response_template"]}' ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"request":"stop"'*) exit 0 ;;
    *'"request":"render"'*) printf '{"id": %s, "outcome": "rendered", "text": "%s"}\n' "$id" "$text" ;;
    *) echo "{\"id\": $id, \"outcome\": \"read\", \"message\": {\"content\": \"It is so.\"}}" ;;
  esac
done

#!/bin/sh
# It gives back the content of the first message, fails on `fail`, and crashes on `boom`.
while read -r line; do
  id=${line%%,\"template*} id=${id##*\"id\":}
  content=${line##*\"content\":\"} content=${content%%\"*}
  case $line in
    *'"request":"start"'*) echo '{"rolecall": 1, "engine": "transformers", "version": "5.24.0", "dialect": "jinja", "components": {"jinja2": "3.1.6"}}' ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"request":"stop"'*) exit 0 ;;
    *boom*) echo 'Segmentation fault' >&2; exit 139 ;;
    *fail*) echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"render\", \"message\": \"KeyError: fail\", \"line\": 1}" ;;
    *) echo "{\"id\": $id, \"outcome\": \"rendered\", \"text\": \"$content\"}" ;;
  esac
done

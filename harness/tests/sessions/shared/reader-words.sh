# Words for programs that read answers. `greet` says what the program reads with, `ask` reads a request into
# `line` and its number into `id`, `loaded` says that a template is loaded, `part` is a text of the request, and
# `read_as` answers with a content.
ask() { read -r line || exit 0; id=${line%%,\"template*}; id=${id##*\"id\":}; }
greet() { ask; echo "{\"rolecall\": 1, \"engine\": \"fake\", \"dialect\": \"jinja\", \"reads\": $1}"; }
loaded() { echo "{\"id\": $id, \"ok\": true, \"parsers\": {\"tool_calls\": \"tags\", \"reasoning\": null}}"; }
part() { part=${line##*\"$1\":\"}; printf '%s' "${part%%\"*}"; }
read_as() { printf '{"id": %s, "outcome": "read", "message": {"content": "%s"}}\n' "$id" "$1"; }

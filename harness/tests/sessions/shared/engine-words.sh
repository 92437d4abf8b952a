# Words for engines. `start` greets, `ask` reads a request into `line` and its number into `id`, `loaded` says
# that a template is loaded, `text` renders a text, and `content` is the content of the first message.
ask() { read -r line || exit 0; id=${line%%,\"template*}; id=${id##*\"id\":}; }
greet() { ask; echo "{\"rolecall\": 1, \"engine\": \"fake\", \"version\": \"$1\", \"dialect\": \"jinja\", \"components\": {\"sh\": \"0\"}}"; }
start() { greet 1.2; }
loaded() { echo "{\"id\": $id, \"ok\": true}"; }
refused() { echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"parse\", \"message\": \"$1\"}"; }
text() { printf '{"id": %s, "outcome": "rendered", "text": "%s"}\n' "$id" "$1"; }
content() { content=${line##*\"content\":\"}; printf '%s' "${content%%\"*}"; }

while read -r line; do
  id=${line%%,\"template*} id=${id##*\"id\":}
  case $line in
    *'"request":"start"'*) echo '{"rolecall": 1, "engine": "fake", "version": "1.2", "dialect": "jinja", "components": {"sh": "0"}}' ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"request":"stop"'*) exit 0 ;;
    *'"Me."'*) printf '%s\n' "{\"id\": $id, \"outcome\": \"rendered\", "'"text": "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\nMe.<|im_end|>\n", "learned": [[54, 57]]}' ;;
    *) echo "{\"id\": $id, \"outcome\": \"raised\", \"message\": \"No question.\"}" ;;
  esac
done

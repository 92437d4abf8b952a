while read -r line; do
  id=${line%%,\"template*} id=${id##*\"id\":}
  case $line in
    *'"request":"start"'*) echo '{"rolecall": 1, "engine": "parrot", "version": "1", "dialect": "jinja"}' ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"request":"stop"'*) exit 0 ;;
    *) echo "{\"id\": $id, \"outcome\": \"rendered\", \"text\": \"hello\"}" ;;
  esac
done

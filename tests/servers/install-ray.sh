#!/usr/bin/env bash
# Makes a virtual environment with Ray, for the tests marked `ray`. It takes 400 MB of disk and a minute; Ray has dependencies of its own,
# which are kept out of the project's environment.
#
#   tests/servers/install-ray.sh [DIRECTORY]     (.cache/ray where none is given)
set -eu
cd "$(dirname "$0")/../.."
version=2.60.0
directory=${1:-.cache/ray}
python=${PYTHON:-python3}
if "$directory/bin/python" -c 'import ray' 2>/dev/null; then
  echo "Ray is in $directory"
  exit 0
fi
"$python" -m venv "$directory"
nice -n 15 "$directory/bin/python" -m pip install --quiet --disable-pip-version-check "ray[default]==$version"
"$directory/bin/python" -c 'import ray'
echo "Ray is in $directory"

"""The GPU embedder's library with a real model, on CPU.

Its environment is 6 GB, so it is made on demand (`tests/servers/install-flag.sh`) and not in CI; what needs it skips where it is absent.
"""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import pytest

from processors.classify.flag import FlagEmbedder
from tests.servers.flag import FlagEnvironment

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import json, sys
from processors.classify.embedded import EmbeddedModel, shipped
from processors.classify.linear import LETTERS, LinearModel
from processors.classify.flag import FlagEmbedder
embedder = FlagEmbedder(sys.argv[1], device="cpu", pooling="mean")
vectors = embedder.embed(["the disk is full", "no space left on the drive", "nice weather"])
many = embedder.embed([f"line {number}" for number in range(600)])
known = [each for each in shipped() if each.asked][::8]
likely = EmbeddedModel(embedder, LinearModel.load(), known).probabilities([each.template for each in known])
right = [LETTERS[row.argmax()] == each.letter for row, each in zip(likely, known)]
print(json.dumps({"likeness": (vectors @ vectors.T).tolist(), "empty": len(embedder.embed([])),
    "many": len(many), "right": sum(right) / len(right)}))
"""


@pytest.mark.skipif(importlib.util.find_spec("FlagEmbedding") is not None, reason="FlagEmbedding is installed")
def test_without_the_library_the_message_says_how_to_get_it() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"pip install '.\[gpu\]'"):
        FlagEmbedder("any")


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_real_model_gives_vectors_and_joins_the_grams(flag_environment: FlagEnvironment) -> None:
    command = [str(flag_environment.python), "-c", PROGRAM, str(flag_environment.model)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=360)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    likeness = said["likeness"]
    assert all(abs(likeness[place][place] - 1) < 1e-3 for place in range(3))
    assert likeness[0][1] > likeness[0][2] + 0.2
    assert (said["empty"], said["many"]) == (0, 600)
    assert "Inference" not in done.stderr, "no bars of progress in a worker's log"
    assert said["right"] > 0.85

"""A real vLLM in one process with a model of random weights: answers inside the schema, several at once."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.servers.vllm import ROOT, vllm_python


@pytest.mark.vllm
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_loaded_model_answers_inside_the_schema_and_refuses_what_is_too_long(tmp_path: Path) -> None:
    python, model = vllm_python(), tmp_path / "random"
    subprocess.run([python, ROOT / "tests" / "servers" / "random_model.py", model], check=True, timeout=120)
    quiet = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["nice", "-n", "15", python, "-m", "tests.streams.model_worker.vllm_in_process", model, tmp_path / "told.json"],
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=500, env=os.environ | quiet | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["model"] == "random"
    assert told["answers"].pop(3) == "PromptRefused"
    assert set(told["answers"]) <= {"a", "b"}

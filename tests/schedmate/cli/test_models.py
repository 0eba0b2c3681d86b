"""`models` as a person starts it; with a real vLLM in tests/streams/model_worker/test_vllm.py."""

import importlib.util
from pathlib import Path

import pytest

from tests.schedmate.forked import run_forked
from tests.streams.model_worker import misbehaving_server as bad

VLLM = importlib.util.find_spec("vllm") is not None


def output_of(*arguments: str, code: int = 0) -> str:
    done = run_forked(*arguments, env={"SCHEDMATE_CONFIG": "/dev/null", "HOME": "/tmp"})
    assert done.returncode == code, done.stdout + done.stderr
    return (done.stdout + done.stderr).decode()


def test_check_says_what_each_server_does() -> None:
    with (
        bad.misbehaving(bad.answers({"class": "progress"})) as well,
        bad.misbehaving(bad.answers({"class": "sun"})) as ill,
    ):
        assert "answered inside the schema" in output_of(
            "--set", f"language_model.servers={well.url}", "models", "check"
        )
        both = output_of("--set", f"language_model.servers={ill.url},{well.url}", "models", "check", code=1)
    assert f"{ill.url}: model stand-in answered outside the schema: answer.class: expected one of" in both
    assert f"{well.url}: model stand-in answered inside the schema in" in both
    assert "ConnectionRefused" in output_of("--set", f"language_model.servers={well.url}", "models", "check", code=1)


def test_check_without_servers_says_how_to_get_one() -> None:
    assert "schedmate models serve" in output_of("models", "check", code=1)


def test_a_wrong_address_is_refused() -> None:
    said = output_of("--set", "language_model.servers=localhost:8000", "models", "check", code=2)
    assert "language_model.servers: expected the address of a model server" in said


@pytest.mark.skipif(VLLM, reason="vLLM is installed")
def test_serve_without_vllm_says_how_to_get_it(tmp_path: Path) -> None:
    assert "pip install '.[gpu]'" in output_of("models", "serve", str(tmp_path), code=2)


def test_serve_with_a_python_that_is_none_says_so(tmp_path: Path) -> None:
    said = output_of("models", "serve", "m", "--python", str(tmp_path / "python"), code=2)
    assert "expected a Python with vLLM at" in said

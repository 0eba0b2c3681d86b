"""An environment with FlagEmbedding and a small real model: made by `install-flag.sh`, on demand, since it takes 6 GB."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = Path(os.environ.get("SCHEDMATE_TEST_FLAG", ROOT / ".cache" / "flag"))


class FlagEnvironment(NamedTuple):
    """Attributes: its Python, and the directory of its model."""

    python: Path
    model: Path


@pytest.fixture(scope="session")
def flag_environment() -> FlagEnvironment:
    """The environment; skips where it was not made."""
    python, tokenizers = ENVIRONMENT / "bin" / "python", sorted(ENVIRONMENT.glob("model/*/model/tokenizer.json"))
    if not python.exists() or not tokenizers:
        pytest.skip(
            f"no FlagEmbedding and model in {ENVIRONMENT}: tests/servers/install-flag.sh makes them (6 GB of disk, minutes; "
            "not in CI for that reason), or SCHEDMATE_TEST_FLAG names another environment"
        )
    return FlagEnvironment(python, tokenizers[0].parent)

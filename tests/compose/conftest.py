"""The engine, and the stack on it, first of the image of an older commit."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .engine import Engine, start_engine
from .images import build_older, build_stand_ins
from .stack import Stack

OLDER = "schedmate-test/older:1.0.0"


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """A Docker engine of the tests' own."""
    with start_engine() as engine:
        yield engine


@pytest.fixture(scope="session")
def stack(engine: Engine, redis_8: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The whole stack, started from the image of the commit before this one (SCHEDMATE_TEST_OLDER names another)."""
    stack = Stack.prepare(engine, tmp_path_factory.mktemp("compose") / "secrets")
    stack.image = OLDER
    stack.compose("down", "--volumes")  # what an interrupted run left behind
    build_stand_ins(engine, redis_8)
    build_older(engine, OLDER, os.environ.get("SCHEDMATE_TEST_OLDER", "HEAD~1"))
    try:
        stack.up("--no-build")
        yield stack
    finally:
        stack.compose("down", "--volumes")


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which pipes on this host keep what could not be sent yet."""
    return tmp_path_factory.mktemp("state")

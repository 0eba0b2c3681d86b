"""Fixtures of the real servers; each stands in the module that starts it. Property tests know no seconds: a busy host fails none."""

import gc
import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

# Each process of the tests has a processor at most: threads of numpy and LightGBM, loaded later, would wait for those of the others.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# readline, which pytest loads, tells all children how wide a terminal would be; what is listed into a pipe would keep to that.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")

pytest_plugins = [
    *(
        "tests.servers.clickhouse",
        "tests.servers.flag",
        "tests.servers.kafka",
        "tests.servers.kubernetes",
        "tests.servers.minilm",
        "tests.servers.redis",
        "tests.servers.ray",  # it is made of the one before
        "tests.servers.slurm",
        "tests.servers.slurm_clusters",
        "tests.servers.vllm",
    ),
]

settings.register_profile("quick", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=15)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=100)  # make test
settings.load_profile("quick")

# As the product logs: a traceback that shows the values of all variables takes most of a second.
_console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _console])
_logging = structlog.get_config()

gc.disable()  # while tests are collected: a million objects are made, all of which stay


def pytest_collection_finish() -> None:
    """Leave what the collection made to itself: each collection of garbage would look through it again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Restore the configuration of structlog, which commands change."""
    yield
    structlog.configure(**_logging)

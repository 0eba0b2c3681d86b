"""Fixtures of the real servers; each stands in the module that starts it. Property tests know no seconds: a busy host fails none."""

import gc

from hypothesis import HealthCheck, settings

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

settings.register_profile("any host", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any host")

gc.disable()  # while tests are collected: a million objects are made, all of which stay


def pytest_collection_finish() -> None:
    """Leave what the collection made to itself: each collection of garbage would look through it again."""
    gc.freeze()
    gc.enable()

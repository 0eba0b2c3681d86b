"""Fixtures of the real servers; each stands in the module that starts it."""

pytest_plugins = [
    *(
        "tests.servers.clickhouse",
        "tests.servers.kafka",
        "tests.servers.kubernetes",
        "tests.servers.redis",
        "tests.servers.slurm",
        "tests.servers.vllm",
    ),
]

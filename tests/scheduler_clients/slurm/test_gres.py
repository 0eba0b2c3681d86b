"""Generic resources, as releases of Slurm write them."""

import pytest

from scheduler_clients.slurm.gres import counts, gpu_types


@pytest.mark.parametrize(
    ("text", "number", "types"),
    [
        ("gres:gpu", {"gpu": 1}, set()),  # of `--gres=gpu`, Slurm 22.05
        ("gres:gpu:a100", {"gpu": 1}, {"a100"}),
        ("gres:gpu:a100:2,gres:shard", {"gpu": 2, "shard": 1}, {"a100"}),
        ("gres/gpu:h100=4", {"gpu": 4}, {"h100"}),
        ("gpu:2(S:0-1),shard:8(S:0)", {"gpu": 2, "shard": 8}, set()),
        ("gpu:tesla:1,gpu:kepler:1", {"gpu": 2}, {"tesla", "kepler"}),
        ("gres:gpu:0", {"gpu": 0}, set()),
        ("gres:gpuless:3", {}, set()),
        ("(null)", {}, set()),
    ],
)
def test_numbers_and_types(text: str, number: dict[str, int], types: set[str]) -> None:
    assert counts(text) == number
    assert gpu_types(text) == types

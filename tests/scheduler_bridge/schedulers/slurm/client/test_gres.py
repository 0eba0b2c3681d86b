"""Generic resources, as releases of Slurm write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_bridge.schedulers.slurm.client.gres import counts, gpu_types, held_devices, held_parts


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


@pytest.mark.parametrize(
    ("held", "devices", "gpus", "shards", "parts"),
    [
        ("gpu:1g.10gb:1(IDX:3)", {3}, 1, 0, {3: 1.0}),
        ("gpu:2g.20gb+me:1(IDX:1)", {1}, 1, 0, {1: 1.0}),
        ("gpu:nvidia_a100_1g.5gb:2(IDX:0,7),gpu:3g.20gb:1(IDX:9)", {0, 7, 9}, 3, 0, {0: 1.0, 7: 1.0, 9: 1.0}),
        ("gpu:a100:2(IDX:0-1),shard:2(IDX:2)", {0, 1, 2}, 2, 2, {0: 1.0, 1: 1.0, 2: 0.5}),
        ("shard:3(0/4,3/4)", {1}, None, 3, {1: 0.75}),  # since 23.11
        ("gpu:a100:1(IDX:0),shard:a100:5(0/4,4/4,1/4)", {0, 1, 2}, 1, 5, {0: 1.0, 1: 1.0, 2: 0.25}),
        ("gpu:0(IDX:)", set(), None, 0, {}),
        ("gpu(CNT:2)", set(), None, 0, {}),
        ("gpuless:2(IDX:0-1),mps:100(100/100)", set(), None, 0, {}),
        ("(null)", set(), None, 0, {}),
    ],
)
def test_what_is_held(held: str, devices: set[int], gpus: int | None, shards: int, parts: dict[int, float]) -> None:
    found, whole, of_shards = held_devices([(("n1", "n2"), held)])
    assert found == {(host, index) for host in ("n1", "n2") for index in devices}
    assert (whole, of_shards) == (gpus and 2 * gpus, 2 * shards)
    assert held_parts(held, shards_per_gpu=4) == parts


@given(st.text(alphabet="gpushard:1(IDX0-,/)"))
def test_anything_can_be_held(text: str) -> None:
    held_devices([(("n1",), text)])
    held_parts(text, 4)

import gzip
from pathlib import Path

import msgspec
import pytest

from benchmarks.simulate.gavel import read_gavel_speeds
from schedmate.simulate.job import PackedWorkload
from schedmate_records import UserError


def test_speeds_of_pairs_follow_from_steps_a_second(tmp_path: Path) -> None:
    file = tmp_path / "throughputs.json.gz"
    steps = {
        "('a', 1)": {"null": 10.0, "('a', 1)": [5.0, 5.0], "('b', 1)": [2.0, 30.0], "('c', 1)": [0.0, 0.0]},
        "('b', 1)": {"null": 40.0},
        "('c', 1)": {"null": 1.0},
        "('a', 2)": {"null": 20.0, "('a', 1)": [1.0, 1.0]},
    }
    file.write_bytes(gzip.compress(msgspec.json.encode({"v100": steps})))
    speeds = read_gavel_speeds(file, "v100")
    a, b, c = (PackedWorkload(f"('{name}', 1)") for name in "abc")
    assert speeds.speeds_of(a, b) == (0.2, 0.75)
    assert speeds.speeds_of(b, a) == (0.75, 0.2)
    assert (speeds.can_share(a, b), speeds.can_share(a, c)) == (True, False)
    assert PackedWorkload("('a', 2)") not in speeds.workloads  # its GPUs are two
    with pytest.raises(UserError, match="v100"):
        read_gavel_speeds(file, "h100")

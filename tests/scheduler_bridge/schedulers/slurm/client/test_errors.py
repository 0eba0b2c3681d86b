"""What Slurm's commands complain of, from 21.08 to 26.05, in `fixtures/errors.txt`."""

from pathlib import Path

import pytest

from scheduler_bridge.schedulers.slurm.client import SlurmCommands, SlurmRefused, SlurmUnavailable, UnknownSlurmJob

KINDS = {"unavailable": SlurmUnavailable, "unknown": UnknownSlurmJob, "refused": SlurmRefused}
COMPLAINTS = Path(__file__).with_name("fixtures").joinpath("errors.txt").read_text().splitlines()


@pytest.mark.parametrize("line", COMPLAINTS)
@pytest.mark.parametrize("stream", [1, 2])
def test_a_complaint_has_a_kind(tmp_path: Path, line: str, stream: int) -> None:
    kind, complaint = line.split("\t")
    (tmp_path / "complaint").write_text(complaint)
    command = tmp_path / "scontrol"
    command.write_text(f'#!/bin/sh\nread line <{tmp_path}/complaint; echo "$line" >&{stream}; exit 1\n')
    command.chmod(0o755)
    with pytest.raises(KINDS[kind]) as raised:
        SlurmCommands({"PATH": str(tmp_path)})(str(command))
    assert type(raised.value) is KINDS[kind]

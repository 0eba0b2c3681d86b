"""Jobs by the SLUID of their run: a `squeue` that answers as Slurm 26.05 does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scheduler_bridge.schedulers.slurm.runs import SlurmRuns
from tests.streams.producers.switchable import wait_for

SQUEUE = """\
#!/bin/sh
case "$4" in
--jobs=sJ3SK1QYD16X00) printf '%-20s%-40s\\n' sJ3SK1QYD16X00 4711_3 ;;
--jobs=sJ3SK1QYD16X01) printf '%-20s%-40s\\n' sJ3SK1QYD16X01 12+1 ;;
--jobs=*,sJ3SK1QYD16X00) printf '%-20s%-40s\\n' sJ3SK1QYD16X00 4711_3 ;;
*) echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlurmRuns]:
    (tmp_path / "squeue").write_text(SQUEUE)
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    runs = SlurmRuns()
    yield runs
    runs.close()


def test_a_run_has_the_id_that_logs_carry(runs: SlurmRuns) -> None:
    assert runs.job("sJ3SK1QYD16X00") is None, "nobody waits for Slurm"
    wait_for(lambda: runs.job("sJ3SK1QYD16X00") == "4711_3")
    wait_for(lambda: runs.job("sJ3SK1QYD16X01") == "12")


@pytest.mark.parametrize("run", ["s0000000000000", "--me", "s; reboot"])
def test_what_slurm_does_not_know_has_no_job(runs: SlurmRuns, run: str) -> None:
    assert runs.job(run) is None
    wait_for(lambda: runs.job("sJ3SK1QYD16X00") == "4711_3")
    assert runs.job(run) is None

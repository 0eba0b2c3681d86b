"""Whose jobs they are where there are several Slurm clusters: commands that answer by the cluster that they are asked about."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scheduler_bridge.schedulers.slurm.owners import SlurmOwners
from tests.streams.producers.switchable import wait_for

SQUEUE = """\
#!/bin/sh
case "$1" in
--clusters=beta) echo "4711 4711 4711 1002" ;;
--clusters=gamma) echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1 ;;
*) echo "4711 4711 4711 1001" ;;
esac
"""


@pytest.fixture
def owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlurmOwners]:
    (tmp_path / "squeue").write_text(SQUEUE)
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    owners = SlurmOwners(["beta", "gamma"])
    yield owners
    owners.close()


def test_the_same_number_has_an_owner_in_each_cluster(owners: SlurmOwners) -> None:
    wait_for(lambda: owners.owner_of("4711") == 1001)
    wait_for(lambda: owners.owner_of("beta/4711") == 1002)
    wait_for(lambda: "knows no job" in str(owners.owner_of("beta/12")))


def test_a_cluster_that_is_away_keeps_no_other_from_answering(owners: SlurmOwners) -> None:
    wait_for(lambda: "Unable to contact" in str(owners.owner_of("gamma/4711")))
    wait_for(lambda: owners.owner_of("beta/4711") == 1002)


@pytest.mark.parametrize("job", ["delta/4711", "/4711", "beta", "beta/../4711", "beta/--me"])
def test_a_job_of_no_known_cluster_has_no_owner(owners: SlurmOwners, job: str) -> None:
    wait_for(lambda: isinstance(owners.owner_of(job), str))

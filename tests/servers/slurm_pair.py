"""A real Slurm with two controllers, each with a host name and an address of its own on loopback: a primary and its backup."""

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import until

from .slurm import Slurm, end, find

PRIMARY, BACKUP = "primary", "backup"
_ADDRESSES = {PRIMARY: "127.0.0.1", BACKUP: "127.0.0.2"}
_TIMEOUT_S = 4
"""Seconds after which the backup takes over."""


class SlurmPair(Slurm):
    """Two controllers. Each looks itself up by its host name, so each has one, and a hosts file, in namespaces of its own."""

    def __init__(self, root: Path) -> None:
        hosts = [f"{name}({address})" for name, address in _ADDRESSES.items()]
        super().__init__(root, more=f"SlurmctldTimeout={_TIMEOUT_S}", controllers=hosts)
        names = "".join(f"{address} {name}\n" for name, address in _ADDRESSES.items())
        (root / "hosts").write_text(f"127.0.0.1 localhost\n{names}")
        # The one that finds the other's process id in its file ends it.
        own = self.configuration.read_text().replace("run/slurmctld.pid", "run/backup.pid")
        (root / "backup.conf").write_text(own.replace("log/slurmctld.log", "log/backup.log"))

    def launch_controller(self) -> None:
        """Start the primary, and once it answers its backup."""
        self._launch(PRIMARY, self.configuration)
        self._until("(primary) at primary is UP")
        self._launch(BACKUP, self.root / "backup.conf")
        self._until("(backup) at backup is UP")

    def start_primary(self) -> None:
        """Start the primary again: it takes over from the backup."""
        self._launch(PRIMARY, self.configuration)
        self._until("(primary) at primary is UP")

    def wait_saved(self) -> None:
        """Wait until the state that a backup would go on from knows of all that has happened so far."""
        now = time.time()
        self.submit("true", "--hold")  # a change, so that it is saved once more
        deadline = time.monotonic() + 60
        while (self.root / "state" / "job_state").stat().st_mtime <= now:
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.1)

    def kill_primary(self) -> None:
        """End the primary as a power failure would."""
        end(self.root / "run" / "slurmctld.pid", signal.SIGKILL)

    def _launch(self, name: str, configuration: Path) -> None:
        script = 'mount --bind "$1" /etc/hosts && hostname "$2" && exec "$3" -f "$4"'
        arguments = [str(self.root / "hosts"), name, find("slurmctld"), str(configuration)]
        self.daemon([find("unshare"), "--uts", "--mount", "sh", "-c", script, "sh", *arguments])

    def _until(self, said: str) -> None:
        until(lambda: said in self.run("scontrol", "ping", check=False), shown=lambda: f"see {self.root}/log")


@contextmanager
def running() -> Iterator[SlurmPair]:
    """Start a cluster with two controllers, and end it."""
    allowed = subprocess.run([find("unshare"), "--uts", "--mount", "true"], capture_output=True, text=True, check=False)
    if allowed.returncode != 0:
        pytest.skip(
            f"two controllers need host names of their own, and may not have them here: {allowed.stderr.strip()}"
        )
    root = Path(tempfile.mkdtemp(prefix="slurm-pair-"))
    cluster = SlurmPair(root)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(root, ignore_errors=True)

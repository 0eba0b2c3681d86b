"""Two real Slurm clusters that know each other by name: one MariaDB, one slurmdbd and one munged for both, all on loopback."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.servers import free_port

from .slurm import Slurm, end, find

LOCAL, OTHER = "alpha", "beta"
HOW = "Install it with: apt-get install slurmdbd mariadb-server (tests/servers/install.sh does)"

_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}
AccountingStoragePass={munge}
"""

_DATABASE_DAEMON = """\
AuthType=auth/munge
AuthInfo=socket={munge}
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
PidFile={root}/slurmdbd.pid
LogFile={root}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
"""


_QUICK = (
    *("--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"),
    *("--innodb-file-per-table=0", "--innodb-log-file-size=4M", "--innodb-buffer-pool-size=32M"),
)
"""slurmdbd makes some hundred tables, and nothing of that need outlast the machine."""


class SlurmClusters:
    """Two running clusters. Seen from `local`, `other` is one of another name; the numbers of their jobs both begin with 1."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._port, self._database_port = free_port(), free_port()
        for name in (LOCAL, OTHER, "database"):
            (root / name).mkdir()
        root.chmod(0o755)
        munge = root / LOCAL / "run" / "munge.sock"
        more = _ACCOUNTING.format(port=self._port, munge=munge)
        self.local = Slurm(root / LOCAL, name=LOCAL, nodes=("n1", "n2"), more=more)
        self.other = Slurm(root / OTHER, name=OTHER, nodes=("m1", "m2"), more=more, munge=munge)
        self._database: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start all daemons and return when every node is idle."""
        self.local.start_munge()
        self._start_database()
        self._start_database_daemon()
        for cluster in (self.local, self.other):
            self.local.run("sacctmgr", "--immediate", "add", "cluster", cluster.name)
            cluster.start(munge=False)
            self._wait(f"the cluster {cluster.name}", partial(self._is_known, cluster.name))

    def stop(self) -> None:
        """End everything, munged last."""
        self.other.stop()
        end(self._root / "slurmdbd.pid")
        self.local.stop()
        if self._database:
            self._database.terminate()
            self._database.wait(20)

    def same_number(self, script: str, *options: str) -> str:
        """Submit a script to both, until both have given it the same number; return that. Jobs of other numbers are cancelled."""
        mine, theirs = self.local.submit(script, *options), self.other.submit(script, *options)
        while mine != theirs:
            if int(mine) < int(theirs):
                self.local.run("scancel", mine)
                mine = self.local.submit(script, *options)
            else:
                self.other.run("scancel", theirs)
                theirs = self.other.submit(script, *options)
        return mine

    def _is_known(self, name: str) -> bool:
        """True once slurmdbd can say where a cluster's controller is."""
        return "is UP" in self.local.run("scontrol", f"--clusters={name}", "ping", check=False)

    def _start_database(self) -> None:
        directory = self._root / "database"
        user = "mysql" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            shutil.chown(directory, user)
        # Not every host lets another user write to /tmp.
        where = ["--no-defaults", f"--datadir={directory}/data", f"--tmpdir={directory}", f"--user={user}"]
        made = subprocess.run(
            [find("mariadb-install-db", HOW), *where, *_QUICK, "--skip-test-db", "--skip-name-resolve"],
            check=False,
            capture_output=True,
            text=True,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        setup = directory / "setup.sql"
        # A statement a line.
        setup.write_text(
            "CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm';\nGRANT ALL ON slurm.* TO slurm@'127.0.0.1';\n"
        )
        listen = ["--bind-address=127.0.0.1", f"--port={self._database_port}", f"--socket={directory}/socket"]
        quick = [*_QUICK, "--skip-log-bin", "--skip-name-resolve", f"--init-file={setup}"]
        with (directory / "log").open("ab") as log:
            command = [find("mariadbd", HOW), *where, *listen, *quick]
            self._database = subprocess.Popen(command, stdout=log, stderr=log)
        self._wait("MariaDB", lambda: _answers(self._database_port))

    def _start_database_daemon(self) -> None:
        # It looks for its configuration beside slurm.conf.
        configuration = self.local.root / "slurmdbd.conf"
        configuration.write_text(
            _DATABASE_DAEMON.format(
                munge=self.local.munge,
                port=self._port,
                user=pwd.getpwuid(os.geteuid()).pw_name,
                root=self._root,
                database=self._database_port,
            )
        )
        configuration.chmod(0o600)
        self.local.daemon([find("slurmdbd", HOW)])
        self._wait("slurmdbd", lambda: _answers(self._port))

    def _wait(self, what: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not ready():
            assert time.monotonic() < deadline, f"{what} is not ready: see {self._root}"
            time.sleep(0.05)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@contextmanager
def running() -> Iterator[SlurmClusters]:
    """Start both clusters, and end them."""
    for name in ("slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db"):
        find(name, HOW)
    # In memory where that can be: on a busy disk the database's tables alone take a minute.
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="slurm-clusters-", dir=memory if memory.is_dir() else None))
    clusters = SlurmClusters(root)
    try:
        clusters.start()
        yield clusters
    finally:
        clusters.stop()
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def slurm_clusters() -> Iterator[SlurmClusters]:
    """Two clusters for the whole session of tests."""
    with running() as clusters:
        yield clusters

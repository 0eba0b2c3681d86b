"""A real Slurm on loopback: munge, slurmctld and three slurmd of 16 CPUs and 2 GPUs (8 shards) each.

No systemd, no cgroups. Daemons and jobs all run as whoever runs the tests, so that jobs find the Python that runs the tests, too.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import free_port, require

NODES = ("n1", "n2", "n3")
SHARDS_PER_GPU = 4
HOW = "Install it with: apt-get install slurm-wlm munge (tests/servers/install.sh does)"

_CONFIGURATION = """\
ClusterName={cluster}
{controllers}
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={munge},cred_expire=5
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/run/slurmctld.pid
SlurmdPidFile={root}/run/slurmd-%n.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdLogFile={root}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu,shard
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MinJobAge={min_job_age}
SlurmdTimeout={slurmd_timeout}
SchedulerParameters=sched_interval=2,batch_sched_delay=0,bf_interval=1
JobFileAppend=1
{more}
{nodes}
PartitionName=p Nodes={names} Default=YES
PartitionName=urgent Nodes={names} PriorityTier=10
PartitionName=hidden Nodes={names} Hidden=YES
"""

_NODE = "NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory=4000 Gres=gpu:2,shard:8"
_GRES = "AutoDetect=off\nName=gpu File=/dev/tty[0-1]\nName=shard Count=8\n"


class Slurm:
    """A running cluster. `configuration` is what SLURM_CONF names; `directory` is a place where jobs may write."""

    def __init__(
        self,
        root: Path,
        min_job_age: int = 300,
        slurmd_timeout: int = 300,
        cpus: int = 16,
        *,
        name: str = "test",
        nodes: Sequence[str] = NODES,
        more: str = "",
        munge: Path | None = None,
        controllers: Sequence[str] = ("localhost(127.0.0.1)",),
    ) -> None:
        self.root = root
        self.name = name
        self.nodes = tuple(nodes)
        self._munge = munge
        self.configuration = root / "slurm.conf"
        self.directory = root / "jobs"
        self._user = pwd.getpwuid(os.geteuid()).pw_name
        ports = [free_port() for _ in range(len(nodes) + 1)]
        lines = [_NODE.format(name=name, port=port, cpus=cpus) for name, port in zip(nodes, ports[1:], strict=True)]
        for directory in ("run", "state", "spool", "log", "jobs"):
            (root / directory).mkdir()
        self.configuration.write_text(
            _CONFIGURATION.format(
                controllers="\n".join(f"SlurmctldHost={host}" for host in controllers),
                port=ports[0],
                user=self._user,
                root=root,
                munge=self.munge,
                cluster=name,
                more=more,
                nodes="\n".join(lines),
                names=",".join(nodes),
                min_job_age=min_job_age,
                slurmd_timeout=slurmd_timeout,
            )
        )
        (root / "gres.conf").write_text(_GRES)
        key = root / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        root.chmod(0o755)

    @property
    def munge(self) -> Path:
        """The socket of the munged that this cluster believes."""
        return self._munge or self.root / "run" / "munge.sock"

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which Slurm's commands find this cluster."""
        return os.environ | {"SLURM_CONF": str(self.configuration)}

    def run(self, *command: str, check: bool = True) -> str:
        """Run one of Slurm's commands and return what it printed."""
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def submit(self, script: str, *options: str) -> str:
        """Submit a shell script as a batch job and return the job's id."""
        return self.run("sbatch", "--parsable", *options, f"--wrap={script}").strip()

    def fields(self, job: str) -> dict[str, str]:
        """Return what `scontrol show job` says, read word by word (good enough for names without spaces)."""
        words = self.run("scontrol", "-d", "-o", "show", "job", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def wait(self, job: str, *states: str, seconds: float = 60) -> dict[str, str]:
        """Return the job's fields once it is in one of `states`."""
        deadline = time.monotonic() + seconds
        while (fields := self.fields(job))["JobState"] not in states:
            assert time.monotonic() < deadline, f"expected job {job} in {states}, it is {fields}\n{self.log()}"
            time.sleep(0.05)
        return fields

    def log(self, name: str = "slurmctld.log", lines: int = 60) -> str:
        """Return the end of a daemon's log: the controller's where none is named."""
        return "\n".join((self.root / "log" / name).read_text().splitlines()[-lines:])

    def start(self, *, munge: bool = True) -> None:
        """Start all daemons, munged only where `munge` is true, and return when every node is idle."""
        if munge:
            self.start_munge()
        self.launch_controller()
        for name in self.nodes:
            self.start_node(name)
        deadline = time.monotonic() + 20
        while self.run("sinfo", "-h", "-N", "-p", "p", "-o", "%T", check=False).split() != ["idle"] * len(self.nodes):
            assert time.monotonic() < deadline, f"Slurm is not ready: see {self.root}/log"
            time.sleep(0.05)

    def start_munge(self) -> None:
        """Start munged alone."""
        run = self.root / "run"
        munge = ["--force", f"--key-file={self.root}/munge.key", f"--socket={self.munge}"]
        munge += [f"--pid-file={run}/munged.pid", f"--log-file={self.root}/log/munged.log"]
        self.daemon([find("munged"), *munge, f"--seed-file={self.root}/munge.seed"])

    def start_node(self, name: str) -> None:
        """Start the slurmd of a node."""
        self.daemon([find("slurmd"), "-N", name, "-f", str(self.configuration)])

    def stop(self) -> None:
        """End all jobs, then the daemons, by their pid files."""
        if (self.root / "run" / "slurmctld.pid").exists():
            self.run("scancel", "--full", f"--user={self._user}", check=False)
            deadline = time.monotonic() + 5
            while self.run("squeue", "-h", "-o", "%i", check=False).strip() and time.monotonic() < deadline:
                time.sleep(0.05)
        for pid_file in sorted((self.root / "run").glob("*.pid"), key=lambda path: "munged" in path.name):
            end(pid_file)

    def controller_pid(self) -> int:
        """Return the process of slurmctld."""
        return int((self.root / "run" / "slurmctld.pid").read_text())

    def stop_controller(self) -> None:
        """End slurmctld only, as an outage would."""
        end(self.root / "run" / "slurmctld.pid")

    def start_controller(self) -> None:
        """Start slurmctld again on its saved state."""
        self.launch_controller()
        deadline = time.monotonic() + 20
        while "is UP" not in self.run("scontrol", "ping", check=False):
            assert time.monotonic() < deadline, f"slurmctld is not ready: see {self.root}/log"
            time.sleep(0.05)

    def launch_controller(self) -> None:
        """Start slurmctld, and do not wait for it."""
        self.daemon([find("slurmctld"), "-f", str(self.configuration)])

    def daemon(self, command: Sequence[str]) -> None:
        """Run a command that leaves a daemon behind."""
        done = subprocess.run(command, env=self.environment, cwd=self.root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def find(name: str, how: str = HOW) -> str:
    """Return the path of a program, which may stand where only root looks."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    require(found is not None, name, how)
    assert found
    return found


def end(pid_file: Path, *ways: signal.Signals) -> None:
    """End the daemon that a pid file names, and wait for it: gently first, then by force, unless `ways` says how."""
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return
    for way in ways or (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + 5
        try:
            os.kill(pid, way)
            while time.monotonic() < deadline:
                if _is_zombie(pid):
                    return
                os.kill(pid, 0)
                time.sleep(0.02)
        except ProcessLookupError:
            return


def _is_zombie(pid: int) -> bool:
    """True for a process that has ended and whose parent (init, in a container) does not collect it."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (OSError, IndexError):
        return False


@contextmanager
def running(min_job_age: int = 300, slurmd_timeout: int = 300, cpus: int = 16) -> Iterator[Slurm]:
    """Start a cluster, and end it.

    Args:
        min_job_age: Seconds after which it forgets a job that is over.
        slurmd_timeout: Seconds after which a node that does not answer is down.
        cpus: CPUs of each node: Slurm believes it.
    """
    for name in ("munged", "slurmctld", "slurmd", "scontrol"):
        find(name)
    root = Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = Slurm(root, min_job_age, slurmd_timeout, cpus)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    """One cluster for the whole session of tests; every test submits jobs of its own."""
    with running() as cluster:
        yield cluster

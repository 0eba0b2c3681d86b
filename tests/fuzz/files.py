"""Targets of files that an operator, or somebody for them, wrote: settings, signatures, keys, traces."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processors.diagnose.catalogue.entry import InvalidSignature
from processors.diagnose.catalogue.load import load as load_signatures
from schedmate.settings.settings import SettingsError
from schedmate.settings.settings import load as load_settings
from schedmate.simulate.interference import read_packed_speeds
from schedmate.simulate.traces import read_estimates, read_jobs, read_nodes
from schedmate_records import Decision, InvalidRecord, Position, UserError
from scheduler_bridge.act_keys import read_keys
from scheduler_bridge.schedulers.slurm.client.kept_jobs import KeptJobs
from scheduler_bridge.signing import SigningKeyError, SigningKeys
from streams.accept import accept
from streams.transport import Message

from .targets import target, text, write


@target(
    "schedmate/settings/test_settings.py",
    raises=SettingsError,
    more=lambda: [b'[kafka]\nbrokers = "a:1"\n[web]\nport = 1\n'],
)
def settings_file(data: bytes) -> None:
    """A settings file."""
    with tempfile.TemporaryDirectory() as place:
        load_settings(write(Path(place) / "schedmate.toml", data))


_SIGNATURE = b"""[[signature]]
name = "license_lost"
pattern = 'license server \\S+ does not respond \\(-\\d+\\)'
kind = "node"
error_type = "infrastructure"
component = "node"
restartable = true
confidence = 0.7
action = "Look at the licence server."
source = "a handbook"
example = "license server lic1:27000 does not respond (-96)"
counter = "license server lic1:27000 answered after 3 s"
"""


@target(
    "processors/diagnose/test_catalogue.py", "processors/classify", raises=InvalidSignature, more=lambda: [_SIGNATURE]
)
def signature_file(data: bytes) -> None:
    """A file of failure signatures."""
    with tempfile.TemporaryDirectory() as place:
        load_signatures([write(Path(place) / "mine.toml", data)])


@target("scheduler_bridge/test_signing.py", raises=SigningKeyError, more=lambda: [b"# keys\na " + b"0" * 64 + b"\n"])
def signing_keys(data: bytes) -> None:
    """A file of signing keys."""
    with tempfile.TemporaryDirectory() as place:
        SigningKeys.read(write(Path(place) / "keys", data))


@target("scheduler_bridge/test_signing.py", "scheduler_bridge/test_ledger.py", raises=InvalidRecord, more=lambda: [
    b'{"id": "a", "action": "restart", "job": "7", "time": 1, "expires": 2, "mode": "act", "policy": "p", "reason": "r", "cause_id": "i"}',
])  # fmt: skip
def signed_decision(data: bytes) -> None:
    """A decision that anybody may have written: no signature fits it but that of the key."""
    keys = SigningKeys({"k": b"0" * 64})
    found = accept(Message(Position("decisions", 0, 1), b"7", data, 1e9))
    assert isinstance(found, Decision)
    assert not keys.verifies(found)
    assert keys.verifies(keys.sign(found))


@target("scheduler_bridge/test_effects.py")
def job_comment(data: bytes) -> None:
    """The comment of a job, in which acts are noted."""
    read_keys(text(data))


@target("scheduler_bridge/schedulers/slurm/client/test_kept_jobs.py", more=lambda: [b"{}"])
def kept_job(data: bytes) -> None:
    """A job that the watcher kept on disk."""
    with tempfile.TemporaryDirectory() as place:
        write(Path(place) / "7.json", data)
        KeptJobs(Path(place)).get("7")


_TRACES: tuple[Callable[[Path], Any], ...] = (
    read_jobs,
    read_nodes,
    read_estimates,
    read_packed_speeds,
)


@target("schedmate/simulate/traces/test_trace.py", "schedmate/simulate/test_workloads.py", more=lambda: [
    b"job_id,submit_time,gpu_num,duration,user\na,1,2,3,u\n", b"node,gpus\nn1,8\n", b"job_id,estimate_s\na,5\n",
])  # fmt: skip
def trace_file(data: bytes) -> None:
    """A trace of jobs, nodes, estimates or speeds, plain or compressed."""
    with tempfile.TemporaryDirectory() as place:
        for name in ("a.csv", "a.csv.gz", "a.json"):
            file = write(Path(place) / name, data)
            for read in _TRACES:
                with contextlib.suppress(UserError):
                    read(file)

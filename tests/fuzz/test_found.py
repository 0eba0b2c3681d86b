"""Inputs at which a target failed once."""

import gzip
import json

import pytest

from .groups import TARGETS

_DAMAGED = gzip.compress(b"step 1 loss 0.5\n" * 1000)
_DAMAGED = _DAMAGED[:20] + b"\xff" * 8 + _DAMAGED[28:]
_DEEP = b"[" * 100_000
_SPEEDS = {
    "v100": {"('a', 1)": {"null": 2.0, "('b', 1)": [], "('c', 1)": [1.0]}, "('b', 1)": {"null": 1.0}, "('c', 1)": {}}
}
FOUND = {
    "a blank line of squeue": ("slurm_commands", b"\n7 7 7\n"),
    "a digit that is none of ASCII": ("slurm_commands", "7 7 7 \u0667\n".encode()),
    "a watch that is no UTF-8": ("kubernetes_watch", b'{"type": "ADDED\xc1", "object": {}}'),
    "an object that is no UTF-8": ("kubernetes_watch", b'{"type": "ADDED", "object": {"metadata": {"uid": "\xc1"}}}'),
    "a deep object": ("kubernetes_watch", b'{"type": "ADDED", "object": {"metadata": {"uid": "a"}, "spec": ' + _DEEP),
    "a deep answer of Ray": ("ray_answers", b'[{"a": ' + _DEEP),
    "a deep list of jobs": ("slurm_json", b'{"jobs": ' + _DEEP),
    "a deep request of OpenTelemetry": ("otlp_request", b'{"resourceLogs": [], "a": ' + _DEEP),
    "a deep entry of the journal": ("journal_entries", b'{"a": ' + _DEEP),
    "a deep checkpoint": ("collector_checkpoint", b'{"a": ' + _DEEP),
    "deep settings": ("settings_file", b"a = " + _DEEP),
    "deep signatures": ("signature_file", b"signature = " + _DEEP),
    "a deep job that was kept": ("kept_job", b'{"a": ' + _DEEP),
    "a damaged log": ("stored_log", _DAMAGED),
    "a damaged trace": ("trace_file", _DAMAGED),
    "speeds of one job, and of none": ("trace_file", gzip.compress(json.dumps(_SPEEDS).encode())),
}


@pytest.mark.parametrize("what", FOUND)
def test_an_input_that_failed_once(what: str) -> None:
    name, data = FOUND[what]
    TARGETS[name].check(data)

"""A node's kernel and system log, to findings."""

import re
from collections.abc import Sequence

from processors.diagnose import kinds
from processors.diagnose.catalogue import Signature
from processors.diagnose.matcher import READ, Matcher
from processors.view import QUOTE
from records import Evidence, NodeLogChunk, Position

from .finding import Finding

TOLD = frozenset({kinds.NODE, kinds.DEVICE, kinds.FABRIC, kinds.STORAGE, kinds.PEER})
"""Kinds of lines that say something of the node. What programs print of themselves is not among them."""

_JOB = re.compile(r"\bjob_(\d{1,12})\b|\bslurm-(\d{1,12})\b|\bpod([0-9a-f-]{36})\b")
"""How control groups name a job (Slurm, systemd scopes, Kubernetes)."""


class NodeLogReader:
    """Reads chunks of node logs with the same catalogue as jobs' logs. Holds the template cache, nothing of any node."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._matcher = Matcher([one for one in signatures if one.kind in TOLD or one.kind == kinds.BENIGN])

    def read(self, chunk: NodeLogChunk, position: Position) -> list[Finding]:
        """Return what the lines of `chunk`, which stands at `position`, tell."""
        found = []
        for index, matches in enumerate(self._matcher.find(chunk.lines)):
            line = chunk.lines[index]
            one = self._matcher.signature(matches, line) if matches else None
            if one is None or one.kind == kinds.BENIGN:
                continue
            place = Evidence(
                topic=position.topic,
                partition=position.partition,
                offset=position.offset,
                line=chunk.first_line + index,
                text=line.strip("\r\n")[:QUOTE],
                stream=chunk.source,
            )
            after_ms = chunk.after_ms[index] if index < len(chunk.after_ms) else 0
            found.append(Finding.of(one, chunk.node, chunk.time + after_ms / 1000, place, jobs=_jobs(line)))
        return found


def _jobs(line: str) -> list[str]:
    return [number for found in _JOB.finditer(line[:READ]) for number in found.groups() if number]

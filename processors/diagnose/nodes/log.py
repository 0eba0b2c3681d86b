"""A node's kernel and system log, to findings."""

import re
from collections.abc import Sequence

from schedmate_records import Evidence, NodeFinding, Position

from ...classified_chunk import QUOTE
from ...new_lines import NewLines
from .. import kinds
from ..catalogue import Signature
from ..matcher import READ, Matcher
from .finding import of_signature

TOLD = frozenset(
    {kinds.NODE, kinds.DEVICE, kinds.STALL, kinds.FAULT, kinds.FABRIC, kinds.STORAGE, kinds.PEER, kinds.WARNING}
)
"""Kinds of lines that say something of the node. What programs print of themselves is not among them."""

HARMLESS = frozenset({kinds.BENIGN, kinds.RETRY, kinds.GOES_ON})
"""Kinds of lines that look like those, and say that it is nothing."""

_JOB = re.compile(
    r"\bjob_(\d{1,12})\b|\bslurm-(\d{1,12})\b|\bpod([0-9a-f-]{36})\b|/(s[0-9A-HJKMNP-TV-Z]{13})(?=[/,\s]|$)", re.ASCII
)
"""How control groups name a job (Slurm; systemd scopes; Kubernetes; Slurm since 26.05, by the SLUID of its run)."""

_CHOSEN_BY_USERS = re.compile(r",task=.*|\bname=.*|\b[Pp]rocess \d+ ?\(.*", re.DOTALL)
"""Where the kernel and drivers print the name of a program, which its user chooses, and what follows it."""


class NodeLogReader:
    """Reads lines of node logs with the same catalogue as jobs' logs. Holds the template cache, nothing of any node."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._matcher = Matcher([one for one in signatures if one.kind in TOLD | HARMLESS])

    def read(
        self, node: str, source: str, fresh: NewLines, position: Position, masked: Sequence[str] | None = None
    ) -> list[NodeFinding]:
        """Return what the lines `fresh` of a chunk at `position` tell; `source` is `kernel` or `system`.

        `masked` are their templates, where they are known already.
        """
        told = []
        for index, matches in enumerate(self._matcher.find(fresh.lines, masked)):
            line = fresh.lines[index]
            one = self._matcher.signature(matches, line) if matches else None
            if one is None or one.kind in HARMLESS:
                continue
            place = Evidence(
                topic=position.topic,
                partition=position.partition,
                offset=position.offset,
                line=fresh.numbers[index],
                text=line.strip("\r\n")[:QUOTE],
                stream=source,
            )
            told.append(of_signature(one, line[:READ], node, fresh.times[index], place, None, _jobs(line)))
        return told


def _jobs(line: str) -> list[str]:
    found = _JOB.finditer(_CHOSEN_BY_USERS.sub("", line[:READ]))
    return list(dict.fromkeys(name for names in found for name in names.groups() if name))

"""Reads a node's kernel and system log for findings."""

import re
from collections.abc import Sequence

from schedmate_records import Evidence, NodeFinding, Position

from ...classified_chunk import QUOTE
from ...new_lines import NewLines
from ..catalogue import Signature
from ..kinds import Kind
from ..matcher import MAX_CHARACTERS, Matcher
from .finding import finding_from_signature

REPORTED = frozenset(
    {Kind.NODE, Kind.DEVICE, Kind.STALL, Kind.FAULT, Kind.FABRIC, Kind.STORAGE, Kind.PEER, Kind.WARNING}
)
"""Kinds of lines that make a finding. What programs print of themselves is not among them."""
HARMLESS = frozenset({Kind.BENIGN, Kind.RETRY, Kind.GOES_ON})
"""Kinds of lines that look like those and are harmless."""
_PATTERNS = {
    "job": re.compile(
        r"\bjob_(\d{1,12})\b|\bslurm-(\d{1,12})\b|\bpod([0-9a-f-]{36})\b|/(s[0-9A-HJKMNP-TV-Z]{13})(?=[/,\s]|$)",
        re.ASCII,
    ),
    "chosen_by_users": re.compile(r",task=.*|\bname=.*|\b[Pp]rocess \d+ ?\(.*", re.DOTALL),
}
"""Names of a job in control groups (Slurm; systemd scopes; Kubernetes; Slurm since 26.05, by its SLUID); the name of a program, which its
user
chooses, and what follows it."""


class NodeLogReader:
    """Reads lines of node logs with the catalogue of jobs' logs. Holds the cache of templates, no state of a node."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._matcher = Matcher([one for one in signatures if one.kind in REPORTED | HARMLESS])

    def read(
        self, node: str, source: str, fresh: NewLines, position: Position, masked: Sequence[str] | None = None
    ) -> list[NodeFinding]:
        """Return the findings in the lines `fresh` of a chunk at `position`; `source` is `kernel` or `system`.

        `masked` are their templates, where they are known.
        """
        findings = []
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
            line = line[:MAX_CHARACTERS]
            findings.append(finding_from_signature(one, line, node, fresh.times[index], place, jobs=_jobs(line)))
        return findings


def _jobs(line: str) -> list[str]:
    found = _PATTERNS["job"].finditer(_PATTERNS["chosen_by_users"].sub("", line))
    return list(dict.fromkeys(name for names in found for name in names.groups() if name))

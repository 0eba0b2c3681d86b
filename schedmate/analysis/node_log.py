"""Stored kernel and system logs: recognises them, and collects the findings on their node."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from processors.diagnose.catalogue import Signature
from processors.diagnose.nodes import NodeLogReader
from processors.new_lines import Numbering, deduplicate
from schedmate_records import LogChunk, NodeFinding, Position

_SPEAKERS = (
    r"kernel|systemd[\w-]*|slurm\w+|sshd|nvidia[\w-]*|nv-[\w-]+|opensm|openibd|chronyd|ntpd|dbus[\w-]*|NetworkManager|CRON|crond|irqbalance|"
    r"containerd|dockerd|kubelet|smartd|rasdaemon|mcelog|ipmi\w*|multipathd?|audit\w*|rsyslogd|udevadm|lctl|mmfsd?"
)
_FORMS = re.compile(
    r"(?:<\d{1,3}>)?(?:"
    r"\[ *\d+\.\d{6}\] "  # dmesg
    r"|\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}\] "  # dmesg -T
    r"|(?:kern|daemon|user|syslog|auth) +:\w+ *: \["  # dmesg -x
    r"|\d+,\d+,\d+,[-\w=,]+;"  # /dev/kmsg
    r"|(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)) "  # journal, syslog
    rf"\S+ (?:{_SPEAKERS})(?:\[\d+\])?: "
    r")"
)


def is_node_log(lines: Sequence[str]) -> bool:
    """Return whether a log that begins with `lines` is a node's kernel or system log (dmesg, /dev/kmsg, journal, syslog)."""
    # The first 200 lines show what the log is: in a node's log, 80 % have the form of a kernel's or a daemon's.
    looked_at = [line for line in lines[:200] if line.strip() and not line.startswith((" ", "-- "))]
    return bool(looked_at) and sum(_FORMS.match(line) is not None for line in looked_at) >= 0.8 * len(looked_at)


@dataclass
class Sign:
    """One kind of finding: its first line, its last line, and the number of lines."""

    first: NodeFinding
    last_line: int
    times: int = 1

    def contract(self) -> dict[str, Any]:
        """Return it as the JSON of `analyze --format json`."""
        one = self.first
        return {
            "signature": one.signature,
            "severity": one.severity,
            "error_type": one.error_type,
            "component": one.component,
            "device": one.device or None,
            "jobs": one.jobs,
            "line": one.place.line,
            "text": one.place.text,
            "last_line": self.last_line,
            "times": self.times,
        }


class NodeLog:
    """Collects the findings in the chunks of one stored node log, in the order of their first lines."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._reader = NodeLogReader(signatures)
        self._numbering = Numbering()
        self._signs: dict[tuple[str, str, tuple[str, ...]], Sign] = {}

    @property
    def signs(self) -> list[Sign]:
        """Findings so far."""
        return list(self._signs.values())

    def read(self, chunk: LogChunk, position: Position) -> None:
        """Take the next chunk of the file."""
        for one in self._reader.read("", "kernel", deduplicate(chunk, self._numbering), position):
            key = (one.signature, one.device, tuple(one.jobs))
            known = self._signs.get(key)
            if known is not None:
                known.times, known.last_line = known.times + 1, one.place.line
            # A thousand different findings are far more than `report` shows; the rest is a flood.
            elif len(self._signs) < 1000:
                self._signs[key] = Sign(one, one.place.line)

"""The messages that a pipe writes, made without a library. The structures are those of `records`, and the tests hold the two together.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import json

from ..producer import Outgoing

LOGS, EVENTS = "job-logs", "pipe-events"
PRODUCER, PIPE = "producer", "pipe"
STARTED, ENDED, LINES_LOST = "started", "ended", "lines_lost"
RANK_STARTED, RANK_ENDED = "rank_started", "rank_ended"


def log_chunk(**fields: object) -> Outgoing:
    """Return a `LogChunk`."""
    return _message(LOGS, fields)


def job_event(**fields: object) -> Outgoing:
    """Return a `JobEvent`."""
    return _message(EVENTS, fields)


def _message(topic: str, fields: dict[str, object]) -> Outgoing:
    # Names and command lines may hold bytes that are no text.
    value = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Outgoing(topic, str(fields["job"]).encode("utf-8", "replace"), value)

"""The keys of acts, as a scheduler stores them on the jobs and nodes that they changed.

The bridge remembers its acts in Kafka. If that memory is lost, a finding that is read again makes the same decision, with the same
id. Its key, found at the scheduler, shows that it was carried out before. Keys are in a field that users cannot write.
"""

import hashlib
import re

from schedmate_records import Decision

_KEYS = re.compile(r"\bschedmate:([a-z_]+/[0-9a-f]{16}(?:,[a-z_]+/[0-9a-f]{16})*)", re.ASCII)


def act_key(decision: Decision) -> str:
    """Return the key of what a decision does: its action, and a digest of its id."""
    return f"{decision.action}/{hashlib.blake2b(decision.id.encode(), digest_size=8).hexdigest()}"


def read_keys(comment: str) -> tuple[str, ...]:
    """Return the keys in a comment, the oldest first."""
    found = _KEYS.search(comment)
    return tuple(found[1].split(",")) if found else ()


def add_key(comment: str, key: str) -> str:
    """Return a comment with one key more. What others wrote there stays."""
    # The newest keys of one job or node: more than it has acts within the life of a decision.
    keys = [*(one for one in read_keys(comment) if one != key), key][-8:]
    return f"{_KEYS.sub('', comment).strip()} schedmate:{','.join(keys)}".strip()

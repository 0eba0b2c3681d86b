"""Decisions signed by a key that the operator gives to those who may decide: HMAC-SHA-256 (RFC 2104), with the key's id before it.

Where a bridge has keys, it carries out only what one of them signed, whatever may write to the topic.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from schedmate_records import Decision, UserError

LEAST = 32
"""Characters of a secret at least: what `openssl rand -hex 16` prints."""
_LINE = re.compile(r"([A-Za-z0-9._-]{1,64})\s+(\S+)", re.ASCII)


class SigningKeyError(UserError):
    """A file of keys that cannot be used."""


def signed_bytes(decision: Decision) -> bytes:
    """Return what is signed: the fields that define the action, each as a netstring (`LENGTH:BYTES,`), one after the other.

    In this order: `schedmate-decision-1`, id, action, job, node, attempt, incarnation, time, expires, mode, policy, reason, cause,
    cause_id, the number of excluded nodes and each of them, node_evidence (0 or 1), grace_s, checkpoint, beneficiary. Numbers are written
    in decimal, seconds as whole milliseconds. The evidence is left out: it is quoted for people.
    """
    fields = [
        "schedmate-decision-1",
        decision.id,
        decision.action.value,
        decision.job,
        decision.node,
        str(decision.attempt),
        decision.incarnation,
        str(round(decision.time * 1000)),
        str(round(decision.expires * 1000)),
        decision.mode.value,
        decision.policy,
        decision.reason,
        decision.cause,
        decision.cause_id,
        str(len(decision.exclude_nodes)),
        *decision.exclude_nodes,
        str(int(decision.node_evidence)),
        str(round(decision.grace_s * 1000)),
        decision.checkpoint,
        decision.beneficiary,
    ]
    return b"".join(
        b"%d:%b," % (len(data), data) for data in (field.encode("utf-8", "surrogatepass") for field in fields)
    )


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """Keys by id. The first one signs, all of them verify: a new one comes first, the old one stays until its decisions are over."""

    secrets: Mapping[str, bytes]

    @classmethod
    def read(cls, file: Path) -> "SigningKeys":
        """Read lines of an id and a secret; those that begin with # are left out.

        Raises:
            SigningKeyError: It cannot be read, or holds a line that is no key, or none.
        """
        try:
            lines = file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SigningKeyError(f"expected a readable file of signing keys at {file}: {error}") from error
        secrets: dict[str, bytes] = {}
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            found = _LINE.fullmatch(line.strip())
            if found is None or len(found[2]) < LEAST or found[1] in secrets:
                what = f"a unique id and a secret of at least {LEAST} characters, such as `openssl rand -hex 32` prints"
                raise SigningKeyError(f"{file}, line {number}: expected {what}")
            secrets[found[1]] = found[2].encode()
        if not secrets:
            raise SigningKeyError(f"expected signing keys in {file}, got none")
        return cls(secrets)

    def sign(self, decision: Decision) -> Decision:
        """Return the decision with a signature."""
        key = next(iter(self.secrets))
        return msgspec.structs.replace(decision, signature=f"{key}:{self._digest(key, decision)}")

    def verifies(self, decision: Decision) -> bool:
        """True where one of the keys signed the decision unchanged."""
        key, _, digest = decision.signature.partition(":")
        return key in self.secrets and hmac.compare_digest(digest.encode(), self._digest(key, decision).encode())

    def _digest(self, key: str, decision: Decision) -> str:
        return hmac.new(self.secrets[key], signed_bytes(decision), hashlib.sha256).hexdigest()

"""Notices when so many messages fail that a fault of ours is likelier than bad input.

Dead letters are for single messages. Were a faulty release to send everything there, hours of input would have to be
replayed by hand; a worker that stops repeats them by itself once it is corrected. Yet no user may stop a worker on purpose: so
the messages must be of many keys, and most of all that came.
"""

from schedmate_records import UserError

WINDOW = 1000
"""Messages that are looked at together: a few seconds of a busy worker."""


class FailingOften(UserError):
    """Most messages fail; the message states what to do."""


class FailingWatch:
    """Counts what was handled and what failed, `WINDOW` messages at a time."""

    def __init__(self) -> None:
        self._handled = self._failed = 0
        self._keys: set[str] = set()

    def failed(self, key: str) -> None:
        """Count a message of `key` that made a processor fail. Raises `FailingOften` where too many did."""
        self._failed += 1
        self._keys.add(key)
        # Half of the messages: input of one hostile user among many is less.
        # 20 keys are more jobs than one user has at a time.
        if self._failed >= WINDOW * 0.5 and len(self._keys) >= 20:
            raise FailingOften(
                f"expected few messages to fail, got {self._failed} failures within {WINDOW} messages, of {len(self._keys)} jobs or "
                "nodes: a fault of this release is likelier than bad input. Nothing is lost: go back to the previous release, or fix "
                "it, and start again"
            )

    def handled(self, messages: int) -> None:
        """Count messages that were dealt with, those that failed included."""
        self._handled += messages
        if self._handled >= WINDOW:
            self._handled = self._failed = 0
            self._keys.clear()

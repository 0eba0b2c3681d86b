"""Whether a log is text. The analysis of other bytes must not report that there is no failure."""

from collections.abc import Sequence

# Terminals take tabs, redraws, colours and changes of the character set.
_CONTROLS = bytes(each for each in (*range(3, 32), 127) if each not in b"\a\b\t\n\v\f\r\x0e\x0f\x1b")
"""Not 1 and 2, with which Docker's raw streams begin each line."""


class Legibility:
    """Counts properties of text and of other bytes in the lines of one log."""

    def __init__(self) -> None:
        self._read = self._visible = False
        self._size = self._controls = 0

    def read(self, lines: Sequence[str]) -> None:
        r"""Take the next lines of the log, as the pieces of a stream stand in chunks: bytes that are not UTF-8 as `\\xNN`."""
        data = "".join(lines).encode().translate(None, b"\0")
        self._read = self._read or bool(lines)
        self._visible = self._visible or bool(data.strip())
        self._size += len(data) - 3 * data.count(b"\\x")
        self._controls += len(data) - len(data.translate(None, _CONTROLS))

    @property
    def problem(self) -> str:
        """The reason why the log is no text; empty if it is."""
        if not self._read:
            return "the log is empty"
        if not self._visible:
            return "no text: nothing but blanks and NUL bytes"
        share = self._controls / max(self._size, 1)
        # Logs have no such bytes, in any encoding; random bytes, weights and compressed data have 6 to 8 in 100,
        # programs more. NUL does not count: a log that is emptied while its writer goes on begins with a hole.
        if share <= 0.05:
            return ""
        return f"no text: {share:.0%} of the bytes are control characters, as in a binary file; name the job's own log"

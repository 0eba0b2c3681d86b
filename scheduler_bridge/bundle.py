"""Evidence bundle before a node is drained or a hung job is cancelled: the decision, the scheduler's state, and lines of jobs and kernel.

One directory per decision, readable by its owner only. Its size and the number of directories are bounded. Configuration is not written.
"""

import hashlib
import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import structlog

from schedmate_records import Decision

log = structlog.get_logger(__name__)

Windows = Callable[[Decision], Mapping[str, str]]
"""Returns parts of logs around what a decision rests on, by file name."""

MAX_FILE = 1 << 20
MAX_FILES = 64  # files of one bundle; a large cluster must not fill the disk
MAX_BUNDLES = 500  # bundles that are kept; the oldest are deleted


class Bundles:
    """A directory of bundles.

    Args:
        directory: Made where it is not there.
        windows: Where parts of logs come from.
    """

    def __init__(self, directory: Path, windows: Windows = lambda _: {}) -> None:
        self._directory = directory
        self._windows = windows

    def keep(self, decision: Decision, seen: Mapping[str, str]) -> Path | None:
        """Write the bundle of a decision, and return where it is. None where it cannot be written: a full disk stops nothing.

        Args:
            decision: What is about to be done.
            seen: What was seen, by file name.
        """
        digest = hashlib.blake2b(decision.id.encode(), digest_size=8).hexdigest()
        path = self._directory / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(decision.time))}-{digest}"
        about = msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(decision, signature="")))
        parts = {"decision.json": about.decode(), **seen, **self._windows(decision)}
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, text in list(parts.items())[:MAX_FILES]:
                file = path / re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:128]
                file.touch(mode=0o600)
                file.write_bytes(text.encode(errors="replace")[-MAX_FILE:])
            self._tidy()
        except OSError as error:
            log.warning("bundle_not_kept", decision=decision.id, error=str(error))
            return None
        return path

    def _tidy(self) -> None:
        """Remove the oldest bundles where there are too many."""
        bundles = sorted(each for each in self._directory.iterdir() if each.is_dir())
        for each in bundles[:-MAX_BUNDLES]:
            shutil.rmtree(each, ignore_errors=True)

"""Answers that were given before, by model, prompt version and question; in memory, and in a file where one is named.

The file holds JSON lines, the newest last. It is written anew when it has grown to twice what is kept. One process writes a file:
workers that share a directory have files of their own.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog
from prometheus_client import Counter

from ..resilience import replace_file

log = structlog.get_logger(__name__)

Key = tuple[str, str, str, str]
"""Model, kind of question, version of the prompt, checksum of the question."""


class AnswerMetrics:
    """Metrics of remembered answers."""

    def __init__(self) -> None:
        self.remembered = Counter("schedmate_answers_remembered", "Questions answered from memory.", registry=None)
        self.unreadable = Counter(
            "schedmate_answers_unreadable", "Lines of the file that held no answer.", registry=None
        )
        self.not_written = Counter(
            "schedmate_answers_not_written", "Answers that could not be written to the file.", registry=None
        )


class AnswerStore:
    """Remembers answers; the one used longest ago goes first. Safe to be shared by threads.

    Args:
        size: Answers kept.
        file: Where they last; None keeps them in memory only.
    """

    def __init__(self, size: int = 10_000, file: Path | None = None) -> None:
        if size < 1:
            raise ValueError(f"expected room for at least 1 answer, got {size}")
        self.metrics = AnswerMetrics()
        self._size, self._file = size, file
        self._known: OrderedDict[Key, Mapping[str, Any]] = OrderedDict()
        self._lock = threading.Lock()
        self._lines = 0
        self._writable = True
        if file is not None and file.exists():
            self._load(file)

    def get(self, key: Key) -> Mapping[str, Any] | None:
        """Return the answer to `key`, or None."""
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                self.metrics.remembered.inc()
            return found

    def put(self, key: Key, content: Mapping[str, Any]) -> None:
        """Remember the answer to `key`. A file that cannot be written is logged once and counted; the answer is kept in memory."""
        with self._lock:
            self._keep(key, content)
            if self._file is None:
                return
            try:
                self._write(self._file, key, content)
            except OSError as error:
                self.metrics.not_written.inc()
                if self._writable:
                    log.warning("answers_not_written", file=str(self._file), reason=str(error))
                self._writable = False
            else:
                if not self._writable:
                    log.info("answers_written_again", file=str(self._file))
                self._writable = True

    def __len__(self) -> int:
        return len(self._known)

    def _keep(self, key: Key, content: Mapping[str, Any]) -> None:
        self._known[key] = content
        self._known.move_to_end(key)
        while len(self._known) > self._size:
            self._known.popitem(last=False)

    def _write(self, file: Path, key: Key, content: Mapping[str, Any]) -> None:
        if self._lines >= 2 * self._size:
            replace_file(file, "".join(_line(*each) for each in self._known.items()).encode())
            self._lines = len(self._known)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as out:
            out.write(_line(key, content))
        self._lines += 1

    def _load(self, file: Path) -> None:
        unreadable = 0
        with file.open(errors="replace") as lines:
            for line in lines:
                self._lines += 1
                try:
                    read = json.loads(line)
                    model, kind, version, question = map(str, read["key"])
                    content = read["answer"]
                    if not isinstance(content, dict):
                        raise TypeError("no object")
                except (ValueError, KeyError, TypeError, RecursionError):
                    unreadable += 1
                    continue
                self._keep((model, kind, version, question), content)
        if unreadable:
            self.metrics.unreadable.inc(unreadable)
            log.warning("unreadable_answers_left_out", file=str(file), lines=unreadable)


def _line(key: Key, content: Mapping[str, Any]) -> str:
    return json.dumps({"key": key, "answer": content}) + "\n"

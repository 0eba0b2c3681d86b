"""Recordings of GPU samples: written during the sampling, replayed where there is no GPU.

A recording is JSON lines, compressed where its name ends in `.gz`: a header that names the origin of the samples, then one
`GpuSample` a line, in the order of time.
"""

import gzip
import time
import zlib
from collections.abc import Callable, Generator, Iterator
from importlib import resources
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import structlog

from schedmate_records import NOT_JSON, GpuSample, InvalidRecord, decode, encode

from .source import GpuError, sample_id

log = structlog.get_logger(__name__)

FORMAT = "schedmate-gpu-recording/1"


class RecordingHeader(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a recording.

    Attributes:
        format: `FORMAT`.
        about: Where the samples are from, in words for a person.
        made_up: True where no GPU was ever measured.
    """

    format: str
    about: str
    made_up: bool = False


class InvalidRecording(GpuError):
    """A file that cannot be replayed; the message states what was expected and what came."""


def shipped_recording() -> Path:
    """Return the recording that comes with the package. It is synthetic, as its header states."""
    return Path(str(resources.files(__package__) / "recordings" / "made_up.jsonl"))


def _open(path: Path, mode: str) -> BinaryIO:
    if path.name.endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, mode))
    return cast(BinaryIO, path.open(mode))


class RecordingWriter:
    """Writes a recording.

    Args:
        path: Where to; compressed where the name ends in `.gz`.
        about: Where the samples are from.
        made_up: True where they were never measured.

    Raises:
        FileExistsError: There is such a file: a recording is never overwritten.
        OSError: It cannot be written.
    """

    def __init__(self, path: Path, about: str, *, made_up: bool = False) -> None:
        self._file = _open(path, "xb")
        self._file.write(msgspec.json.encode(RecordingHeader(format=FORMAT, about=about, made_up=made_up)) + b"\n")

    def write(self, samples: list[GpuSample]) -> None:
        """Add `samples`, so that they dismiss a crash. Raises OSError where the disk refuses."""
        self._file.writelines(encode(sample) + b"\n" for sample in samples)
        self._file.flush()

    def close(self) -> None:
        """End the file."""
        self._file.close()


class RecordingSource:
    """Replays a recording at the pace at which it was made, re-based to now; every sample has `recorded` set.

    The file is read as it is needed: its size does not matter. A line that is no sample is counted and passed over; the end
    of a file that was cut off while being written is its end.

    Args:
        loop: Begin again at the end, for ever.
        node: Name that the samples carry; None keeps the recorded one.
        clock: Seconds since 1970, for the samples' time.
        timer: Seconds that only grow, for the pace. A wall clock that jumps does not disturb the replay.

    Attributes:
        header: The recording's header.
        bad_lines: Lines that were no samples.

    Raises:
        InvalidRecording: The file cannot be read, is no recording or holds no sample.
    """

    def __init__(
        self,
        path: Path,
        *,
        loop: bool = False,
        node: str | None = None,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._loop, self._node, self._clock, self._timer = path, loop, node, clock, timer
        self.bad_lines = 0
        self.header = self._read_header()
        self._samples = self._passes()
        self._next = next(self._samples, None)
        if self._next is None:
            raise InvalidRecording(f"expected GPU samples after the first line of {path}, got none")
        self._began: float | None = None
        log.info("replaying", path=str(path), about=self.header.about, made_up=self.header.made_up)

    @property
    def exhausted(self) -> bool:
        """True once the last sample was given; never where it loops."""
        return self._next is None

    @property
    def about(self) -> str:
        """The origin that recordings made from here state."""
        return f"replayed: {self.header.about}"

    @property
    def made_up(self) -> bool:
        """True where no GPU was ever measured."""
        return self.header.made_up

    def sample(self) -> list[GpuSample]:
        """Return the samples that are due by now. A caller that was away for long gets them all, each with its own time."""
        elapsed = self._elapsed()
        now = self._clock()
        due = []
        while self._next is not None and self._next[0] <= elapsed:
            offset, sample = self._next
            due.append(self._rebased(sample, now - (elapsed - offset)))
            self._next = next(self._samples, None)
        return due

    def close(self) -> None:
        """Close the file."""
        self._samples.close()
        self._next = None

    def _elapsed(self) -> float:
        if self._began is None:
            self._began = self._timer()
        return self._timer() - self._began

    def _rebased(self, sample: GpuSample, when: float) -> GpuSample:
        node = sample.node if self._node is None else self._node
        identity = sample_id(node, sample.gpu, when)
        return msgspec.structs.replace(sample, id=identity, node=node, time=when, recorded=True)

    def _passes(self) -> Generator[tuple[float, GpuSample], None, None]:
        """Yield (seconds since the beginning, sample), pass after pass. A pass follows the one before after its usual gap."""
        start = 0.0
        while True:
            first = last = None
            gap = 0.0
            for sample in self._read():
                if first is None:
                    first = last = sample.time
                assert last is not None
                gap = sample.time - last or gap
                # A clock that was set back while recording must not bring samples out of order.
                last = max(last, sample.time)
                yield start + last - first, sample
            if not self._loop or first is None or last is None:
                return
            # A recording of one moment would be given without end in one call.
            start += last - first + (max(gap, 0.0) or 1.0)

    def _read_header(self) -> RecordingHeader:
        try:
            with _open(self._path, "rb") as file:
                line = file.readline(1 << 16)
            header = msgspec.json.decode(line, type=RecordingHeader)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidRecording(f"expected a recording of GPU samples at {self._path}: {error}") from error
        except NOT_JSON as error:
            raise InvalidRecording(
                f'expected {self._path} to begin with {{"format":"{FORMAT}",…}}, got {line[:60]!r}: '
                "make one with `schedmate gpu-agent --record FILE`"
            ) from error
        if header.format != FORMAT:
            raise InvalidRecording(f"expected a recording of format {FORMAT} at {self._path}, got {header.format!r}")
        return header

    def _read(self) -> Iterator[GpuSample]:
        try:
            with _open(self._path, "rb") as file:
                file.readline()
                for line in file:
                    try:
                        yield decode(GpuSample, line)
                    except InvalidRecord as error:
                        self._pass_over(error)
        except (OSError, EOFError, zlib.error) as error:
            log.warning("recording_cut_off", path=str(self._path), error=str(error))

    def _pass_over(self, error: InvalidRecord) -> None:
        if not self.bad_lines:
            log.warning("recording_bad_line", path=str(self._path), error=str(error))
        self.bad_lines += 1

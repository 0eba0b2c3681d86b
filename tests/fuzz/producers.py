"""Targets of producers: what jobs, the kernel, the journal and pipes write, and what a collector finds on its own disk."""

import contextlib
import os
import socket
import tempfile
import threading
from pathlib import Path

from schedmate_records import InvalidRecord
from scheduler_bridge.schedulers.kubernetes.pod_logs import PodDirectory
from streams.producers.checkpoint import CollectorCheckpoint, InvalidCheckpoint
from streams.producers.envelope import InvalidEntry, unpack
from streams.producers.file_trust import FileTrust
from streams.producers.gpu.recording import InvalidRecording, RecordingSource
from streams.producers.journal import SystemJournal
from streams.producers.kernel_log import KernelLog
from streams.producers.paths import JobPattern
from streams.producers.pieces import PieceSplitter
from streams.producers.pipe_intake import PipeIntake
from streams.producers.spool import Spool, framed
from streams.producers.stored import UnreadableLog, read_chunks

from .targets import target, text, write

_ENTRY = b'["7", 0, "n1", "7", "job-logs", 1]\n{"job": "7", "producer": "p", "lines": ["a"], "time": 1.0}'
_EVENT = b'["7", 0, "n1", "7", "pipe-events", 0]\n{"id": "a", "job": "7", "kind": "started", "time": 1.0, "scheduler": "producer"}'


@target("streams/producers/test_pieces.py", more=lambda: [b"a\rb\r\nc\n" * 3, b"x" * 70_000])
def pieces(data: bytes) -> None:
    """The pieces of a stream do not depend on how it is cut into reads."""
    whole, cut = PieceSplitter(), PieceSplitter()
    expected = [*whole.feed(data).lines, *whole.finish().lines]
    found: list[str] = []
    for place in range(0, len(data), 999):
        found += cut.feed(data[place : place + 999]).lines
    assert [*found, *cut.finish().lines] == expected
    assert whole.mark == cut.mark


@target(
    "streams/producers/test_pipe_intake.py",
    "streams/producers/test_spool.py",
    raises=InvalidEntry,
    more=lambda: [_ENTRY, _EVENT],
)
def spool_entry(data: bytes) -> None:
    """The envelope of a message, as it stands in a spool and comes through the socket."""
    found = unpack(data)
    assert found.size > 0


@target("streams/producers/test_spool.py", more=lambda: [framed(_ENTRY) * 3, framed(_ENTRY) + bytes(100)])
def spool_segment(data: bytes) -> None:
    """A segment of a spool that a crash, or a full disk, left behind."""
    with tempfile.TemporaryDirectory() as place:
        write(Path(place) / "0000000001.segment", data)
        spool = Spool(Path(place), 1 << 20)
        while (entry := spool.read()) is not None:
            with contextlib.suppress(InvalidEntry):
                unpack(entry.payload)
            spool.acknowledge(entry)
        spool.close()


class _Intake:
    """A socket of a collector that takes everything; started by the first input."""

    def __init__(self) -> None:
        self.place = tempfile.TemporaryDirectory()
        self.path = Path(self.place.name) / "s"
        self.intake = PipeIntake(self.path, FileTrust(), self._take)

    @staticmethod
    def _take(envelope: object) -> bool:
        done = getattr(envelope, "done", None)
        if done is not None:
            done(None)
        return True

    def send(self, data: bytes) -> bytes:
        """Return what the socket answers to `data`, until it or we close."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(10)
            client.connect(str(self.path))
            answered = b""
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                while found := client.recv(65536):
                    answered += found
            return answered


_intake: list[_Intake] = []


@target("streams/producers/test_pipe_intake.py", more=lambda: [framed(_ENTRY), framed(_EVENT) * 2, framed(b"x")])
def collector_socket(data: bytes) -> None:
    """What any user of a host may write to the collector's socket; it serves the next pipe all the same."""
    if not _intake:
        _intake.append(_Intake())
    whole = [data] if data[:1] < b"\x80" else [framed(data)]  # most inputs have no checksum that fits
    for each in whole:
        _intake[0].send(each)
    _intake[0].send(framed(data))
    assert any(thread.name == "pipe intake" and thread.is_alive() for thread in threading.enumerate())


_LAST = b'{"__REALTIME_TIMESTAMP": "1900000000000000", "MESSAGE": "this was the last entry"}'


@target(
    "streams/producers/test_journal.py",
    more=lambda: [_LAST, b'{"__REALTIME_TIMESTAMP": "1", "MESSAGE": [27, 255], "SYSLOG_IDENTIFIER": "a"}'],
)
def journal_entries(data: bytes) -> None:
    """Entries of the system's journal; the one behind them is read whatever they are."""
    with tempfile.TemporaryDirectory() as place:
        file = write(Path(place) / "entries", data + b"\n" + _LAST + b"\n")
        journal = SystemJournal("n1", command=("cat", str(file)))
        try:
            while not any("this was the last entry" in line for chunk in journal.ready for line in chunk.lines[-1:]):
                journal.read()
        finally:
            journal.close()


@target(
    "streams/producers/test_kernel_log.py",
    more=lambda: [b"6,1,100,-;a\n", b"4,2,99999999999999999999,-;NVRM: Xid\\x5c\n KEY=value\n"],
)
def kernel_records(data: bytes) -> None:
    """Records of the kernel's log, one a read."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.setblocking(False)
    theirs.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        for record in data.split(b"\x1e")[:50]:
            theirs.send(record[:8192] or b"x")
    log = KernelLog(os.dup(ours.fileno()), "n1", boot="b")
    while log.read():
        log.ready.clear()
    log.close()
    ours.close()
    theirs.close()


@target(
    "streams/producers/test_collector.py",
    raises=InvalidCheckpoint,
    more=lambda: [b'{"version": 1, "logs": {}, "finished": [[1, 2]]}'],
)
def collector_checkpoint(data: bytes) -> None:
    """The checkpoint of a collector."""
    with tempfile.TemporaryDirectory() as place, CollectorCheckpoint(write(Path(place) / "checkpoint", data)) as found:
        found.save()


@target(
    "streams/producers/test_log_files.py",
    "scheduler_bridge/schedulers/kubernetes/test_pod_logs.py",
    raises=InvalidRecord,
)
def log_path(data: bytes) -> None:
    """Names of files and directories."""
    JobPattern(r"/(?P<job>[^/]+)-(?P<rank>\d+)\.(?P<stream>out|err)$").read(text(data), "n1")
    PodDirectory.parse(text(data))


@target(
    "schedmate/settings/test_reading.py",
    "streams/producers/test_pieces.py",
    raises=UnreadableLog,
    more=lambda: [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"],
)
def stored_log(data: bytes) -> None:
    """A stored log, plain or compressed."""
    with tempfile.TemporaryDirectory() as place:
        for name in ("a.log", "a.log.gz", "a.log.zst"):
            with contextlib.suppress(UnreadableLog):
                for _ in read_chunks(write(Path(place) / name, data)):
                    pass


@target("streams/producers/gpu", raises=InvalidRecording)
def gpu_recording(data: bytes) -> None:
    """A recording of GPU samples."""
    with tempfile.TemporaryDirectory() as place:
        source = RecordingSource(write(Path(place) / "a.jsonl", data), timer=iter(range(0, 10**9, 10)).__next__)
        for _ in range(5):
            source.sample()
        source.close()

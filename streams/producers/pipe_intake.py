"""Intake of messages from pipes without a Kafka client (`collector_connection`).

Anybody on the host may connect. The kernel names the user, and a message is taken only where that user may write for the job in it, by
the rules of `FileTrust`. Each client is read only as far as it is answered, so none takes the memory or the turn of others.
"""

import os
import selectors
import socket
import stat
import struct
import threading
import zlib
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import structlog

from schedmate_records import InvalidRecord, JobEvent, LogChunk, Position, Record, UserError, check, decode

from ..accept import accept
from ..transport import Message
from .collector_connection import ANSWER, REFUSED, TAKEN
from .envelope import Envelope, InvalidEntry, Source, unpack
from .file_trust import FileTrust, name_of
from .metrics import IntakeMetrics
from .pipe_records import LOGS
from .spool import HEAD

log = structlog.get_logger(__name__)

ENTRY_BYTES = 1 << 20
"""The largest entry; the worst chunk of a pipe is smaller."""
CLIENTS_PER_USER = 256
"""Maximum connections of one user, so that one user cannot use up the file descriptors of the intake."""
BACKLOG = 128
"""Maximum number of waiting connections."""
_PEER = struct.Struct("3i")


class SocketInUse(UserError, ValueError):
    """The socket cannot be opened; the message states what to do."""


class InvalidFrame(ValueError):
    """Bytes that no pipe writes."""


class _Client:
    """One connection: its user, what it wrote, and the answers to it."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        _, self.user, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
        self.received = bytearray()
        self.answers = bytearray()
        self.waiting: tuple[int, Envelope] | None = None
        self.unanswered = 0
        self.unfinished = self.complained = False
        self.events = selectors.EVENT_READ
        self._next = 0

    @property
    def reads(self) -> bool:
        """True where more may be read."""
        # A client may have 2 MB unacknowledged and 256 KB of answers unread; what it writes beyond stays in its socket.
        return self.waiting is None and self.unanswered < (2 << 20) and len(self.answers) < (256 << 10)

    def next_entry(self) -> tuple[int, bytes] | None:
        """Return the next complete entry and its number. Raises `InvalidFrame`."""
        if len(self.received) < HEAD.size:
            return None
        size, checksum = HEAD.unpack_from(self.received)
        if size > ENTRY_BYTES:
            raise InvalidFrame(f"expected an entry of at most {ENTRY_BYTES} bytes, got one of {size}")
        if len(self.received) < HEAD.size + size:
            return None
        payload = bytes(self.received[HEAD.size : HEAD.size + size])
        if zlib.crc32(payload) != checksum:
            raise InvalidFrame("expected an entry that fits its checksum")
        del self.received[: HEAD.size + size]
        self._next += 1
        return self._next - 1, payload

    def answer(self, number: int, verdict: int, reason: str = "") -> None:
        said = reason.encode()[:1000]
        self.answers += ANSWER.pack(number, verdict, len(said)) + said


class PipeIntake:
    """Listens at `path` on a thread of its own, until `close`.

    Args:
        path: The socket; its directory must be there.
        trust: Who may write for a job.
        offer: Takes an envelope for shipping. False where there is no room now.

    Raises:
        SocketInUse: Another collector listens there, or something else is there.
        OSError: It cannot be made there.
    """

    def __init__(self, path: Path, trust: FileTrust, offer: Callable[[Envelope], bool]) -> None:
        self.metrics = IntakeMetrics()
        self._path, self._trust, self._offer = path, trust, offer
        self._listener = _listen(path)
        self._clients: set[_Client] = set()
        self._of_user: Counter[int] = Counter()
        self._crowded: set[int] = set()
        self._acknowledged: deque[tuple[_Client, int, int, Exception | None]] = deque()
        self._wake_out, self._wake_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._wake_out, selectors.EVENT_READ, self._awake)
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="pipe intake", daemon=True)
        self._thread.start()

    @property
    def connected(self) -> int:
        """Pipes that are connected now."""
        return len(self._clients)

    @property
    def held_back(self) -> int:
        """Pipes of which no more is read until there is room to ship what they sent."""
        return sum(bool(client.waiting) for client in list(self._clients))

    def close(self) -> None:
        """Take nothing more. What is not acknowledged stays with the pipes."""
        self._closing = True
        self._wake()
        self._thread.join()
        for client in list(self._clients):
            self._drop(client)
        self._selector.close()
        self._listener.close()
        self._path.unlink(missing_ok=True)
        os.close(self._wake_out)
        os.close(self._wake_in)

    def _run(self) -> None:
        while not self._closing:
            for key, events in self._selector.select(self._patience()):
                if key.data in {self._accept, self._awake}:
                    key.data()
                else:
                    self._serve(key.data, events)
            for client in [each for each in self._clients if each.waiting or each.unfinished]:
                self._advance(client)

    def _patience(self) -> float | None:
        """Return for how long there is nothing to do while no client writes; None: for ever."""
        if any(client.unfinished for client in self._clients):
            return 0.0
        # An entry waits 0.05 s for room, or for the answer about its job's owner.
        return 0.05 if any(client.waiting for client in self._clients) else None

    # --- connections --------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        """Accept all waiting connections, so that a client that connects again and again keeps no other out."""
        with suppress(OSError):
            for _ in range(BACKLOG):
                self._take_in(self._listener.accept()[0])

    def _take_in(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        client = _Client(connection)
        if self._of_user[client.user] >= CLIENTS_PER_USER:
            if client.user not in self._crowded:
                self._crowded.add(client.user)
                log.warning("pipe_turned_away", user=name_of(client.user), reason=f"{CLIENTS_PER_USER} are connected")
            self.metrics.turned_away.inc()
            connection.close()
            return
        self.metrics.connections.inc()
        self._of_user[client.user] += 1
        self._clients.add(client)
        self._selector.register(connection, client.events, client)

    def _serve(self, client: _Client, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                del client.answers[: client.socket.send(client.answers)]
            if events & selectors.EVENT_READ:
                data = client.socket.recv(256 * 1024)
                if not data:
                    self._drop(client)
                    return
                client.received += data
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)
            return
        self._advance(client)

    def _advance(self, client: _Client) -> None:
        """Take what is complete, as far as there is room for it and its turn goes."""
        if client not in self._clients:
            return
        client.unfinished = False
        if client.waiting is not None:
            number, envelope = client.waiting
            client.waiting = None
            self._offer_if_trusted(client, number, envelope)
        try:
            # After 64 entries the next client has its turn.
            for _ in range(64):
                if not client.reads or (entry := client.next_entry()) is None:
                    break
                self._look(client, *entry)
            else:
                client.unfinished = True
        except InvalidFrame as error:
            log.warning("pipe_turned_away", user=name_of(client.user), reason=str(error))
            self.metrics.turned_away.inc()
            self._drop(client)
            return
        reads = client.reads and not client.unfinished
        events = (selectors.EVENT_READ if reads else 0) | (selectors.EVENT_WRITE if client.answers else 0)
        if events != client.events:
            self._listen_for(client, events)

    def _listen_for(self, client: _Client, events: int) -> None:
        if client.events:
            self._selector.unregister(client.socket)
        if events:
            self._selector.register(client.socket, events, client)
        client.events = events

    def _drop(self, client: _Client) -> None:
        self._listen_for(client, 0)
        client.socket.close()
        self._clients.discard(client)
        self._of_user -= Counter([client.user])

    # --- entries ------------------------------------------------------------------------------------------------------

    def _look(self, client: _Client, number: int, payload: bytes) -> None:
        try:
            envelope = unpack(payload)
            record = _checked(envelope)
        except (InvalidEntry, InvalidRecord) as error:
            self._refuse(client, number, str(error))
            return
        # Source and count of the envelope come from the record, which was checked.
        envelope.source, envelope.lines = _counted_by(record, client.user)
        client.unanswered += envelope.size
        envelope.done = partial(self._done, client, number, envelope.size)
        self._offer_if_trusted(client, number, envelope)

    def _offer_if_trusted(self, client: _Client, number: int, envelope: Envelope) -> None:
        job = envelope.source.job
        objection = self._trust.objection(job, client.user, private=True, what="pipe")
        if objection and not self._trust.scheduler_away(job):
            client.unanswered -= envelope.size
            self._refuse(client, number, objection)
        elif objection != "" or not self._offer(envelope):
            client.waiting = (number, envelope)

    def _refuse(self, client: _Client, number: int, reason: str) -> None:
        self.metrics.refused.inc()
        if not client.complained:  # once: a client could fill the disk with these messages
            client.complained = True
            log.warning("pipe_refused", user=name_of(client.user), reason=reason)
        client.answer(number, REFUSED, reason)

    def _done(self, client: _Client, number: int, size: int, refused: Exception | None) -> None:
        """Learn, on the shipper's thread, that the broker has it or never will."""
        self._acknowledged.append((client, number, size, refused))
        self._wake()

    def _wake(self) -> None:
        with suppress(OSError):  # full: it will wake anyway; closed: it is over
            os.write(self._wake_in, b"x")

    def _awake(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wake_out, 65536)
        advanced = set()
        while self._acknowledged:
            client, number, size, refused = self._acknowledged.popleft()
            client.unanswered -= size
            self.metrics.entries.inc(refused is None)
            self.metrics.refused.inc(refused is not None)
            client.answer(number, TAKEN if refused is None else REFUSED, "" if refused is None else str(refused))
            advanced.add(client)
        for client in advanced:
            self._advance(client)


def _checked(envelope: Envelope) -> LogChunk | JobEvent:
    """Return the record of `envelope`. Raises `InvalidRecord` where a reader of its topic would not take it, or it is another job's."""
    value, message = envelope.message.value or b"", envelope.message
    record: Record
    if message.topic == LOGS:
        record = decode(LogChunk, value)  # a pipe writes none of the other forms that readers take
        check(record)
    else:
        record = accept(Message(Position(message.topic, 0, 0), message.key, value, 0.0))
    assert isinstance(record, LogChunk | JobEvent)
    if record.job != envelope.source.job:
        raise InvalidRecord(f"expected a record of job {envelope.source.job!r}, got one of {record.job!r}")
    return record


def _counted_by(record: LogChunk | JobEvent, user: int) -> tuple[Source, int]:
    """Return the source of a record and the number of its lines.

    A pipe that connects again repeats its unanswered messages. The ordering key keeps them in order behind those of its old connection.
    """
    if isinstance(record, LogChunk):
        key = f"pipe/{user}/{record.producer}"
        return Source(record.job, record.attempt, record.node, key), len(record.lines)
    return Source(record.job, record.attempt, "", f"pipe/{user}/{record.job}/events"), 0


def _listen(path: Path) -> socket.socket:
    """Listen at `path`, in place of a socket that a collector before left there."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        if path.exists():
            if not stat.S_ISSOCK(path.lstat().st_mode):
                raise SocketInUse(f"expected a socket or nothing at {path}, got something else: pass --socket PATH")
            with suppress(ConnectionRefusedError):
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                    probe.connect(str(path))
                raise SocketInUse(f"{path} is used by another collector: stop it, or pass --socket PATH")
            path.unlink()
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener

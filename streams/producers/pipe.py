"""`schedmate pipe`: passes a job's output through and ships a copy of it.

Filter form: standard input to standard output. Wrap form: follows a command (`child`) and passes its two streams through separately.

In both, the job comes first. The bytes go from read to write in a process that does nothing else; splitting, chunking, compression
and the network live in a second process (`shipping_process`), with a bounded queue between the two (`tap`). If the second process
is killed, the first starts another; what that does not get either is counted (`progress`) and kept on disk (`rest`).

What differs from running without the pipe: the command's streams are pipes and not a terminal, so that a program may buffer its
output by blocks, as it does for a file. When the job is over, the second process goes on alone with what is not acknowledged yet.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from .descriptors import hold_standard_descriptors, let_go, say
from .passthrough import Ended, Passthrough, widen
from .pipe_settings import PipeSettings, ShippingRun
from .shipping_process import ShippingProcess

if TYPE_CHECKING:
    from ..producer import Producer
    from .child import Child
    from .environment import Identity


def fresh_name(node: str) -> str:
    """Return a producer name that was never used: each start numbers its lines anew."""
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in ".-") else "_" for letter in node)
    return f"{plain or 'node'}-{os.getpid()}-{os.urandom(6).hex()}"


def run_pipe(
    identity: Identity | None,
    child: Child | None,
    directory: str,
    numbers: Mapping[str, int | float],
    connect: Callable[[], Producer],
    *,
    receiver: str,
    log: str | None = None,
) -> int:
    """Follow `child`, or copy standard input where there is none, ship it where it has an identity, and return the exit status.

    `numbers` are those of `pipe_call.NUMBERS`; see `PipeSettings` for `receiver` and `log`.
    """
    settings = None
    if identity is not None:
        began, command = (child.began, child.command) if child else (time.time(), ())
        settings = PipeSettings(
            identity=identity,
            name=fresh_name(identity.node),
            spool=f"{directory}/spool",
            spool_bytes=int(numbers["spool_mb"]) << 20,
            hold=numbers["hold_seconds"],
            close_timeout=numbers["close_seconds"],
            chunk_lines=int(numbers["chunk_lines"]),
            chunk_seconds=numbers["chunk_seconds"],
            log=log,
            run=ShippingRun(began, command, None, identity.rank if identity.part else None)
            if identity.whole or identity.part
            else None,
            receiver=receiver,
        )
    return follow(child, settings, connect) if child else filter_through(settings, connect)


def filter_through(settings: PipeSettings | None, connect: Callable[[], Producer]) -> int:
    """Copy standard input to standard output and ship it as the job's stdout.

    Interrupts and termination end the job, not this: it ends with its input, so that the job's last words arrive. (Where the input is
    a terminal, signals keep their meaning.)

    Returns:
        The exit status: 0; 1 where a block could not be written; -SIGPIPE where the reader of the output is gone.
    """
    began = time.monotonic()
    hold_standard_descriptors()
    if not os.isatty(0):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    shipping = _start(settings, connect)
    pump = Passthrough(0, 1, _copier(shipping, 0))
    widen(0)
    ended = pump.run()
    with _no_fault_of_ours():
        _end(shipping, None)
        let_go(0, 1)
        _finish(shipping, settings, began)
    if ended is Ended.BROKEN:
        return -signal.SIGPIPE
    if pump.failure is not None:
        say(f"write error: {pump.failure.strerror}")
        return 1
    return 0


def follow(child: Child, settings: PipeSettings | None, connect: Callable[[], Producer]) -> int:
    """Pass the stdout and stderr of a command that was just started through separately, and ship both.

    A child of the command that keeps its streams open after it ended (a daemon) keeps being read, by a process in the background.

    Returns:
        The command's exit status (see `Child.wait`).

    Raises:
        Exception: Its streams cannot be passed through; nothing was read yet that was not passed on.
    """
    shipping = _start(settings, connect)
    for source in child.sources:
        widen(source)
        os.set_blocking(source, False)
    streams = _Streams(child.sources, shipping)
    streams.start()
    status = child.wait()
    with _no_fault_of_ours():
        _end_of_command(child, status, streams, shipping, settings)
    child.let_signals_through()
    return status


def _end_of_command(
    child: Child,
    status: int,
    streams: _Streams,
    shipping: ShippingProcess | None,
    settings: PipeSettings | None,
) -> None:
    """Pass on and ship what the command printed last; what its own children still print, in the background."""
    # Streams that stay open and empty 0.2 s after the command's end are read by a process in the background.
    while not (ended := streams.wait(0.2)) and not streams.quiet:
        pass
    _end(shipping, status)
    if not ended:
        streams.stop()
        if (os.fork() if shipping is None else shipping.tap.fork()) != 0:
            return
        child.let_signals_through()
        _read_on(streams, shipping, settings, child.clock)
    let_go(1)
    _finish(shipping, settings, child.clock)


@contextmanager
def _no_fault_of_ours() -> Iterator[None]:
    """Report what goes wrong at the end of a job, whose exit status is known by then."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  whatever it is: the job must not notice
        say(f"not everything was shipped: {type(error).__name__}: {error}")


class _Streams:
    """The pumps of a command's stdout and stderr, a thread each: a blocked one does not hold up the other."""

    def __init__(self, sources: Sequence[int], shipping: ShippingProcess | None) -> None:
        self._sources = list(sources)
        self._shipping = shipping
        self._open = dict(enumerate(sources))
        self._pumps: dict[int, Passthrough] = {}
        self._threads: list[threading.Thread] = []
        self._stop_out, self._stop_in = os.pipe()

    def start(self) -> None:
        """Start a thread for each stream that is open."""
        self._pumps = {
            number: Passthrough(source, number + 1, _copier(self._shipping, number), stop=self._stop_out)
            for number, source in self._open.items()
        }
        self._threads = [
            threading.Thread(target=self._pump, args=(number,), name=f"pump {number}", daemon=True)
            for number in self._open
        ]
        try:
            for thread in self._threads:
                thread.start()
        except RuntimeError:  # the system allows no further thread
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self.stop()
            raise

    def wait(self, timeout: float | None) -> bool:
        """Wait until both have ended. False where `timeout` seconds passed first."""
        deadline = None if timeout is None else time.monotonic() + timeout
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    @property
    def quiet(self) -> bool:
        """True where all that was printed so far has been passed on."""
        with suppress(OSError):  # one of them has just ended
            return all(self._pumps[number].quiet for number in list(self._open))
        return False

    def stop(self) -> None:
        """Stop the threads between two blocks. A block that waits for its reader is waited for."""
        os.write(self._stop_in, b"x")
        self.wait(None)
        os.read(self._stop_out, 1)

    def _pump(self, number: int) -> None:
        if self._pumps[number].run() is not Ended.STOPPED:
            # Closed at once: where the reader of our output is gone, the command gets SIGPIPE as it would without us.
            os.close(self._open.pop(number))


def _start(settings: PipeSettings | None, connect: Callable[[], Producer]) -> ShippingProcess | None:
    if settings is None:
        return None
    try:
        return ShippingProcess.start(settings, connect)
    except Exception as error:  # noqa: BLE001  whatever it is: the job must not notice
        say(f"nothing is shipped, bytes only pass through: {error}")
        return None


def _copier(shipping: ShippingProcess | None, stream: int) -> Callable[[float, bytes], None]:
    if shipping is None:
        return lambda _arrived, _data: None
    tap = shipping.tap
    return lambda arrived, data: tap.put(stream, arrived, data)


def _read_on(streams: _Streams, shipping: ShippingProcess | None, settings: PipeSettings | None, began: float) -> None:
    """In the background: pass on what the command's own children still write. Never returns."""
    try:
        if shipping is not None:
            shipping.tap.start()
        streams.start()
        streams.wait(None)
        let_go(1)
        _finish(shipping, settings, began)
    finally:
        os._exit(0)


def _end(shipping: ShippingProcess | None, status: int | None) -> None:
    if shipping is not None:
        shipping.tap.end(time.time(), status)


def _finish(shipping: ShippingProcess | None, settings: PipeSettings | None, began: float) -> None:
    """Wait for the shipping process as long as a job that began at `began` may be held up, and report once what did not go well."""
    if shipping is None or settings is None:
        return
    # 0.03 s are kept for writing the rest to disk, for a fork and for the end of this process.
    # The end of a job may be held up for 1 % of its time, so that what it printed last is acknowledged when it is over.
    share = min(0.01 * (time.monotonic() - began), settings.close_timeout) - 0.03
    report = shipping.finish(max(settings.hold, share))
    if report.kept and report.away:
        say(
            f"the {settings.receiver} was away or slow: {_lines(report.kept)} kept in {settings.spool} "
            f"for the next pipe or collect on this host; a process in the background tries for {settings.close_timeout:g} s more"
        )
    if report.refused:
        say(f"{_lines(report.refused)} refused for good: {report.refusal}")
    if report.lost:
        say(f"{_lines(report.lost)} not shipped: disk budget or disk full")
    if report.error:
        say(f"not everything was shipped: {report.error}")


def _lines(number: int) -> str:
    """Return what `records.counted` does; importing that would keep the job waiting."""
    return f"{number:,} line{'' if number == 1 else 's'}"

"""What goes wrong: faults drawn from a seed, each with a target, a time and a length."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.chaos.clocks import Clock
from benchmarks.chaos.crowd import Crowd
from benchmarks.chaos.servers import Controller, Server
from benchmarks.chaos.services import Service

SLOW_S = 0.2
"""How long a delayed connection holds each block back."""
DOWN_S = 2.0
"""How long a killed server stays away at most."""
FROZEN_S = 10.0
"""How much longer than another stop a freeze takes: a worker's session, after which others have its partitions when it wakes."""
JUMP_S = 2 * 3600
"""How far a clock jumps: further than a broker lets the time of a message be ahead by default."""


@dataclass(frozen=True)
class Planned:
    """A fault to come: seconds after the start, how long it lasts, and which of the `Fault`s."""

    at: float
    seconds: float
    fault: int


@dataclass(frozen=True)
class Window:
    """A fault that was: `end` is when all was as before."""

    kind: str
    target: str
    begin: float
    end: float


@dataclass(frozen=True)
class Fault:
    """A kind of fault on one target. `apply` begins it, waits for so many seconds, ends it; False: there was nothing to hit."""

    kind: str
    target: str
    apply: Callable[[float], bool]


def faults(
    services: Sequence[Service],
    servers: Sequence[Server],
    controller: Controller,
    crowd: Crowd,
    clocks: Sequence[Clock],
) -> list[Fault]:
    """Return every fault that there can be."""
    targets: list[Service | Server | Controller] = [*services, *servers, controller]
    made = [
        *(Fault("kill", each.name, _killing(each.kill, each.start)) for each in targets),
        *(Fault("stop", each.name, _stopping(partial(_process, each))) for each in targets),
        *(
            Fault("freeze", each.name, _stopping(partial(_process, each), FROZEN_S))
            for each in services
            if each.name.startswith("worker")
        ),
        *(Fault("cut", each.name, _cutting(each)) for each in servers),
        *(Fault("partition", each.name, _partitioning(each)) for each in servers),
        *(Fault("slow", each.name, _slowing(each)) for each in servers),
        *(Fault("ahead", f"clock of {each.name}", _jumping(each, JUMP_S)) for each in clocks),
        *(Fault("behind", f"clock of {each.name}", _jumping(each, -JUMP_S)) for each in clocks),
        Fault("stop", "pipe", _stopping(lambda: crowd.shipping(to_kill=False)[:1])),
        Fault("kill", "pipe", lambda _: _signal(crowd.shipping(to_kill=True)[:1], signal.SIGKILL)),
    ]
    return sorted(made, key=lambda fault: (fault.kind, fault.target))


def plan(seed: int, seconds: float, per_minute: float, kinds: int, longest_s: float) -> list[Planned]:
    """Draw the faults of a run: every kind comes once before any comes twice."""
    chance = random.Random(f"faults {seed}")
    count = round(seconds / 60 * per_minute)
    times = sorted(chance.uniform(0, seconds) for _ in range(count))
    order: list[int] = []
    while len(order) < count:
        order += chance.sample(range(kinds), kinds)
    return [Planned(at, chance.uniform(0.2, 1) * longest_s, fault) for at, fault in zip(times, order, strict=False)]


class Injector:
    """Carries a plan out; faults on different targets may overlap."""

    def __init__(self, all_faults: Sequence[Fault]) -> None:
        self._faults = all_faults
        self._locks = {_turn(fault.target): threading.Lock() for fault in all_faults}
        self._threads: list[threading.Thread] = []
        self.windows: list[Window] = []
        self.errors: list[str] = []

    @property
    def kinds(self) -> int:
        """How many faults there are to draw from."""
        return len(self._faults)

    def begin(self, planned: Planned) -> None:
        """Begin a fault; one on the same target waits for the one before it, and one on a broker for that on any other."""
        fault = self._faults[planned.fault]
        thread = threading.Thread(target=self._apply, args=(fault, planned.seconds), name=fault.kind, daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self) -> None:
        """Return once all faults are over."""
        for thread in self._threads:
            thread.join()

    def _apply(self, fault: Fault, seconds: float) -> None:
        with self._locks[_turn(fault.target)]:
            began = time.time()
            try:
                done = fault.apply(seconds)
            except BaseException as error:  # noqa: BLE001  # whatever a fault could not do fails the run, pytest's own failures included
                self.errors.append(f"{fault.kind} of {fault.target}: {error!r}")
            else:
                if done:
                    self.windows.append(Window(fault.kind, fault.target, began, time.time()))


def _turn(target: str) -> str:
    """Return what no two faults may hit at once: a target, or the brokers, of which most must be there."""
    return "brokers" if target.startswith("broker-") else target


def _process(target: Service | Server | Controller) -> list[int]:
    return [target.pid()]


def _killing(kill: Callable[[], None], start: Callable[[], None]) -> Callable[[float], bool]:
    def apply(seconds: float) -> bool:
        kill()
        time.sleep(min(seconds, DOWN_S))
        start()
        return True

    return apply


def _stopping(pids: Callable[[], list[int]], longer_s: float = 0.0) -> Callable[[float], bool]:
    def apply(seconds: float) -> bool:
        found = pids()
        done = _signal(found, signal.SIGSTOP)
        time.sleep(seconds + longer_s if done else 0)
        return _signal(found, signal.SIGCONT) and done

    return apply


def _signal(pids: Sequence[int], number: signal.Signals) -> bool:
    done = False
    for pid in pids:
        try:
            os.kill(pid, number)
            done = True
        except ProcessLookupError:
            continue
    return done


def _cutting(server: Server) -> Callable[[float], bool]:
    def apply(_: float) -> bool:
        server.proxy.cut(refuse=False)
        return True

    return apply


def _partitioning(server: Server) -> Callable[[float], bool]:
    def apply(seconds: float) -> bool:
        server.proxy.cut(refuse=True)
        time.sleep(seconds)
        server.proxy.heal()
        return True

    return apply


def _slowing(server: Server) -> Callable[[float], bool]:
    def apply(seconds: float) -> bool:
        server.proxy.delay_s = SLOW_S
        time.sleep(seconds)
        server.proxy.heal()
        return True

    return apply


def _jumping(clock: Clock, by: int) -> Callable[[float], bool]:
    def apply(seconds: float) -> bool:
        clock.shift(by)
        time.sleep(seconds)
        clock.shift(0)
        return True

    return apply

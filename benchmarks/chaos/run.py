"""A run: servers and commands start, jobs and faults come, all becomes quiet, and what was written is checked."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.chaos import clocks, faults, hostile, servers
from benchmarks.chaos.checker import Verdict, check
from benchmarks.chaos.crowd import Crowd
from benchmarks.chaos.observed import observe, wait_until_quiet
from benchmarks.chaos.planted import missed
from benchmarks.chaos.replay import replay
from benchmarks.chaos.sender import Sender
from benchmarks.chaos.services import Ended, Service, cast
from streams.kafka import read_back
from streams.transport import Outgoing

ROOT = Path(__file__).resolve().parents[2]
PARTITIONS = 4
TICK_S = 0.2


@dataclass(frozen=True)
class Options:
    """What a run is like.

    Attributes:
        minutes: How long jobs start and faults come.
        seed: Of faults, jobs and hostile input.
        faults_per_minute: How many faults come.
        brokers: 1 or 3.
        jobs: Honest jobs that run at a time.
        hostile_every_s: Seconds between two hostile jobs.
        hostile: Their kinds, by turns.
        longest_s: The longest that a fault lasts.
        quiet_s: How long all may take to become quiet after the last fault.
        within_s: How long an honest verdict may take, faults left out.
    """

    minutes: float = 5.0
    seed: int = 1
    faults_per_minute: float = 15.0
    brokers: int = 1
    jobs: int = 4
    hostile_every_s: float = 6.0
    hostile: tuple[str, ...] = tuple(hostile.KINDS)
    longest_s: float = 10.0
    quiet_s: float = 900.0
    within_s: float = 10.0


@dataclass
class Outcome:
    """What came of a run; `problems` is empty where all holds."""

    options: Options
    faults: dict[str, int] = field(default_factory=dict)
    hostile: int = 0
    ended: list[Ended] = field(default_factory=list)
    verdict: Verdict = field(default_factory=Verdict)
    problems: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, object]:
        """Return everything that is worth keeping."""
        return asdict(self)


def run(options: Options, scratch: Path, say: Callable[[str], None]) -> Outcome:
    """Run in the empty directory `scratch`; `say` is told how far it is."""
    outcome = Outcome(options)
    with ExitStack() as undo:
        say("starting the servers")
        site = undo.enter_context(servers.running(scratch, options.brokers, PARTITIONS))
        environment = _environment(site, scratch)
        wall = clocks.Clocks(scratch / "clocks")
        services = cast(environment, scratch, wall.make)
        _migrate(environment, scratch)
        sender = Sender(site.connection)
        undo.callback(sender.close)
        crowd = Crowd({**environment, **wall.make("pipe").environment}, scratch, sender, options.seed, options.jobs)
        undo.callback(crowd.kill)
        for service in services:
            undo.callback(service.kill)
            service.start()
        say("waiting for the workers")
        for number in range(PARTITIONS):
            sender.send(Outgoing("job-logs", b"first", b"hello", number))
        wait_until_quiet(site.connection, lambda: sender.unsent, 120.0)
        injector = faults.Injector(faults.faults(services, site.all, site.controller, crowd, wall.all))
        _storm(outcome, _Scene(crowd, injector, sender, services), say)
        say("waiting until all is quiet")
        injector.wait()
        deadline = time.monotonic() + options.quiet_s
        while crowd.step(start=False) and time.monotonic() < deadline:
            _look_after(services)
            time.sleep(TICK_S)

        def unsent() -> int:
            _look_after(services)
            untold = crowd.untold(read_back(site.connection, ["job-events"]))
            spooled = sum(len(files) for _, _, files in os.walk(scratch / "producer" / "spool"))
            return sender.unsent + untold + spooled

        left = wait_until_quiet(site.connection, unsent, deadline - time.monotonic())
        outcome.problems += [
            f"not quiet after {options.quiet_s:g} s: {name} {count}" for name, count in left.items() if count
        ]
        outcome.ended = [each for service in services for each in service.ended]
        stops = {service.name: service.stop() for service in services}
        say("checking")
        observed = observe(site.connection, site.clickhouse_url)
        replayed = replay(observed.topics)
        outcome.problems += missed(crowd.jobs, observed, replayed, injector.windows, options.within_s)
        outcome.verdict = check(crowd.jobs, observed, replayed, injector.windows, options.within_s)
        outcome.verdict.figures["slowest end after SIGTERM (s)"] = round(max(stops.values()), 2)
        outcome.verdict.figures["slowest message in a clean replay (s)"] = round(replayed.slowest[0][0], 2)
        outcome.verdict.figures["jobs"] = len(crowd.jobs)
    outcome.faults = dict(Counter(f"{window.kind} {window.target}" for window in injector.windows))
    outcome.problems += [f"{each.name} ended by itself with {each.code}" for each in outcome.ended]
    outcome.problems += injector.errors + outcome.verdict.problems
    return outcome


@dataclass(frozen=True)
class _Scene:
    crowd: Crowd
    injector: faults.Injector
    sender: Sender
    services: Sequence[Service]


def _storm(outcome: Outcome, scene: _Scene, say: Callable[[str], None]) -> None:
    """Let jobs, hostile input and faults come for as long as the options say."""
    options, crowd, injector = outcome.options, scene.crowd, scene.injector
    seconds, chance = options.minutes * 60, random.Random(f"hostile {options.seed}")
    planned = faults.plan(options.seed, seconds, options.faults_per_minute, injector.kinds, options.longest_s)
    began, next_hostile = time.monotonic(), options.hostile_every_s / 2
    while (at := time.monotonic() - began) < seconds:
        crowd.step(start=True)
        _look_after(scene.services)
        while planned and planned[0].at <= at:
            injector.begin(planned.pop(0))
        if at >= next_hostile:
            kind = options.hostile[outcome.hostile % len(options.hostile)]
            for message in hostile.KINDS[kind](chance, outcome.hostile):
                scene.sender.send(message)
            outcome.hostile += 1
            next_hostile += options.hostile_every_s
        say(f"{at:.0f} of {seconds:.0f} s, {len(injector.windows)} faults, {len(crowd.jobs)} jobs")
        time.sleep(TICK_S)


def _look_after(services: Sequence[Service]) -> None:
    for service in services:
        service.check()


def _environment(site: servers.Servers, scratch: Path) -> dict[str, str]:
    return {
        "SCHEDMATE_KAFKA__BROKERS": ",".join(site.connection.brokers),
        "SCHEDMATE_KAFKA__SESSION_TIMEOUT_S": "6",
        "SCHEDMATE_CLICKHOUSE__URL": site.clickhouse_url,
        "SCHEDMATE_REDIS__URL": site.redis_url,
        "SCHEDMATE_PRODUCER__DIRECTORY": str(scratch / "producer"),
        "SCHEDMATE_PRODUCER__CHUNK_SECONDS": "0.2",
        "SLURM_CONF": str(site.slurm_conf),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }


def _migrate(environment: dict[str, str], scratch: Path) -> None:
    with (scratch / "migrate.log").open("ab") as output:
        line = [sys.executable, "-m", "schedmate", "migrate", "--wait", "60"]
        subprocess.run(line, env={**os.environ, **environment}, stdout=output, stderr=output, check=True)

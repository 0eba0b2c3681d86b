"""Runs targets for a time, keeps the inputs at which they fail, and tries those first the next time."""

import hashlib
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from .mutations import inputs
from .targets import Target

_ROUND = 100
"""Inputs of one round of Hypothesis: it looks at the time between rounds."""


@dataclass
class Outcome:
    """What came of one target.

    Attributes:
        inputs: Number of inputs that were tried.
        failure: Traceback of the first failure; empty where there was none.
        file: File that holds its input, as small as it could be made.
    """

    inputs: int = 0
    failure: str = ""
    file: Path | None = None


def run(
    target: Target, seconds: float, first_seed: int, kept: Path, clock: Callable[[], float] = time.monotonic
) -> Outcome:
    """Return what came of a target: of the inputs at which it failed before, then of mutated seeds, until `seconds` are over.

    Args:
        target: The target.
        seconds: How long; one round runs in any case.
        first_seed: Seed of the first round; the next one has the next seed.
        kept: Directory of failing inputs.
        clock: Seconds.
    """
    outcome, until = Outcome(), clock() + seconds
    directory = kept / target.name
    known = sorted(directory.glob("*.bin"))
    for file in known:
        if _fails(target, file.read_bytes(), outcome, directory):
            return outcome
    number = first_seed
    while not outcome.failure and (number == first_seed or clock() < until):
        _round(target, number, outcome, directory)
        number += 1
    return outcome


def _fails(target: Target, data: bytes, outcome: Outcome, directory: Path) -> bool:
    outcome.inputs += 1
    try:
        target.check(data)
    except Exception:  # noqa: BLE001  that is what is looked for
        _keep(outcome, data, directory)
    return bool(outcome.failure)


def _round(target: Target, number: int, outcome: Outcome, directory: Path) -> None:
    last = [b""]

    @seed(number)
    @settings(
        max_examples=_ROUND,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(target.seeds()))
    def tried(data: bytes) -> None:
        outcome.inputs += 1
        last[0] = data
        target.check(data)

    try:
        tried()
    except Exception:  # noqa: BLE001  the smallest input that fails came last
        _keep(outcome, last[0], directory)


def _keep(outcome: Outcome, data: bytes, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    outcome.failure = traceback.format_exc()
    outcome.file = directory / f"{hashlib.sha256(data).hexdigest()[:16]}.bin"
    outcome.file.write_bytes(data)

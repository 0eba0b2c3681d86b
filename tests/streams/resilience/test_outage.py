import threading

import pytest
import structlog.testing

from streams.resilience import Outage, retry
from tests.metric_values import value


class Away(Exception):
    pass


class Clock:
    """A clock, and an event whose waiting moves it."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self._stop_after = stop_after

    def __call__(self) -> float:
        return self.now

    def wait(self, timeout: float) -> bool:
        self.waits.append(timeout)
        self.now += timeout
        return self._stop_after is not None and len(self.waits) >= self._stop_after


def outage_of(clock: Clock, **settings: float) -> Outage:
    return Outage("store", clock=clock, chance=lambda: 0.0, **settings)  # type: ignore[arg-type]


def run(outage: Outage, clock: Clock, times: int, error: type[Exception] = Away) -> str:
    """Retry what fails so many times."""
    left = [times]

    def action() -> str:
        if left[0]:
            left[0] -= 1
            raise error("gone")
        return "done"

    return retry(action, outage, on=Away, stop=clock)  # type: ignore[arg-type]


def test_pauses_double_up_to_their_limit_and_the_result_comes_through() -> None:
    clock = Clock()
    outage = outage_of(clock, first_s=0.2, limit_s=1.0)
    assert run(outage, clock, 5) == "done"
    assert clock.waits == [0.2, 0.4, 0.8, 1.0, 1.0]
    assert (value(outage.metrics.retries), value(outage.metrics.outages), outage.ongoing) == (5, 1, False)
    assert value(outage.metrics.unavailable) == pytest.approx(3.4)


def test_every_outage_begins_with_the_first_pause() -> None:
    clock = Clock()
    outage = outage_of(clock, first_s=0.2)
    run(outage, clock, 3)
    run(outage, clock, 1)
    assert clock.waits == [0.2, 0.4, 0.8, 0.2]
    assert value(outage.metrics.outages) == 2


def test_chance_shortens_a_pause_by_up_to_half() -> None:
    outage = Outage("store", first_s=1.0, limit_s=1.0, chance=lambda: 1.0)
    assert outage.failed("gone") == 0.5
    assert 0.5 <= Outage("store", first_s=1.0).failed("gone") <= 1.0


def test_an_outage_is_logged_once_when_it_begins_and_once_when_it_ends() -> None:
    clock = Clock()
    outage = outage_of(clock)
    with structlog.testing.capture_logs() as logs:
        run(outage, clock, 7)
        run(outage, clock, 0)
        run(outage, clock, 2)
    assert [entry["event"] for entry in logs] == ["dependency_unavailable", "dependency_available"] * 2
    assert (logs[0]["dependency"], logs[0]["error"]) == ("store", "gone")


def test_time_counts_while_an_outage_lasts() -> None:
    clock = Clock()
    outage = outage_of(clock)
    outage.failed("gone")
    clock.now = 30.0
    outage.failed("gone")
    assert (outage.ongoing, value(outage.metrics.unavailable)) == (True, 30.0)


def test_stopping_ends_the_wait_without_claiming_success() -> None:
    clock = Clock(stop_after=2)
    outage = outage_of(clock)
    with pytest.raises(Away):
        run(outage, clock, 9)
    assert outage.ongoing


def test_other_errors_pass_at_once() -> None:
    clock = Clock()
    with pytest.raises(ValueError, match="gone"):
        run(outage_of(clock), clock, 1, ValueError)
    assert clock.waits == []


def test_a_stop_event_wakes_a_waiting_thread() -> None:
    stop, waiting, ended = threading.Event(), threading.Event(), threading.Event()

    def action() -> None:
        waiting.set()
        raise Away("gone")

    def work() -> None:
        with pytest.raises(Away):
            retry(action, Outage("store", first_s=60.0, limit_s=60.0), on=Away, stop=stop)
        ended.set()

    threading.Thread(target=work, daemon=True).start()
    assert waiting.wait(10)
    stop.set()
    assert ended.wait(10)

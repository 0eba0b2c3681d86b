import threading

import pytest
import structlog.testing

from sinks import Hold, SinkRejected, SinkUnavailable
from tests.metric_values import value


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


def holding(clock: Clock, **settings: float) -> Hold:
    return Hold("here", clock=clock, stop=clock, chance=lambda: 0.0, **settings)  # type: ignore[arg-type]


def failing(times: int, error: type[Exception] = SinkUnavailable):
    left = [times]

    def action() -> str:
        if left[0]:
            left[0] -= 1
            raise error("gone")
        return "done"

    return action


def test_waits_grow_to_their_limit_and_the_result_comes_through() -> None:
    clock = Clock()
    hold = holding(clock, first_s=0.2, limit_s=1.0)
    assert hold.run(failing(5)) == "done"
    assert clock.waits == [0.2, 0.4, 0.8, 1.0, 1.0]
    assert (value(hold.metrics.retries), value(hold.metrics.outages), hold.away) == (5, 1, False)
    assert value(hold.metrics.unavailable) == pytest.approx(3.4)


def test_chance_shortens_a_wait_by_up_to_half() -> None:
    clock = Clock()
    Hold("here", clock=clock, stop=clock, chance=lambda: 1.0, first_s=1.0).run(failing(1))  # type: ignore[arg-type]
    assert clock.waits == [0.5]


def test_an_outage_is_said_once_when_it_begins_and_once_when_it_ends() -> None:
    hold = holding(Clock())
    with structlog.testing.capture_logs() as logs:
        hold.run(failing(7))
        hold.run(failing(0))
        hold.run(failing(2))
    assert [entry["event"] for entry in logs] == ["store away", "store back"] * 2


def test_stopping_ends_the_wait_without_claiming_success() -> None:
    hold = holding(Clock(stop_after=2))
    with pytest.raises(SinkUnavailable):
        hold.run(failing(9))
    assert hold.away


def test_a_refusal_is_not_tried_again() -> None:
    clock = Clock()
    with pytest.raises(SinkRejected):
        holding(clock).run(failing(1, SinkRejected))
    assert clock.waits == []


def test_a_stop_event_wakes_a_waiting_thread() -> None:
    stop = threading.Event()
    hold = Hold("here", stop=stop, first_s=60.0)
    ended = threading.Event()

    def run() -> None:
        with pytest.raises(SinkUnavailable):
            hold.run(failing(9))
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    stop.set()
    assert ended.wait(10)

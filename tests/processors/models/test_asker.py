"""Questions beside the engine: never waiting, never doubled, never lost in a dead thread."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from processors.models.asker import Asker
from processors.models.inquiry import Inquiry
from processors.models.language_model import Answer, Question
from records import ModelAnswer
from tests.metric_values import value
from tests.processors.models.questions import QUESTION


class Gated:
    """A model that answers once it is let to."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.asked: list[str] = []

    def ask(self, question: Question) -> Answer | None:
        self.asked.append(question.key)
        self.gate.wait(20)
        return None if question.key == "none" else Answer("gated", question.version, {"class": "a"})


def until(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def named(key: str, about: str = "") -> Inquiry:
    draft = ModelAnswer(id="", job="j", about=about or key, time=0.0, model="", prompt="")
    return Inquiry(replace(QUESTION, key=key), 0, draft)


def test_an_offer_never_waits_and_what_has_no_room_is_dropped() -> None:
    model, given = Gated(), []
    asker = Asker(model, lambda inquiry, _: given.append(inquiry.draft.about), threads=1, waiting=2)
    assert asker.offer(named("a"))
    until(lambda: model.asked == ["a"])
    began = time.monotonic()
    assert [asker.offer(named(key)) for key in ("b", "c", "d")] == [True, True, False]
    assert time.monotonic() - began < 5
    assert (value(asker.metrics.taken), value(asker.metrics.dropped)) == (3, 1)
    model.gate.set()
    until(lambda: given == ["a", "b", "c"])
    asker.offer(named("a"))
    until(lambda: given == ["a", "b", "c", "a"])
    asker.close()
    assert not asker.offer(named("z"))


def test_the_same_question_is_asked_once_and_answers_all_that_ask_it() -> None:
    model, given = Gated(), []
    asker = Asker(model, lambda inquiry, _: given.append(inquiry.draft.about), threads=2, waiting=3)
    taken = [asker.offer(named("a", about)) for about in ("first", "second", "third", "fourth")]
    assert taken == [True, True, True, False], "and no more of them than of others may wait"
    assert (value(asker.metrics.taken), value(asker.metrics.doubled), value(asker.metrics.dropped)) == (1, 2, 1)
    model.gate.set()
    until(lambda: given == ["first", "second", "third"])
    assert model.asked == ["a"]
    asker.close()


def test_a_question_without_an_answer_is_not_delivered() -> None:
    model, given = Gated(), []
    model.gate.set()
    asker = Asker(model, lambda inquiry, _: given.append(inquiry.draft.about), threads=1)
    asker.offer(named("none"))
    asker.offer(named("b"))
    until(lambda: given == ["b"])
    asker.close()


def test_a_failing_delivery_does_not_end_the_thread() -> None:
    model, given = Gated(), []
    model.gate.set()

    def deliver(inquiry: Inquiry, _: Answer) -> None:
        if inquiry.draft.about == "bad":
            raise OSError("the broker is away")
        given.append(inquiry.draft.about)

    asker = Asker(model, deliver, threads=1)
    asker.offer(named("bad"))
    asker.offer(named("good"))
    until(lambda: given == ["good"])
    assert value(asker.metrics.undelivered) == 1
    asker.close()


def test_closing_drops_what_waits() -> None:
    model, given = Gated(), []
    asker = Asker(model, lambda inquiry, _: given.append(inquiry.draft.about), threads=1)
    for key in "abc":
        asker.offer(named(key))
    until(lambda: model.asked == ["a"])
    closing = threading.Thread(target=asker.close)
    closing.start()
    until(lambda: asker._closed)
    with asker._lock:  # held while the queue is emptied
        model.gate.set()
    closing.join(10)
    assert given == ["a"]

"""What long-running commands log of other packages."""

import logging

from schedmate.logging import Seldom


def entry(name: str, line: int) -> logging.LogRecord:
    return logging.LogRecord(name, logging.ERROR, "client.py", line, "no node is there", None, None)


def test_a_chatty_place_speaks_once_in_a_while() -> None:
    now = [0.0]
    seldom = Seldom(("kafka",), every_s=30, clock=lambda: now[0])
    assert seldom.filter(entry("kafka.net", 1))
    assert not seldom.filter(entry("kafka.net", 1))
    assert seldom.filter(entry("kafka.net", 2)), "another place has its own turn"
    now[0] = 30
    assert seldom.filter(entry("kafka.net", 1))


def test_other_packages_are_never_silenced() -> None:
    seldom = Seldom(("kafka",))
    assert all(seldom.filter(entry("kafkaesque", 1)) for _ in range(3))

"""What stands before each line: times in many spellings, levels, loggers, ranks."""

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

Prefix = Callable[[float, int], str]
"""From seconds since 1970, and a rank, to text."""

_TIMES: list[Callable[[datetime], str]] = [
    lambda at: f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}",
    lambda at: f"{at:%Y-%m-%d %H:%M:%S}",
    lambda at: f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z",
    lambda at: f"{at:%Y/%m/%d %H:%M:%S}",
    lambda at: f"{at:%m/%d/%Y %H:%M:%S}",
    lambda at: f"{at:%H:%M:%S}",
    lambda at: f"{at:%b %d %H:%M:%S}",
    lambda at: f"{at:%d.%m.%Y %H:%M:%S}",
    lambda at: f"{at:%Y%m%d-%H%M%S}",
]
_FORMS = [
    "{time} INFO {logger}: ",
    "[{time}] ",
    "[{time}][{logger}][INFO] - ",
    "{time} - {logger} - INFO - ",
    "{time} | INFO     | {logger}:42 - ",
    "{time} ",
    "INFO:{logger}:",
    "INFO {time} ",
    "[{logger}] ",
    "({time}) {logger} > ",
]
_RANKS = ["[rank{}]: ", "{}: ", "[default{}]:", "rank {} | ", "[gpu{}] ", "(worker {}) "]


def draw(random: Random, ranks: int) -> Prefix:
    """Return a prefix of some program; one with the rank where several print."""
    time = random.choice(_TIMES)
    form = random.choice(_FORMS) if random.random() < 0.5 else ""
    logger = random.choice(["train", "trainer", "__main__", "engine.loop", "root", "src.main", "opt"])
    rank_form = random.choice(_RANKS) if ranks > 1 else ""

    def prefix(seconds: float, rank: int) -> str:
        at = datetime.fromtimestamp(seconds, UTC)
        return rank_form.format(rank) + form.format(time=time(at), logger=logger)

    return prefix


def shows_time(prefix: Prefix) -> bool:
    """Return whether a prefix holds the time."""
    return prefix(1.0e9, 0) != prefix(1.1e9, 0)

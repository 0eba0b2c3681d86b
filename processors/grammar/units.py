"""Units of speed: what a text such as `samples / sec`, `s/it` or `ms per step` means."""

import re
from dataclasses import dataclass

SAMPLES, TOKENS, STEPS = "samples/s", "tokens/s", "it/s"
UNNAMED = "/s"
"""Unit of a rate without the name of what it counts: `throughput: 512`."""

_TIMES = {"ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3, "us": 1e-6, "µs": 1e-6}
_TIMES |= dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0)
_TIMES |= dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0)
_TIMES |= dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0)
_TIMES |= {"毫秒": 1e-3, "秒": 1.0, "分": 60.0, "分钟": 60.0, "小时": 3600.0}

_THINGS = {
    SAMPLES: r"samples?|images?|imgs?|im|examples?|ex|sequences?|seqs?|sentences?|sents?|records?|rows?|utterances?|utts?|"
    r"items?|ins|instances?|videos?|clips?|frames?|graphs?|structures?|pairs?|"
    r"pos|positions?|rays?|points?|molecules?|patches|crops|transitions?|timesteps?|documents?|docs?|env[_ ]?steps?",
    TOKENS: r"tokens?|toks?|words?|tgs",
    STEPS: r"steps?|its?|iters?|iterations?|batch(?:es)?|b|updates?|upd|ups",
}
# Patterns are ASCII's where a unit is looked up: to others a long s is an s, and the Kelvin sign a k.
_UNIT = "|".join(sorted(map(re.escape, _TIMES), key=len, reverse=True))
_PER = r"\s*+(?:/|_per_|-per-|\bper\b|_p_)\s*+"
_RATE = {
    kind: re.compile(
        rf"(?ai)(?:^|[^A-Za-z])(?:{things})(?:{_PER}(?:gpu|device|core|chip|rank|card))?{_PER}({_UNIT})(?![A-Za-z])"
    )
    for kind, things in _THINGS.items()
}
_PREFIX = {"k": 1e3, "K": 1e3, "M": 1e6}
HUMP = re.compile(r"(?<=[a-z]{2})(?=[A-Z])")
_SHORT = (
    dict.fromkeys(("fps", "ips", "sps", "qps", "imps"), SAMPLES)
    | dict.fromkeys(("wps", "tps", "tgs"), TOKENS)
    | {"ups": STEPS}
)
_FORMS = {
    "device": re.compile(
        r"(?ai)(?:/|\bper\b|_per_)\s*_?(?:gpu|device|core|chip|rank|worker|card|tpu)|\bdevice/|\btgs\b"
    ),
    "thousands": re.compile(r"[kKM](?=(?:it|img|image|im|tok|token|sample|ex|example|seq|step|record|item)s?/)"),
    "words": re.compile(r"[A-Za-z]+"),
    "period": re.compile(rf"(?ai)(?:^|[^A-Za-z])({_UNIT}){_PER}(?:global[ _]?)?(?:{_THINGS[STEPS]})(?![A-Za-z])"),
    "sample_period": re.compile(rf"(?ai)(?:^|[^A-Za-z])({_UNIT}){_PER}(k?)(?:{_THINGS[SAMPLES]})(?![A-Za-z])"),
    "time": re.compile(rf"(?ai)^\s*({_UNIT})(?![A-Za-z/])"),
    "in_brackets": re.compile(rf"(?ai)[(\[]\s*({_UNIT})\s*[)\]]\s*$|[_ ]in[_ ]({_UNIT})$|_(ms|sec|secs|seconds|s)$"),
}


@dataclass(frozen=True, slots=True)
class Rate:
    """Things a second. `scale` turns the printed number into one a second."""

    unit: str
    scale: float


def rate(text: str) -> Rate | None:
    """Return the rate that `text` names (`images/sec`, `tokens_per_second`, `it/s`), or None."""
    if thousands := _FORMS["thousands"].match(text):
        plain = rate(text[1:])
        return Rate(plain.unit, plain.scale * _PREFIX[thousands[0]]) if plain else None
    spaced = HUMP.sub("_", text)
    for kind in (TOKENS, SAMPLES, STEPS):
        if found := _RATE[kind].search(spaced):
            return Rate(kind + per_device(text), 1.0 / _TIMES[found[1].lower()])
    for word in _FORMS["words"].findall(text.lower()):
        if word in _SHORT:
            return Rate(_SHORT[word] + per_device(text), 1.0)
    return None


def per_device(text: str) -> str:
    """Return `/gpu` where `text` names a rate of a single device."""
    return "/gpu" if _FORMS["device"].search(text) else ""


def period(text: str) -> float | None:
    """Return the seconds in one unit where `text` names time per step (`s/it`, `ms/step`, `sec per iteration`)."""
    found = _FORMS["period"].search(text)
    return _TIMES[found[1].lower()] if found else None


def sample_period(text: str) -> float | None:
    """Return the seconds for one sample in one unit where `text` names time per sample (`us/sample`, `sec/kimg`)."""
    found = _FORMS["sample_period"].search(text)
    return _TIMES[found[1].lower()] / (1000 if found[2] else 1) if found else None


def time_after(text: str) -> float | None:
    """Return the seconds in the unit of time that `text`, standing after a number, begins with."""
    found = _FORMS["time"].match(text)
    return _TIMES[found[1].lower()] if found else None


def time_in(name: str) -> float | None:
    """Return the seconds in the unit of time that a field's name ends with: `iter time (ms)`, `step_time_ms`."""
    found = _FORMS["in_brackets"].search(name)
    return _TIMES[(found[1] or found[2] or found[3]).lower()] if found else None

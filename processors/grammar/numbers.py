"""Numbers as logs print them."""

import re

_DAYS, _HOURS, _MINUTES = r"(?:days?|d)\b", r"(?:hours?|hrs?|h)(?![A-Za-z])", r"(?:minutes?|mins?|m)(?![A-Za-z])"
_SECONDS = r"(?:seconds?|secs?|s)(?![A-Za-z/])"
_GAP = r"[,\s]*(?:and\s+)?"

NUMBER = re.compile(
    r"(?=[-+.\dnNiI])"  # spares most characters what follows
    r"(?:(?<![A-Za-z_\d.])|(?:(?<=poch)|(?<=[Ss]tep)|(?<=[Ii]ter)|(?<=ation)|(?<=[Bb]atch))(?=\d+(?![\w.])))("
    r"(?:\d+\s?(?:days?|d),?\s+)?\d+:\d\d(?::\d\d)?(?:\.\d+)?(?![\d:])"  # 1:23:45, 12:34, 1 day, 2:03:04
    rf"|(?:\d+\s?{_DAYS}{_GAP})?\d+\s?{_HOURS}{_GAP}\d+\s?{_MINUTES}(?:{_GAP}\d+(?:\.\d+)?\s?{_SECONDS})?"  # 1h 2m 3s
    rf"|\d+\s?{_MINUTES}{_GAP}\d+(?:\.\d+)?\s?{_SECONDS}"  # 8 minutes 20 seconds
    r"|\d+s\d+ms"  # 2s80ms, as Keras prints it
    r"|(?<![\[(,])[-+]?\d+,(?:\d\d?|\d{4,})(?:[eE][-+]?\d+)?(?![,.]?\d)"  # 0,2322, as much of Europe prints it
    r"|[-+]?(?:\d{1,3}(?:,\d{3})+(?![\d])|\d+)(?:\.\d*)?(?:[eE][-+]?\d+)?(?:[kKMG](?![A-Za-z]))?"  # 1,234.5e-3, 23.7k
    r"|[-+]?\.\d+(?:[eE][-+]?\d+)?"  # .25
    r"|(?:(?<=[Ll]oss )|(?<=[Ll]oss: )|(?<=[Ll]oss[:=]))[-+]?(?:nan|NaN|NAN|inf|Inf|INF)(?![A-Za-z_])"  # `loss nan step 3`
    r"|[-+]?(?:nan|NaN|NAN|inf|Inf|INF|Infinity)(?![A-Za-z_]|\s+(?:iter|step|value|grad|loss|or|in|detect|check))"
    r")"
)
"""One number, as group 1. A digit that belongs to a word (`top1`, `fc6`, `P100`) is none."""

_FORMS = {
    "comma": re.compile(r"[-+]?(?:\d++,(?:\d\d?|\d{4,}+)|0,\d++)(?:[eE][-+]?\d+)?"),
    "part": re.compile(r"(?<!\d)(\d++(?:\.\d++)?+)\s?(ms|[dhms])"),
    "after_days": re.compile(r"\s?d(?:ays?)?,?\s+"),
}
_SECONDS_IN = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
_OF_A_DURATION = frozenset(":hms")
_SUFFIX = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


def with_point(text: str) -> str:
    """Return what `NUMBER` matched with a decimal point where it has a decimal comma: groups of thousands have three digits."""
    return text.replace(",", ".") if "," in text and _FORMS["comma"].fullmatch(text) else text


def is_ambiguous(text: str) -> bool:
    """Return whether the comma of `text` may be a decimal one or that of thousands: `1,234`."""
    return text.count(",") == 1 and "." not in text and with_point(text) == text


def parse(text: str) -> float:
    """Return the value of what `NUMBER` matched; a duration (`h:mm:ss`, `mm:ss`, `2m 5s`, `1 day, 2:03:04`) in seconds.

    Raises:
        ValueError: `text` is no such number.
    """
    try:
        return float(text)
    except ValueError:
        return _special(text)


def is_duration(text: str) -> bool:
    """Return whether `text`, which `NUMBER` matched, has the form of a duration."""
    return not _OF_A_DURATION.isdisjoint(text)


def _special(text: str) -> float:
    if ":" in text:
        *days, clock = _FORMS["after_days"].split(text)
        seconds = 0.0
        for part in clock.split(":"):
            seconds = seconds * 60 + float(part)
        return seconds + (float(days[0]) * _SECONDS_IN["d"] if days else 0.0)
    if is_duration(text):
        return sum(float(count) * _SECONDS_IN[unit] for count, unit in _FORMS["part"].findall(text))
    if (pointed := with_point(text)) != text:
        return float(pointed)
    scale = _SUFFIX.get(text[-1:], 1.0)
    if scale != 1.0:
        text = text[:-1]
    return float(text.replace(",", "")) * scale

"""Numbers as logs print them."""

import re

NUMBER = re.compile(
    r"(?<![A-Za-z_\d.])("
    r"\d+:\d\d(?::\d\d)?(?:\.\d+)?(?![\d:])"  # 1:23:45, 12:34
    r"|[-+]?(?:\d{1,3}(?:,\d{3})+(?![\d])|\d+)(?:\.\d*)?(?:[eE][-+]?\d+)?(?:[kKMG](?![A-Za-z]))?"  # 1,234.5e-3, 23.7k
    r"|[-+]?\.\d+(?:[eE][-+]?\d+)?"  # .25
    r"|[-+]?(?:nan|NaN|NAN|inf|Inf|INF|Infinity)(?![A-Za-z_]|\s+(?:iter|step|value|grad|loss|or|in|detect|check))"
    r")"
)
"""One number, as group 1. A digit that belongs to a word (`top1`, `fc6`, `P100`) is none."""

_SUFFIX = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


def parse(text: str) -> float:
    """Return the value of what `NUMBER` matched; a duration `h:mm:ss` or `mm:ss` in seconds.

    Raises:
        ValueError: `text` is no such number.
    """
    try:
        return float(text)
    except ValueError:
        return _special(text)


def _special(text: str) -> float:
    if ":" in text:
        seconds = 0.0
        for part in text.split(":"):
            seconds = seconds * 60 + float(part)
        return seconds
    scale = _SUFFIX.get(text[-1:], 1.0)
    if scale != 1.0:
        text = text[:-1]
    return float(text.replace(",", "")) * scale

r"""What a process printed where a collector or a logger put it into JSON: one line of it, or a whole traceback with escaped line ends.

{"message": "KeyError: 'w'", "host": "n1", "time": "…"}
{"level": "ERROR", "msg": "failed", "exc_info": "Traceback (most recent call last):\n  File \"t.py\", line 3 …"}
"""

import re

import msgspec

_LINE = re.compile(r'\{.{0,600}?"(?:log|message|msg|textPayload|MESSAGE)": ?("(?:[^"\\]|\\.){0,1500}")')
_MORE = re.compile(r'"(?:exc\w*|stack\w*|traceback)": ?["{\[]')
"""A field that tells of an exception, more than the message does."""
_TO_ITS_END = re.compile(r'(?:[^"\\]|\\.)*')
"""A text up to the quotation mark that ends it."""
_FIRST = 400
"""Characters of a long line that are read in front of what its traceback ends with."""
HEADER = "Traceback (most recent call last)"


def spoken(line: str) -> str:
    """Return the one line that `line`, a JSON object, carries; empty where it is none, carries several, or tells more than a line."""
    found = _LINE.match(line) if line.startswith("{") else None
    if not found or _MORE.search(line):
        return ""
    try:
        text = msgspec.json.decode(found[1], type=str).rstrip("\n")
    except msgspec.DecodeError:
        return ""
    return "" if "\n" in text else text


def unrolled(text: str) -> list[str]:
    r"""Return the lines of a traceback whose line ends are written as `\n`; `text` begins with its header. Empty where it has none."""
    if ' File \\"' in text and (found := _TO_ITS_END.match(text)):
        text = found[0].replace('\\"', '"')
    elif ' File "' not in text:
        return []
    lines = text.replace("\\\\n", "\\n").split("\\n")
    return lines if len(lines) > 2 else []


def excerpt(line: str, length: int) -> str:
    """Return the first `length` characters of `line`; of a longer one that holds a traceback, how it begins and how that ends."""
    start = line.find(HEADER) if len(line) > length else -1
    if start < 0 or "\\n" not in line:
        return line[:length]
    found = _TO_ITS_END.match(line, start + len(HEADER))
    body = found[0] if found and ' File \\"' in line else line[start + len(HEADER) :]
    head = line[: min(start, _FIRST)] + HEADER
    return head + body[len(head) - length :]

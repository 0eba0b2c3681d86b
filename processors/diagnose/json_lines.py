r"""Messages inside JSON, written by a collector or a logger: one line, or a traceback with escaped line ends.

{"message": "KeyError: 'w'", "host": "n1", "time": "…"}
{"level": "ERROR", "msg": "failed", "exc_info": "Traceback (most recent call last):\n  File \"t.py\", line 3 …"}
"""

import re

import msgspec

HEADER = "Traceback (most recent call last)"
_HEAD = 400
"""Characters of a long line that are read before the end of its traceback: time, level and logger."""
_PATTERNS = {
    "message": re.compile(r'^\{.{0,600}?"(?:log|message|msg|textPayload|MESSAGE)": ?("(?:[^"\\]|\\.){0,1500}")'),
    "exception_field": re.compile(r'"(?:exc\w*|stack\w*|traceback)": ?["{\[]'),
    "string_rest": re.compile(r'(?:[^"\\]|\\.)*'),
}


def json_message(line: str) -> str:
    """Return the single line that `line`, a JSON object, carries; empty if it is none, or carries an exception besides."""
    found = _PATTERNS["message"].match(line) if line.startswith("{") else None
    if not found or _PATTERNS["exception_field"].search(line):
        return ""
    try:
        text = msgspec.json.decode(found[1], type=str).rstrip("\n")
    except msgspec.DecodeError:
        return ""
    return "" if "\n" in text else text


def split_escaped_lines(text: str) -> list[str]:
    r"""Return the lines of a traceback whose line ends are written as `\n`; `text` begins with its header. Empty if it has none."""
    if ' File \\"' in text and (found := _PATTERNS["string_rest"].match(text)):
        text = found[0].replace('\\"', '"')
    elif ' File "' not in text:
        return []
    lines = text.replace("\\\\n", "\\n").split("\\n")
    return lines if len(lines) > 2 else []


def shorten(line: str, length: int) -> str:
    """Return the first `length` characters of `line`; of a longer one that holds a traceback, its beginning and the traceback's end."""
    start = line.find(HEADER) if len(line) > length else -1
    if start < 0 or "\\n" not in line:
        return line[:length]
    found = _PATTERNS["string_rest"].match(line, start + len(HEADER))
    body = found[0] if found and ' File \\"' in line else line[start + len(HEADER) :]
    head = line[: min(start, _HEAD)] + HEADER
    return head + body[len(head) - length :]

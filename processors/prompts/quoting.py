r"""Lines of a log as data in a prompt: numbered, cut, delimited, and unable to be anything else.

Text that a job prints may hold instructions, chat markers of a model (`<|im_start|>`, `[INST]`), line ends of all kinds or the end of
the quotation. So every control, format and separator character is written as `\uNNNN`, and angle brackets, which chat markers and our own
delimiters are made of, are replaced by others of similar form. What remains is one numbered line a line.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 300
"""Characters of a line that are quoted."""

BEGIN, END = "<log>", "</log>"
"""Around the quoted lines. No quoted line can hold either."""

_SIMILAR = str.maketrans({"<": "\u2039", ">": "\u203a", "\uff5c": "|"})
_MARKER = re.compile(
    r"\[(?=/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|gMASK)\])"
)
_PLAIN = re.compile(r"[ -;=?-~]*")


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line and its number in its stream."""

    number: int
    text: str


def harmless(text: str, longest: int = LONGEST) -> str:
    """Return `text`, cut to `longest` characters, as one line without markers or control characters."""
    left_out = len(text) - longest
    text = text[:longest]
    if not _PLAIN.fullmatch(text):
        text = "".join(_escaped(each) for each in text.translate(_SIMILAR))
    text = _MARKER.sub("(", text)
    return f"{text} … {left_out} characters left out" if left_out > 0 else text


def quoted(lines: Sequence[NumberedLine | str], longest: int = LONGEST) -> str:
    """Return `lines` between the delimiters, each with its number; a plain text is a heading and has none."""
    return "\n".join([BEGIN, *(_quoted(each, longest) for each in lines), END])


def _quoted(each: NumberedLine | str, longest: int) -> str:
    return harmless(each, longest) if isinstance(each, str) else f"{each.number}: {harmless(each.text, longest)}"


def _escaped(each: str) -> str:
    kind = unicodedata.category(each)
    if each == "\t" or kind == "Zs":
        return " "
    if kind.startswith(("C", "Zl", "Zp")):
        return f"\\u{ord(each):04x}"
    return each

r"""Python tracebacks, read whole from a stream of lines, however they are cut, chained or interleaved.

The reader is fed only lines that may belong to a traceback; it tells when an exception is complete. Its state is small and can be stored.
A collector or a logger may put what a process printed into JSON: one line of it, or a whole traceback with escaped line ends.

{"message": "KeyError: 'w'", "host": "n1", "time": "…"}
{"level": "ERROR", "msg": "failed", "exc_info": "Traceback (most recent call last):\n  File \"t.py\", line 3 …"}
"""

import re

import msgspec

from schedmate_records import Evidence

from ..grammar.prefix import clean, strip_prefix

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


OPEN = 8
"""Tracebacks of one stream that may be open at once (ranks that print into one file)."""
READ = 200
"""Characters of a prefix that may be learned."""
STRAY = 40
"""Lines that belong to nothing after which a traceback is given up as cut off."""

_ZEROS = str.maketrans("123456789", "000000000")
_FRAME = re.compile(
    r'\s*File "([^"]{1,500})", line \d+(?:, in (.{1,120}))?'
    r"|[│|] (\S{1,500}\.\w{1,4}):\d+ in (\S.{0,120}?)(?<! ) *+[│|]"  # Rich
    r"|(?:File )?([~/<]\S{1,500}?)(?::\d+,)? in ([\w<].{0,120})"  # IPython
)
_SUFFIX = (
    r"(?:Error|Exception|Interrupt|Exit|Iteration|Warning|Timeout|Failure|Fault|Empty|Full|Killed|Abort|Invalid|Died"
    r"|NotFound|timeout|Signal)"
)
_CERTAIN = re.compile(
    rf"((?:[A-Za-z_]\w*\.){{0,8}}[A-Za-z_]\w{{0,80}}?{_SUFFIX}\w{{0,20}})"
    r"(?:\([\w.]{0,80}\)| \(see above for traceback\))?(?::(?:\s|$)(.*)|\s*$)"
)
_PLAIN = re.compile(r"(Exception): \S")
"""Python's general class, which words in front of a colon can be only where they are the first."""
_LIKELY = re.compile(r"((?:[A-Za-z_]\w*\.){0,8}[A-Z]\w{1,80})(?::(?:\s(.*)|$)|\s*$)")
_ENDS = re.compile(
    r"(?:\\n|\s)((?:[a-z_]\w*\.){0,8}[A-Z]\w{1,60}?(?:Error|Exception|Interrupt)): ((?:(?!\\n|\").){0,300})"
)
_GLUED = re.compile(r"((?:[a-z_]\w*\.){0,8}[A-Z]\w{2,60}?(?:Error|Exception))(?:\1)+")
_TOLD = re.compile(r".{1,160}?[\s:(\[\"']((?:[a-z_]\w*\.){0,8}[A-Z]\w{1,60}?(?:Error|Exception))(?::\s|\()")
"""An exception that a sentence tells of."""
_FIELDS = re.compile(
    r'"(?:exc_)?type": ?"((?:[a-z_]\w*\.){0,8}[A-Z]\w{1,60}?(?:Error|Exception))", ?"(?:exc_)?value": ?"((?:[^"\\]|\\.){0,300})'
)
"""An exception as structured loggers give it in fields of their own."""
_SPOKEN = re.compile(r"\W{0,3}[ ,]\s?[a-z]")
"""What follows the words of a header where they stand in a sentence."""
_CAUSE = "The above exception was the direct cause"
_HANDLING = "During handling of the above exception"
_THREAD = re.compile(r'Exception in thread (?!"main")|Exception in callback')
_SIDE = re.compile(
    r"Exception ignored in|Error in atexit|--- Logging error ---|Exception while exporting"
    r"|Exception in ASGI application|Exception on \S+ \[[A-Z]+\]"
)
_GROUP = re.compile(r"\s*[|+]\ (?=\s|\w)(?:-+\ ?)?")
"""The bar before the lines of an exception group."""
_LIBRARY = re.compile(r"(?:site|dist)-packages[/\\]|[/\\]lib[/\\]python\d|<frozen |^<__array_function__")
_PACKAGE = re.compile(r".*(?:site|dist)-packages[/\\]([\w-]+)")


class Raised(msgspec.Struct, frozen=True):
    """A complete exception.

    Attributes:
        name: Class of the exception, dotted as printed.
        message: What it says.
        line: Line of the exception itself; of the header where the traceback was cut off.
        last: File of the innermost frame.
        caller: File of the frame around it.
        code: What the innermost frame was about to do: its source line as printed.
        importing: Whether a module of a library was being imported.
        side: Whether a helper thread or an exit handler raised it, or it was only logged.
        thread: Whether it ended a helper thread.
        chained: `""`, `cause` or `handling`: how it follows from the exception before it.
        complete: False where only its beginning was there.
    """

    name: str
    message: str
    line: int
    last: str = ""
    caller: str = ""
    code: str = ""
    importing: bool = False
    side: bool = False
    thread: bool = False
    chained: str = ""
    complete: bool = True


class OpenTraceback(msgspec.Struct):
    """A traceback whose exception has not come yet.

    Attributes:
        tag: What launchers put before its lines.
        lead: What else stood before its header: in front of its other lines too, but for digits, where a log collector put it.
    """

    tag: str
    lead: str
    header: Evidence
    time: float
    frames: int = 0
    base: int = 0
    inside: bool = False
    last: str = ""
    caller: str = ""
    code: str = ""
    importing: bool = False
    side: bool = False
    thread: bool = False
    chained: str = ""
    stray: int = 0


class TracebackState(msgspec.Struct):
    """What the reader remembers of one stream: open tracebacks, and what was said shortly before the next one."""

    open: list[OpenTraceback] = []
    note: str = ""
    note_line: int = 0


def package(path: str) -> str:
    """Return the installed package that the file `path` belongs to; empty for a file of the user's own."""
    found = _PACKAGE.match(path)
    return found[1] if found else ("python" if _LIBRARY.search(path) else "")


def feed(state: TracebackState, line: str, place: Evidence, time: float) -> tuple[bool, Raised | None]:
    """Take one line. Return whether it belongs to a traceback, and the exception that it completes."""
    tag, text = _own(line)
    at = text.find(HEADER)
    if at >= 0 and not _SPOKEN.match(text, at + len(HEADER)):
        if raised := _whole(text[at:], place, time):
            return True, raised
        whole = clean(line)
        lead = whole[: whole.find(HEADER)] if text[:at].strip() else ""
        _begin(state, OpenTraceback(tag, lead if len(lead) <= READ else "", place, time, base=0 if lead else at))
        return True, None
    if _remark(state, text, place.line):
        return True, None
    mine, text = _owner(state, line, tag, text)
    if mine is None:
        return False, None
    return _continue(state, mine, text, place.line)


def _whole(text: str, place: Evidence, time: float) -> Raised | None:
    """Return the last exception of a traceback that stands in one line, as structured loggers write it."""
    raised, state = None, TracebackState()
    for one in unrolled(text):
        raised = feed(state, one, place, time)[1] or raised
    if raised or (' File \\"' not in text and ' File "' not in text):
        return raised
    found = max(_ENDS.finditer(text), key=re.Match.start, default=None)
    return Raised(found[1], found[2], place.line) if found else None


def _owner(state: TracebackState, line: str, tag: str, text: str) -> tuple[OpenTraceback | None, str]:
    """Return the open traceback that `line` may go on with, and the line without what stands before it."""
    led = [one for one in state.open if one.lead]
    if led:
        whole = clean(line)
        alike = [one for one in led if masked(whole[: len(one.lead)]) == masked(one.lead)]
        if alike:  # of two that differ in their digits, the one with more words in common: a rank's number stays, a time does not
            words = whole.split()
            mine = max(reversed(alike), key=lambda one: sum(map(str.__eq__, words, one.lead.split())))
            return mine, whole[len(mine.lead) :]
    return next((one for one in state.open if one.tag == tag), None), text


def _own(line: str) -> tuple[str, str]:
    """Return the tag of the process that printed `line`, and what it printed; the bars of exception groups belong to the tag."""
    prefixed = strip_prefix(line)
    tag, text = prefixed.tag, prefixed.text
    while found := _GROUP.match(text):
        tag, text = tag + "|", text[found.end() :]
    return tag, text


def masked(text: str) -> str:
    """Return `text` with all digits as 0."""
    return text.translate(_ZEROS)


def bare(line: str, number: int, *, telling: bool) -> Raised | None:
    """Return the exception that `line` names without a traceback before it, if any; `telling`: also amid other words."""
    text = _own(line)[1].strip()
    found = _GLUED.match(text) or _CERTAIN.match(text) or _PLAIN.match(text)
    if not found and (told := _FIELDS.search(text)):
        return Raised(told[1], told[2], number)
    if not found:
        text = strip_prefix(line).body
        found = _CERTAIN.match(text) or (_TOLD.match(text) if telling else None)
    if not found:
        return None
    return Raised(found[1], text[found.end(1) :].lstrip(": "), number, complete=False)


def give_up(one: OpenTraceback) -> Raised:
    """Return what is known of a traceback that was cut off before its exception; a notebook names that in front of the header."""
    named = strip_prefix(one.lead).body.strip()
    return _raised(one, named if _CERTAIN.fullmatch(named) else "", "", one.header.line, complete=False)


def _raised(one: OpenTraceback, name: str, message: str, line: int, *, complete: bool = True) -> Raised:
    return Raised(
        name,
        message,
        line,
        last=one.last,
        caller=one.caller,
        code=one.code,
        importing=one.importing,
        side=one.side,
        thread=one.thread,
        chained=one.chained,
        complete=complete,
    )


def _begin(state: TracebackState, new: OpenTraceback) -> None:
    near = state.note and new.header.line - state.note_line <= 3
    already = next((one for one in state.open if (one.tag, one.lead) == (new.tag, new.lead)), None)
    if already:
        if already.frames == 0:  # another rank's header, printed into the same stream
            return
        state.open.remove(already)
    if len(state.open) >= OPEN:
        state.open.pop(0)
    if near:
        new.side, new.thread = state.note in {"side", "thread"}, state.note == "thread"
        new.chained = state.note if state.note in {"cause", "handling"} else ""
    state.open.append(new)
    state.note = ""


def _remark(state: TracebackState, text: str, line: int) -> bool:
    if _CAUSE in text:
        state.note = "cause"
    elif _HANDLING in text:
        state.note = "handling"
    elif _THREAD.search(text):
        state.note = "thread"
    elif _SIDE.search(text):
        state.note = "side"
    else:
        return False
    state.note_line = line
    return True


def _continue(state: TracebackState, mine: OpenTraceback, text: str, line: int) -> tuple[bool, Raised | None]:
    frame = _FRAME.match(text)
    if frame:
        mine.frames += 1
        mine.stray = 0
        mine.inside = True
        indent = len(text) - len(text.lstrip())
        # Frames stand two columns in from their header, but where something shifted them: an exception then stands where they do.
        mine.base = indent if indent <= mine.base else indent - 2
        file, function = frame[1] or frame[3] or frame[5], frame[2] or frame[4] or frame[6]
        mine.caller, mine.last, mine.code = mine.last, file[-200:], ""
        if function == "<module>" and package(file):
            mine.importing = True
        return True, None
    stripped = text.strip()
    indent = len(text) - len(text.lstrip())
    if not stripped:
        return True, None
    if indent > max(mine.base, 0):
        mine.code = mine.code or stripped[:200]
        return True, None
    found = _GLUED.match(stripped) or _CERTAIN.match(stripped) or (_LIKELY.match(stripped) if mine.inside else None)
    if found and mine.frames:
        state.open.remove(mine)
        message = stripped[found.end(1) :].lstrip(": ")
        return True, _raised(mine, found[1], message, line)
    mine.inside = False
    mine.stray += 1
    if mine.stray > STRAY:
        state.open.remove(mine)
        return False, give_up(mine)
    return False, None

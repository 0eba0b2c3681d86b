"""Python tracebacks, read from a stream of lines, however they are cut, chained or interleaved.

The reader gets only lines that may belong to a traceback, and returns an exception once it is complete. Its state can be stored.
"""

import re

import msgspec

from schedmate_records import Evidence

from ..grammar.prefix import clean, strip_prefix
from .catalogue import masked
from .json_lines import HEADER, split_escaped_lines

MAX_OPEN = 8
"""Maximum number of open tracebacks of one stream: ranks may print into one file."""
_MAX_PREFIX = 200
"""Maximum length of a prefix that the lines of a traceback share, in characters."""
_MAX_OTHER_LINES = 40
"""Number of lines that belong to nothing after which a traceback counts as cut off."""
_SUFFIXES = (
    r"(?:Error|Exception|Interrupt|Exit|Iteration|Warning|Timeout|Failure|Fault|Empty|Full|Killed|Abort|Invalid|Died"
    r"|NotFound|timeout|Signal)"
)
_PATTERNS = {
    "frame": re.compile(
        r'^(?:\s*File "(?P<python>[^"]{1,500})", line \d+(?:, in (?P<f1>.{1,120}))?'
        r"|[│|] (?P<rich>\S{1,500}\.\w{1,4}):\d+ in (?P<f2>\S.{0,120}?)(?<! ) *+[│|]"
        r"|(?:File )?(?P<notebook>[~/<]\S{1,500}?)(?::\d+,)? in (?P<f3>[\w<].{0,120}))"
    ),
    "exception": re.compile(
        rf"^((?:[A-Za-z_]\w*\.){{0,8}}[A-Za-z_]\w{{0,80}}?{_SUFFIXES}\w{{0,20}})"
        r"(?:\([\w.]{0,80}\)| \(see above for traceback\))?(?::(?:\s|$)(.*)|\s*$)"
    ),
    "likely_exception": re.compile(r"^((?:[A-Za-z_]\w*\.){0,8}[A-Z]\w{1,80})(?::(?:\s(.*)|$)|\s*$)"),
    "plain_exception": re.compile(r"^(Exception): \S"),
    "repeated_exception": re.compile(r"^((?:[a-z_]\w*\.){0,8}[A-Z]\w{2,60}?(?:Error|Exception))(?:\1)+"),
    "mentioned_exception": re.compile(
        r"^.{1,160}?[\s:(\[\"']((?:[a-z_]\w*\.){0,8}[A-Z]\w{1,60}?(?:Error|Exception))(?::\s|\()"
    ),
    "escaped_exception": re.compile(
        r"(?:\\n|\s)((?:[a-z_]\w*\.){0,8}[A-Z]\w{1,60}?(?:Error|Exception|Interrupt)): ((?:(?!\\n|\").){0,300})"
    ),
    "group_bar": re.compile(r"^\s*[|+]\ (?=\s|\w)(?:-+\ ?)?"),
    "sentence": re.compile(r"\W{0,3}[ ,]\s?[a-z]"),
    "library": re.compile(r"(?:site|dist)-packages[/\\]|[/\\]lib[/\\]python\d|<frozen |^<__array_function__"),
    "package": re.compile(r"^.*(?:site|dist)-packages[/\\]([\w-]+)"),
}
"""Patterns of the lines of tracebacks. `sentence` follows a header that is quoted in prose; ranks may print one name twice."""
_REMARKS = {
    "cause": re.compile(r"The above exception was the direct cause"),
    "handling": re.compile(r"During handling of the above exception"),
    "thread": re.compile(r'Exception in thread (?!"main")|Exception in callback'),
    "side": re.compile(
        r"Exception ignored in|Error in atexit|--- Logging error ---|Exception while exporting"
        r"|Exception in ASGI application|Exception on \S+ \[[A-Z]+\]"
    ),
}
"""Lines before a traceback that state what it belongs to."""


class Place(msgspec.Struct):
    """Places in the frames of a traceback.

    Attributes:
        last: File of the innermost frame.
        caller: File of the frame around it.
        code: Source line of the innermost frame, as printed.
        importing: True if a module of a library was being imported.
        remark: Name of the remark before the traceback (`_REMARKS`); empty for none.
    """

    last: str = ""
    caller: str = ""
    code: str = ""
    importing: bool = False
    remark: str = ""


class Raised(msgspec.Struct, frozen=True):
    """An exception.

    Attributes:
        name: Class of the exception, dotted as printed.
        message: Its message.
        place: What its frames state.
        complete: False if there is no complete traceback.
    """

    name: str
    message: str
    place: Place = msgspec.field(default_factory=Place)
    complete: bool = True

    @property
    def is_side(self) -> bool:
        """True if a helper thread or an exit handler raised it, or it was only logged."""
        return self.place.remark in {"side", "thread"}


class OpenTraceback(msgspec.Struct):
    """A traceback whose exception has not come yet.

    Attributes:
        tag: What launchers print before its lines.
        prefix: What a collector prints before its lines besides, equal but for digits.
        header: Its first line.
        time: Arrival of its first line, in seconds since 1970.
        place: What its frames state.
        frames: Number of frames.
        indent: Indentation of its header.
        inside: True right after a frame.
        other_lines: Number of lines since its newest frame that do not belong to it.
    """

    tag: str
    prefix: str
    header: Evidence
    time: float
    place: Place = msgspec.field(default_factory=Place)
    frames: int = 0
    indent: int = 0
    inside: bool = False
    other_lines: int = 0

    def cut_off(self) -> Raised:
        """Return what is known of it without its end; a notebook prints the name of the exception before the header."""
        name = strip_prefix(self.prefix).body.strip()
        name = name if _PATTERNS["exception"].fullmatch(name) else ""
        return Raised(name, "", self.place, complete=False)


class TracebackState(msgspec.Struct):
    """State of one stream: open tracebacks, and the newest remark about the next one."""

    open: list[OpenTraceback] = []
    remark: str = ""
    remark_line: int = 0


def package_of(path: str) -> str:
    """Return the installed package that the file `path` belongs to; empty for a file of the user."""
    found = _PATTERNS["package"].match(path)
    return found[1] if found else ("python" if _PATTERNS["library"].search(path) else "")


def read_line(state: TracebackState, line: str, place: Evidence, time: float) -> tuple[bool, Raised | None]:
    """Return whether `line` belongs to a traceback, and the exception that it completes."""
    tag, text = _tag_and_text(line)
    at = text.find(HEADER)
    if at >= 0 and not _PATTERNS["sentence"].match(text, at + len(HEADER)):
        if raised := _read_escaped(text[at:], place, time):
            return True, raised
        whole = clean(line)
        prefix = whole[: whole.find(HEADER)] if text[:at].strip() else ""
        short = prefix if len(prefix) <= _MAX_PREFIX else ""
        _open(state, OpenTraceback(tag, short, place, time, indent=0 if prefix else at))
        return True, None
    remark = next((name for name, pattern in _REMARKS.items() if pattern.search(text)), "")
    if remark:
        state.remark, state.remark_line = remark, place.line
        return True, None
    owner, text = _owner(state, line, tag, text)
    return _continue(state, owner, text) if owner else (False, None)


def read_exception(line: str, *, anywhere: bool) -> Raised | None:
    """Return the exception that `line` names without a traceback, if any; `anywhere`: also between other words."""
    text = _tag_and_text(line)[1].strip()
    names = ("repeated_exception", "exception", "plain_exception")
    found = next((match for name in names if (match := _PATTERNS[name].match(text))), None)
    if not found:
        text = strip_prefix(line).body
        found = _PATTERNS["exception"].match(text)
        found = found or (_PATTERNS["mentioned_exception"].match(text) if anywhere else None)
    return Raised(found[1], text[found.end(1) :].lstrip(": "), complete=False) if found else None


def _read_escaped(text: str, place: Evidence, time: float) -> Raised | None:
    r"""Return the last exception of a traceback in one line with `\n` as line ends."""
    raised, state = None, TracebackState()
    for line in split_escaped_lines(text):
        raised = read_line(state, line, place, time)[1] or raised
    if raised or (' File \\"' not in text and ' File "' not in text):
        return raised
    found = max(_PATTERNS["escaped_exception"].finditer(text), key=re.Match.start, default=None)
    return Raised(found[1], found[2]) if found else None


def _owner(state: TracebackState, line: str, tag: str, text: str) -> tuple[OpenTraceback | None, str]:
    """Return the open traceback that `line` may continue, and the line without its prefix."""
    whole = clean(line)
    similar = [one for one in state.open if one.prefix and masked(whole[: len(one.prefix)]) == masked(one.prefix)]
    if similar:  # two prefixes may differ in digits: a rank's number stays the same in all lines, a time does not
        words = whole.split()
        owner = max(reversed(similar), key=lambda one: sum(map(str.__eq__, words, one.prefix.split())))
        return owner, whole[len(owner.prefix) :]
    return next((one for one in state.open if one.tag == tag), None), text


def _tag_and_text(line: str) -> tuple[str, str]:
    """Return the tag of the process that printed `line`, and what it printed. The bars of exception groups belong to the tag."""
    prefixed = strip_prefix(line)
    tag, text = prefixed.tag, prefixed.text
    while found := _PATTERNS["group_bar"].match(text):
        tag, text = tag + "|", text[found.end() :]
    return tag, text


def _open(state: TracebackState, new: OpenTraceback) -> None:
    known = next((one for one in state.open if (one.tag, one.prefix) == (new.tag, new.prefix)), None)
    if known and known.frames == 0:  # the header of another rank in the same stream
        return
    if known:
        state.open.remove(known)
    if len(state.open) >= MAX_OPEN:
        state.open.pop(0)
    if new.header.line - state.remark_line <= 3:  # a blank line or a header of the logger may stand between
        new.place.remark = state.remark
    state.open.append(new)
    state.remark = ""


def _continue(state: TracebackState, owner: OpenTraceback, text: str) -> tuple[bool, Raised | None]:
    stripped, indent = text.strip(), len(text) - len(text.lstrip())
    if frame := _PATTERNS["frame"].match(text):
        owner.frames, owner.other_lines, owner.inside = owner.frames + 1, 0, True
        # A frame is indented by two more than its header. If something shifted the frames, the exception has their indentation.
        owner.indent = indent if indent <= owner.indent else indent - 2
        file = frame["python"] or frame["rich"] or frame["notebook"]
        function = frame["f1"] or frame["f2"] or frame["f3"]
        place = owner.place
        place.caller, place.last, place.code = place.last, file[-200:], ""
        place.importing |= function == "<module>" and bool(package_of(file))
        return True, None
    if not stripped:
        return True, None
    if indent > max(owner.indent, 0):
        owner.place.code = owner.place.code or stripped[:200]
        return True, None
    names = ("repeated_exception", "exception", "likely_exception")[: 3 if owner.inside else 2]
    found = next((match for name in names if (match := _PATTERNS[name].match(stripped))), None)
    if found and owner.frames:
        state.open.remove(owner)
        return True, Raised(found[1], stripped[found.end(1) :].lstrip(": "), owner.place)
    owner.inside = False
    owner.other_lines += 1
    if owner.other_lines > _MAX_OTHER_LINES:
        state.open.remove(owner)
        return False, owner.cut_off()
    return False, None

r"""What stands before a message: colours, rank, time stamp, level, logger. LogPrefix off before a line is read.

The forms: `[rank3]: `, `0: ` (srun -l), `[1,0]<stdout>:` (mpirun), `[gpu3] `, `(worker 3) `, `rank 3 | `,
`(RayTrainWorker pid=12, ip=10.0.0.1) `, `[default0]:` (torchrun),
`stdout F ` (containerd), `[node7] ` before a date, `stderr | `, `[pod/train-0/main] ` (kubectl), `00O ` (GitLab), `12.3s 45 ` (Kaggle),
`n1 train[42]: ` after a time (journal); ISO and American dates, times of day,
`I1212 16:13:33.676 12 file.cc:8] ` (glog, absl), `[1212 16:13:33 @base.py:8] ` (tensorpack);
Python, Java and DeepSpeed loggers.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, "│┃║"), "|")
"""The wide marks that stand between Chinese words, and the lines that tables are drawn with, as ASCII has them."""
_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_MOVES = re.compile(r"\x1b(?:\[[\d;]*(?:[ABD-Hfu]|(?<=\d)K)|[\dDEM])")
"""What leads back to text that is there, as far as one line tells: the cursor moves up, down, back or to a place, or the line is erased.

Which part of it is erased a digit says, and a template has none: all but `K` alone, which erases what follows, counts as the whole. A
screen that is erased (`J`) takes nothing from a log: an error may stand on it.
"""
_AHEAD = re.compile(r"\x1b\[\d*C")
_LEVEL = r"(?:DEBUG|TRACE|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE)"
_CLOCK = r"\d\d:\d\d:\d\d(?:\.\d+|,\d{3,}(?!,\d))?"
_STAMP = (
    rf"\d{{4}}[-/.]\d\d[-/.]\d\d[T _,]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?"
    rf"|\d\d[-/]\d\d(?:[-/]\d{{2,4}})?[ T]{_CLOCK}"
    rf"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov"
    rf"|Dec) +\d+ {_CLOCK}(?: \d{{4}})?"
    rf"|{_CLOCK}(?: [AP]M)?"
)
_RANK = re.compile(
    r"(?:\[(?:rank|default)?(\d+)\]:[ ]?"
    r"|\s*(\d{1,6}): "
    r"|\[\d+,(\d+)\]<std(?:out|err)>:[ ]?"
    r"|[\[(](?:rank|worker|gpu|device|process|replica)[ _:=-]?(\d{1,6})[\])]:?[ ]"
    r"|(?:rank|worker) (\d{1,6}) ?[|:][ ]"
    r"|\((?:[\w.:<>()-]+ )?pid=\d+(?:, [^)]*)?\)[ ]?(?:\[[^\]]{0,60}\][ ])?"
    r"|std(?:out|err)(?: [FP]|:| \|) "
    r"|(?=[A-Za-z][\w.-]*-\d)[\w.-]++: "
    r"|[\w.-]+-\d++ ++\| "
    r"|\[pod/[\w.-]+/[\w.-]+\] "
    r"|\d\d[OE][+ ]"
    r"|\d+\.\ds[ \t]+\d+[ \t]"
    r"|\[(?=[A-Za-z][\w.-]*\d)[\w.-]++\] (?=\d{4}-\d\d-\d\d[ T]))"
)
_SYSTEM = re.compile(
    rf"(?!{_LEVEL}\b)[\w.-]{{1,64}} (?:[\w./@-]{{1,64}}\[\d+\]|kernel): "
    r"|\{(?:subprocess|process_utils|pod_manager|docker|ssh)\.py:\d+\} INFO - (?:\[base\] )?"
)
"""Host and process as the system's log and the journal write them after the time; Airflow, where it only passes a job's lines on."""
_TIME = re.compile(rf"\s*[\[(<]?({_STAMP})[\])>]?(?=[\s,;|:\]-]|$)(?:[ \t]*[,;|:-])?[ \t]?")
_GLOG = re.compile(r"\[?([IWEF])(\d{4} \d\d:\d\d:\d\d(?:\.\d+)?)\s+(?:\d+\s+)?[\w./<>-]+:\d+\][ ]?")
_MONITOR = re.compile(r"\[(\d{4} \d\d:\d\d:\d\d) @[\w.]+:\d+\][ ]?")
_STANDARD = re.compile(rf"({_LEVEL}):[\w.]+:")
_NAMED = re.compile(rf"(?:\s*[\[(<]?\b({_LEVEL})\b[\])>]?)(?:[ \t]*[:|-](?=\s|\w)|(?=\s))[ \t]?")
_NAMED_LATER = re.compile(
    rf"[ \t]*(?:\S{{1,80}}[ \t]+){{0,4}}?(?:[\[(<]?\b({_LEVEL})\b[\])>]?)(?=[\s:|\]-])(?:[ \t]*[:|-])?[ \t]?"
)
_LOGGER = re.compile(
    r"(?:\[[\w./<>-]+:\d+(?::[\w<>]+)?\][ ]?|[\w./<>-]+\.\w+:\d+\] |\[(?:pid[ =:])?\d{4,}\][ ]?(?=\S)|/?(?:[\w.-]+/)+[\w.-]+:\d+:\s"
    r"|(?:\w+\.)+[\w$]+(?::\d+)?(?::\s"
    r"|\s+-\s|\]\s))"
)
_DRAWN = re.compile(r"(?:\[[^\]]{1,40}\]|[A-Za-z][\w.-]{0,40}:)\s+(?=\||[-=+]{8})")
"""A word that a logger of people's own puts before a line of a drawn table."""
_TAG = 80
"""Characters of a tag that are kept."""
_GLUED = 250
"""Characters from which a line may be several bars, copied without what parted them."""
_BAR = re.compile(r"(?<!\d)\d++/\d++ \[[=>.]{8,}\]")
_BAR_ON = re.compile(r"(?<!\d)\d++/\d++ \[\d[^\[\]]*?(?:it/s|s/it)(?:[^\[\]]*\](?=[^\s\]),:|])|(?=[a-z]{3,}: ))")
"""A bar to which the next message is glued: one goes to standard error, the other to standard output."""
_MERE = re.compile(rf"(?:[\[(<]?(?:{_STAMP})[\])>]?\s*|\w+: )?[\[(<]?(?:DEBUG|INFO|WARN(?:ING)?)\b")
"""A message by whose own level the bar before it tells more, unless it is grave."""
_GRAVE = re.compile(r"(?i)subset of ranks|stalled|deadlock|nccl|\bxid\b|kill|abort|segv|panic|terminat")
_DRAWN_ON = re.compile(r"\s*\d+(?:\.\d+)?%\|")
"""The same bar, drawn once more when it is closed."""
_WARNING_ON = re.compile(r"(?<=\S)\s+/\S+\.py:\d+: \w*Warning: ")
"""A warning that is glued to a report which did not end its line."""
_REPORT = re.compile(r"(?i)loss\W{0,4}\d|\b(?:step|iter\w*|epoch)\W{0,4}\d")
_NEWS = re.compile(
    r"(?i)loss\W{0,4}\d|\b(?:step|iter\w*|epoch)\W{0,4}\d|error\b|exception|traceback|fault|kill|abort|fail|terminat|time"
    r"|memory|\boom\b|signal|dumped|cancel|nccl|subset of ranks|stalled|deadlock|\bnan\b|panic|segv|refused|unable|cannot|could not"
)
"""What makes the message tell more than the bar."""
_REMEMBERED, _LONGEST_REMEMBERED = 1024, 1000
"""Lines whose prefix is remembered, two chunks of them, and the characters that such a line has at most."""
_LETTERS = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "FATAL"}


@dataclass(frozen=True, slots=True)
class LogPrefix:
    """A line without what stands before its message.

    Attributes:
        body: The message. Its indentation is kept where only a rank stood before it.
        level: Level that a logger printed, in capitals; empty without one.
        stamp: Time stamp as printed; empty without one.
        cell: The stamp is the first cell of a row: a comma or a tab follows.
        rank: Begin and end, in the cleaned line, of the rank that a launcher printed; None without one.
        tag: All that launchers put before the line: lines of one process have one tag.
        text: What the process itself printed after stamp and level: its indentation and the logger's name kept.
    """

    body: str
    level: str
    stamp: str
    rank: tuple[int, int] | None = None
    cell: bool = False
    tag: str = ""
    text: str = ""


def clean(line: str) -> str:
    r"""Return `line` without colours, NUL bytes and line ends. Of several redraws in one piece, the last that shows something.

    Redraws end at `\r`, at `\b` or where the cursor moves back over them; where a copy lost those, bars of Keras's form still tell
    where they begin. Of a bar and the message printed right behind it, the one that tells more is kept; of a bar drawn twice, the second.
    """
    if not line.isascii():
        line = line.translate(_PLAIN)
    if "\x1b" in line:
        line = _COLOURS.sub("", _AHEAD.sub(" ", _MOVES.sub("\r", line)))
    if "\0" in line:
        line = line.replace("\0", "")
    if "\r" in line:
        line = next((part for part in reversed(line.split("\r")) if part.strip()), "")
    if "\b" in line:
        line = next((part for part in reversed(line.split("\b")) if part.strip()), "")
    if len(line) > _GLUED:
        line = _last_of(line)
    if ("it/s" in line or "s/it" in line) and (glued := _BAR_ON.search(line)):
        end = glued.end()
        news = _GRAVE if _MERE.match(line, end) else _NEWS
        newer = news.search(line, end) or _DRAWN_ON.match(line, end)
        line = line[end:] if newer else line[:end]
    if "Warning: " in line and (glued := _WARNING_ON.search(line)) and _REPORT.search(line, 0, glued.start()):
        line = line[: glued.start()]
    return line.rstrip()


def _last_of(line: str) -> str:
    """Return the last of several bars, or dictionaries that begin alike, that stand in one line; else the line."""
    if (bars := _BAR.findall(line))[1:]:
        return line[line.rfind(bars[-1]) :]
    place = line.rfind("} {") + 2
    key = line[place : line.find(":", place)] if place > 1 else ""
    return line[place:] if key and key in line[:place] else line


def strip_prefix(line: str) -> LogPrefix:
    """Return the message of `line`, with what stood before it. Several readers of a new template ask for it one after the other."""
    return _remembered(line) if len(line) <= _LONGEST_REMEMBERED else _strip(line)


def _strip(line: str) -> LogPrefix:  # noqa: C901  # one step after the other
    line = clean(line)
    place, level, stamp, cell, tag = 0, "", "", False, ""
    rank: tuple[int, int] | None = None
    for _ in range(2):
        # Behind a rank a bare number is no other rank: the job counts its steps so.
        if (found := _RANK.match(line, place)) and not (rank and found[2]):
            place, tag = found.end(), tag + found[0].strip()
            rank = rank or (found.span(found.lastindex) if found.lastindex else None)
    if found := _GLOG.match(line, place):
        body = line[found.end() :]
        return LogPrefix(body, _LETTERS[found[1]], found[2], rank, tag=tag[:_TAG], text=body)
    if found := _MONITOR.match(line, place):
        stamp, place = found[1], found.end()
    elif found := _TIME.match(line, place):
        stamp, place = found[1], found.end()
        cell = line[found.end(1) : found.end(1) + 1] in (",", ";", "\t")
        if found := _RANK.match(line, place) or _SYSTEM.match(line, place):
            place, tag = found.end(), tag + found[0].strip()
        found = _NAMED_LATER.match(line, place)
    else:
        found = _STANDARD.match(line, place) or _NAMED.match(line, place)
    if found:
        level, place = found[1].upper(), found.end()
        if not stamp and (clock := _TIME.match(line, place)):
            stamp, place = clock[1], clock.end()
    text = body = line[place:]
    if stamp or level:
        for named in (_LOGGER, _LOGGER, _DRAWN):
            body = body.lstrip(" \t")
            if found := named.match(body):
                body = body[found.end() :]
    return LogPrefix(body, "WARNING" if level == "WARN" else level, stamp, rank, cell, tag[:_TAG], text)


_remembered = lru_cache(maxsize=_REMEMBERED)(_strip)

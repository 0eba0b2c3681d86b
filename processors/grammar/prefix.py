r"""The prefix of a line: colours, rank, time stamp, level, logger. It is removed before a line is read.

The forms: `[rank3]: `, `0: ` (srun -l), `[1,0]<stdout>:` (mpirun), `[gpu3] `, `(worker 3) `, `rank 3 | `,
`(RayTrainWorker pid=12, ip=10.0.0.1) `, `[default0]:` (torchrun), `stdout F ` (containerd), `[node7] ` before a date, `stderr | `,
`[pod/train-0/main] ` (kubectl), `00O ` (GitLab), `12.3s 45 ` (Kaggle), `n1 train[42]: ` after a time (journal); ISO and American dates,
times of day, `I1212 16:13:33.676 12 file.cc:8] ` (glog, absl), `[1212 16:13:33 @base.py:8] ` (tensorpack); loggers of Python, Java and
DeepSpeed.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, "│┃║"), "|")
"""Full-width marks, and the lines that tables are drawn with, as ASCII has them."""
_LEVEL = r"(?:DEBUG|TRACE|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE)"
_CLOCK = r"\d\d:\d\d:\d\d(?:\.\d+|,\d{3,}(?!,\d))?"
_STAMP = (
    rf"\d{{4}}[-/.]\d\d[-/.]\d\d[T _,]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?"
    rf"|\d\d[-/]\d\d(?:[-/]\d{{2,4}})?[ T]{_CLOCK}"
    rf"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov"
    rf"|Dec) +\d+ {_CLOCK}(?: \d{{4}})?"
    rf"|{_CLOCK}(?: [AP]M)?"
)
_FORMS = {
    "colours": re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"),
    # Escape sequences that return to printed text: the cursor moves up, down, back or to a place, or the line is erased.
    # A template has no digit that shows which part is erased: all but `K` alone, which erases what follows, counts as the
    # whole line. A screen that is erased (`J`) removes nothing from a log, because an error may be on it.
    "moves": re.compile(r"\x1b(?:\[[\d;]*(?:[ABD-Hfu]|(?<=\d)K)|[\dDEM])"),
    "ahead": re.compile(r"\x1b\[\d*C"),
    "rank": re.compile(
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
    ),
    # Host and process as the system's log and the journal write them after the time; Airflow, where it passes a job's lines on.
    "system": re.compile(
        rf"(?!{_LEVEL}\b)[\w.-]{{1,64}} (?:[\w./@-]{{1,64}}\[\d+\]|kernel): "
        r"|\{(?:subprocess|process_utils|pod_manager|docker|ssh)\.py:\d+\} INFO - (?:\[base\] )?"
    ),
    "time": re.compile(rf"\s*[\[(<]?({_STAMP})[\])>]?(?=[\s,;|:\]-]|$)(?:[ \t]*[,;|:-])?[ \t]?"),
    "glog": re.compile(r"\[?([IWEF])(\d{4} \d\d:\d\d:\d\d(?:\.\d+)?)\s+(?:\d+\s+)?[\w./<>-]+:\d+\][ ]?"),
    "tensorpack": re.compile(r"\[(\d{4} \d\d:\d\d:\d\d) @[\w.]+:\d+\][ ]?"),
    "standard": re.compile(rf"({_LEVEL}):[\w.]+:"),
    "named": re.compile(rf"(?:\s*[\[(<]?\b({_LEVEL})\b[\])>]?)(?:[ \t]*[:|-](?=\s|\w)|(?=\s))[ \t]?"),
    "named_later": re.compile(
        rf"[ \t]*(?:\S{{1,80}}[ \t]+){{0,4}}?(?:[\[(<]?\b({_LEVEL})\b[\])>]?)(?=[\s:|\]-])(?:[ \t]*[:|-])?[ \t]?"
    ),
    "logger": re.compile(
        r"(?:\[[\w./<>-]+:\d+(?::[\w<>]+)?\][ ]?|[\w./<>-]+\.\w+:\d+\] |\[(?:pid[ =:])?\d{4,}\][ ]?(?=\S)|/?(?:[\w.-]+/)+[\w.-]+:\d+:\s"
        r"|[\w.]++:[\w<>]++:\d++ - "
        r"|(?:\w+\.)+[\w$]+(?::\d+)?(?::\s"
        r"|\s+-\s|\]\s))"
    ),
    # A label before a line of a drawn table.
    "before_table": re.compile(r"(?:\[[^\]]{1,40}\]|[A-Za-z][\w.-]{0,40}:)\s+(?=\||[-=+]{8})"),
    # A bar with a message behind it in one line: one goes to standard error, the other to standard output.
    "bar_on": re.compile(r"(?<!\d)\d++/\d++ \[\d[^\[\]]*?(?:it/s|s/it)(?:[^\[\]]*\](?=[^\s\]),:|])|(?=[a-z]{3,}: ))"),
    # A message of a level below that of an error after a bar, and words that make it important all the same.
    "unimportant": re.compile(rf"(?:[\[(<]?(?:{_STAMP})[\])>]?\s*|\w+: )?[\[(<]?(?:DEBUG|INFO|WARN(?:ING)?)\b"),
    "grave": re.compile(r"(?i)subset of ranks|stalled|deadlock|nccl|\bxid\b|kill|abort|segv|panic|terminat"),
    # Words of a message that is more important than the bar before it.
    "news": re.compile(
        r"(?i)loss\W{0,4}\d|\b(?:step|iter\w*|epoch)\W{0,4}\d|error\b|exception|traceback|fault|kill|abort|fail|terminat|time"
        r"|memory|\boom\b|signal|dumped|cancel|nccl|subset of ranks|stalled|deadlock|\bnan\b|panic|segv|refused|unable|cannot|could not"
    ),
}
_LETTERS = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "FATAL"}


@dataclass(frozen=True, slots=True)
class LogPrefix:
    """The prefix and the message of a line.

    Attributes:
        body: The message. Its indentation is kept where only a rank comes before it.
        level: Level that a logger printed, in capitals; empty without one.
        stamp: Time stamp as printed; empty without one.
        cell: The stamp is the first cell of a row: a comma or a tab follows.
        rank: Begin and end, in the cleaned line, of the rank that a launcher printed; None without one.
        tag: Text that launchers put before the line: lines of one process have one tag.
        text: Text of the process itself after stamp and level, its indentation and the logger's name included.
    """

    body: str
    level: str
    stamp: str
    rank: tuple[int, int] | None = None
    cell: bool = False
    tag: str = ""
    text: str = ""


def clean(line: str) -> str:
    r"""Return `line` without colours, NUL bytes and line ends. Of several redraws in one piece, the last that is not blank.

    Redraws end at `\r`, at `\b` or where the cursor moves back over them. Of a bar and the message behind it, the important one is kept.
    """
    if not line.isascii():
        line = line.translate(_PLAIN)
    if "\x1b" in line:
        line = _FORMS["colours"].sub("", _FORMS["ahead"].sub(" ", _FORMS["moves"].sub("\r", line)))
    if "\0" in line:
        line = line.replace("\0", "")
    if "\r" in line:
        line = next((part for part in reversed(line.split("\r")) if part.strip()), "")
    if "\b" in line:
        line = next((part for part in reversed(line.split("\b")) if part.strip()), "")
    if ("it/s" in line or "s/it" in line) and (glued := _FORMS["bar_on"].search(line)):
        end = glued.end()
        news = _FORMS["grave" if _FORMS["unimportant"].match(line, end) else "news"]
        line = line[end:] if news.search(line, end) else line[:end]
    return line.rstrip()


def strip_prefix(line: str) -> LogPrefix:
    """Return the prefix and the message of `line`. The newest are cached, because several readers of a new template need them."""
    return _cached(line) if len(line) <= 1000 else _strip(line)  # bounds the memory of the cache


def _strip(line: str) -> LogPrefix:  # noqa: C901  # one step after the other
    line = clean(line)
    place, level, stamp, cell, tag = 0, "", "", False, ""
    rank: tuple[int, int] | None = None
    for _ in range(2):
        # After a rank a bare number is a counter of the job, no other rank.
        if (found := _FORMS["rank"].match(line, place)) and not (rank and found[2]):
            place, tag = found.end(), tag + found[0].strip()
            rank = rank or (found.span(found.lastindex) if found.lastindex else None)
    if found := _FORMS["glog"].match(line, place):
        body = line[found.end() :]
        return LogPrefix(body, _LETTERS[found[1]], found[2], rank, tag=tag[:80], text=body)
    if found := _FORMS["tensorpack"].match(line, place):
        stamp, place = found[1], found.end()
    elif found := _FORMS["time"].match(line, place):
        stamp, place = found[1], found.end()
        cell = line[found.end(1) : found.end(1) + 1] in (",", ";", "\t")
        if found := _FORMS["rank"].match(line, place) or _FORMS["system"].match(line, place):
            place, tag = found.end(), tag + found[0].strip()
        found = _FORMS["named_later"].match(line, place)
    else:
        found = _FORMS["standard"].match(line, place) or _FORMS["named"].match(line, place)
    if found:
        level, place = found[1].upper(), found.end()
        if not stamp and (clock := _FORMS["time"].match(line, place)):
            stamp, place = clock[1], clock.end()
    text = body = line[place:]
    if stamp or level:
        for named in (_FORMS["logger"], _FORMS["logger"], _FORMS["before_table"]):
            body = body.lstrip(" \t")
            if found := named.match(body):
                body = body[found.end() :]
    return LogPrefix(body, "WARNING" if level == "WARN" else level, stamp, rank, cell, tag[:80], text)


_cached = lru_cache(maxsize=1024)(_strip)  # two chunks of lines

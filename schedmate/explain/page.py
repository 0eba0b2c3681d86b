"""The page: headings, sentences and quoted lines, as plain text or Markdown."""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from processors.diagnose import Signature
from schedmate_records import FailureSource

from ..terminal import one_line
from ..times import ago, local
from .facts import OWN_MEMORY, JobFacts
from .records import Row

_SOURCES: Mapping[str, str] = {
    FailureSource.SIGNATURE: "a known signature",
    FailureSource.TRACEBACK: "the program's traceback",
    FailureSource.EXIT: "how the attempt ended",
    FailureSource.MODEL: "the language model",
    FailureSource.NODE_LOGS: "the node's own log",
    FailureSource.GPU_METRICS: "the samples of its GPUs",
    FailureSource.NONE: "nothing that is on record",
}
_ON_PURPOSE = frozenset({"cancelled", "keyboard_interrupt", "sigint"})
"""Causes that are a person's decision: nobody asks whether starting again would help."""
_BY_TYPE = {
    "infrastructure": "Look at the node and part that the verdict names; keep the job away from there until its cause is known.",
    "framework": "Look at the versions of the libraries in the traceback; starting again as it is will hardly help.",
    "user_script": "Mend the program, its configuration or its data; starting again as it is will fail again.",
    "other": "It was ended from outside: ask who or what did; nothing is wrong with the job itself.",
    "unknown": "Nothing on record explains it: look at the end of its log, and at the kernel log of its nodes.",
}


class Part(NamedTuple):
    """A sentence (`text`), or a line of a log (`quote`) and where it stands, as far as known.

    `moments`: those that the sentence names, in this host's time.
    """

    kind: Literal["text", "quote"]
    text: str
    place: Mapping[str, Any] | None = None
    moments: Sequence[datetime] = ()


@dataclass
class Section:
    """A heading, and what stands below it."""

    title: str
    parts: list[Part] = field(default_factory=list)

    def say(self, text: str, *moments: object) -> None:
        """Add a sentence. `moments` are those that `_moment` wrote into it, in order."""
        known = tuple(each for each in moments if isinstance(each, datetime))
        self.parts.append(Part("text", one_line(text), moments=known))

    def quote(self, named: str, text: str, place: Mapping[str, Any] | None = None) -> None:
        """Add a line of a log; `place` has its topic, partition, offset and line."""
        self.parts.append(Part("quote", f"{one_line(named)} | {one_line(text)}", place))


def plain(facts: JobFacts, signatures: Mapping[str, Signature], width: int | None = None) -> str:
    """Return the page as plain text; sentences are folded at `width` columns, quoted lines never."""
    lines: list[str] = []
    for section in sections(facts, signatures):
        lines += [section.title, "=" * len(section.title) if not lines else "-" * len(section.title)]
        for kind, text, *_ in section.parts:
            lines += [f"    {text}"] if kind == "quote" else _folded(text, width)
        lines.append("")
    return "\n".join(lines)


def _folded(text: str, width: int | None) -> list[str]:
    return [text] if width is None else textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def markdown(facts: JobFacts, signatures: Mapping[str, Signature]) -> str:
    """Return the page as Markdown; quoted lines stand as code, and words of a job mark nothing up."""
    lines: list[str] = []
    for section in sections(facts, signatures):
        lines += [f"{'##' if lines else '#'} {_escaped(section.title)}", ""]
        before = ""
        for kind, text, *_ in section.parts:
            lines += [""] if kind != before == "text" or (kind == "text" and before == "quote") else []
            lines.append(f"    {text}" if kind == "quote" else f"- {_escaped(text)}")
            before = kind
        lines.append("")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in text)


def sections(facts: JobFacts, signatures: Mapping[str, Signature]) -> Iterator[Section]:
    """Yield the sections of the page that say something, in the order in which a colleague reads them."""
    makers: tuple[Callable[..., Section], ...] = (
        _head,
        _verdict,
        _people,
        _for,
        _against,
        _nodes,
        _slowed,
        _done,
        _todo,
    )
    for make in makers:
        section = make(facts, signatures)
        if section.parts:
            yield section


def _head(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section(one_line(f"Job {facts.job}, attempt {facts.attempt}"))
    if facts.ran:
        ran = facts.ran
        nodes = ", ".join(ran["nodes"]) or "nodes not known"
        ended = f"ended {_moment(ran['ended'])}" if ran["ended"] else "still running"
        how = ", ".join(
            part
            for part in (
                ran["state"] or "",
                _some("exit code", ran["exit_code"]),
                _some("signal", ran["signal"] or None),
            )
            if part
        )
        who = f", of {ran['user']}" if ran["user"] else ""
        section.say(
            f"Started {_moment(ran['started'])} on {nodes}{who}; {ended}{f' ({how})' if how else ''}.",
            ran["started"],
            ran["ended"],
        )
    else:
        section.say("No scheduler told of this attempt.")
    if facts.newest > facts.attempt:
        section.say(
            f"The job is at attempt {facts.newest} by now, of which nothing bad is known; this is its last failure."
        )
    if facts.progress:
        last = facts.progress
        speed = f", {last['step_time_s']:.4g} s a step" if last["step_time_s"] is not None else ""
        loss = f", loss {last['loss']:.4g}" if last["loss"] is not None else ""
        section.say(f"Last progress {_moment(last['time'])}: step {last['step']}{speed}{loss}.", last["time"])
    if facts.checkpoint:
        section.say(_checkpoint(facts, facts.checkpoint), facts.checkpoint["since"])
    if facts.failed_saves:
        section.say(f"{facts.failed_saves} save(s) of a checkpoint failed.")
    return section


def _checkpoint(facts: JobFacts, last: Row) -> str:
    """Return where the attempt could be started again from."""
    whose = "" if last["attempt"] == facts.attempt else f" (by attempt {last['attempt']})"
    step = f", step {last['step']}" if last["step"] is not None else ""
    where = f", {last['path']}" if last["path"] else ", at a place that no line names"
    return f"Last durable checkpoint {_moment(last['since'])}{whose}{step}{where}."


def _verdict(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section, row = Section("Verdict"), facts.verdict
    if row is None:
        taken = bool(facts.verdicts)
        section.say(
            "None in force: the last one was retracted." if taken else "None: nothing on record shows a failure."
        )
        if taken:
            section.say(f"{facts.verdicts[-1]['message']}.")
        return section
    component = f" ({row['faulty_component']})" if row["faulty_component"] != "none" else ""
    at = f" on {row['node']}" if row["node"] else ""
    cause = f": {row['signature'].replace('_', ' ')}" if row["signature"] else ""
    section.say(f"{row['error_type'].replace('_', ' ')}{component}{at}{cause}.")
    if not (row["root_text"] and row["message"] in row["root_text"]):
        section.say(f"{row['message']}.")
    again = {True: "should help", False: "will not help", None: "may or may not help"}[row["restartable"]]
    if row["signature"] in _ON_PURPOSE:
        again = "is up to who ended it"
    section.say(f"Cause {row['signature']}, confidence {row['confidence']:.2f}. Starting again {again}.")
    if row["root_line"] is None:
        section.say("No line explains it.")
    for one in row["evidence"]:
        section.quote(_place(one), one["text"], one)
    return section


def _people(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section("What people say")
    for one in facts.people:
        component = f" ({one['component']})" if one["component"] != "none" else ""
        kind = "" if one["error_type"] == "unknown" else f", {one['error_type'].replace('_', ' ')}{component}"
        comment = f": {one['comment']}" if one["comment"] else ""
        section.say(f"{one['user']}, {_moment(one['time'])}: the cause was {one['cause']}{kind}{comment}.", one["time"])
        if one["line"]:
            section.quote("named by a person", one["line"])
    return section


def _for(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section, row = Section("What speaks for it"), facts.verdict
    if row is None:
        return section
    section.say(f"It rests on {_SOURCES.get(row['source'], row['source'])}.")
    for source in row["confirmed_by"]:
        section.say(f"Confirmed by {_SOURCES.get(source, source)}.")
    before = [one for one in facts.verdicts[:-1] if one["signature"] == row["signature"]]
    if before:
        section.say(
            f"Said first {_moment(before[0]['time'])}, and again in {len(before)} later revision(s).", before[0]["time"]
        )
    if row["final"] and (row["exit_code"] or row["signal"]):
        how = " ".join(filter(None, (_some("exit code", row["exit_code"]), _some("signal", row["signal"]))))
        section.say(f"The attempt did end badly ({how}).")
    for one in facts.looks if row["source"] != FailureSource.MODEL else ():
        if one["error_type"] == row["error_type"]:
            section.say(f"The language model {one['model']} says so too.")
    _found(section, facts, row, "for")
    for one in facts.neighbours if row["error_type"] in {"infrastructure", "unknown"} else ():
        section.say(f"The same node failed job {one['job']} {_moment(one['time'])}: {one['signature']}.", one["time"])
    return section


def _against(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section, row = Section("What speaks against it"), facts.verdict
    if row is None:
        return section
    for source in row["contradicted_by"]:
        section.say(f"It is not borne out by {_SOURCES.get(source, source)}.")
    for one in facts.looks:
        if one["error_type"] != row["error_type"]:
            part = f" ({one['faulty_component']})" if one["faulty_component"] != "none" else ""
            at = f", line {one['root_line']}" if one["root_line"] else ""
            section.say(
                f"The language model {one['model']} says {one['error_type'].replace('_', ' ')}{part}{at}; it need not be right."
            )
    _found(section, facts, row, "against")
    others = {one["signature"]: one for one in facts.verdicts[:-1] if one["signature"] not in {row["signature"], ""}}
    for one in others.values():
        section.say(
            f"Revision {one['revision']} said {one['error_type'].replace('_', ' ')}, {one['signature']}: {one['message']}"
        )
    if row["confidence"] < 0.6:
        section.say("Its confidence is low.")
    if not row["final"]:
        section.say("The attempt had not ended when it was said.")
    return section


def _nodes(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section("What else its nodes said")
    _found(section, facts, facts.verdict, "")
    return section


def _slowed(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section("What slowed it")
    for one in facts.slowdowns:
        at = f" on {one['node']}" if one["node"] else ""
        apart = "" if one["recovered"] is None else f"; without it at {one['recovered']:.0%}"
        section.say(
            f"{_moment(one['time'])} beside job {one['packed_job']}{at} it ran at {one['ratio']:.0%} of its speed "
            f"({one['before_s']:.4g} s a step before, {one['after_s']:.4g} s beside it){apart}.",
            one["time"],
        )
    return section


def _found(section: Section, facts: JobFacts, row: Row | None, bearing: str) -> None:
    """Quote what the nodes said that bears so on the verdict `row`."""
    for one in facts.findings:
        if _bearing(one, row) == bearing:
            which = one["device"] or (f"GPU {one['gpu']}" if one["gpu"] is not None else "")
            often = f", {one['times']} times" if one["times"] > 1 else ""
            part = " ".join(word for word in (one["component"].replace("none", ""), which) if word)
            section.say(
                f"{_moment(one['time'])} {one['node']}: {one['signature']}{f' ({part})' if part else ''}, {one['severity']}{often}.",
                one["time"],
            )
            section.quote(_place(one), one["text"], one)


def _bearing(one: Row, row: Row | None) -> str:
    """Return `for` or `against` as a finding speaks for or against the verdict `row`; empty where it does neither."""
    if row is None:
        return ""
    infrastructure, part = row["error_type"] == "infrastructure", row["faulty_component"]
    if one["severity"] == "info":
        return "against" if infrastructure and part in {"gpu", "nvlink"} else ""
    if infrastructure and part == one["component"]:
        return "for"
    return "against" if one["severity"] == "fatal" else ""


def _done(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section("What was done")
    for one in reversed(facts.decisions):
        mode = {"act": "", "approve": " (a person is asked)"}.get(one["mode"], " (published only)")
        detail = f": {one['detail']}" if one["detail"] else ""
        section.say(
            f"{_moment(one['time'])} {one['action']}{mode}, because {one['reason'].rstrip('.')}: {one['outcome']}{detail}.",
            one["time"],
        )
    if not section.parts:
        section.say("Nothing was decided.")
    return section


def _todo(facts: JobFacts, signatures: Mapping[str, Signature]) -> Section:
    section, row = Section("What to do"), facts.verdict
    if row is None:
        return section
    known = signatures.get(row["signature"])
    section.say(known.action if known else _BY_TYPE.get(row["error_type"], _BY_TYPE["unknown"]))
    if known:
        section.say(f"Source: {known.source}.")
    if facts.neighbours and row["error_type"] in {"infrastructure", "unknown"} and row["signature"] not in OWN_MEMORY:
        section.say(
            f"Take {row['node']} out until it is checked: {len(facts.neighbours)} other failure(s) there within a week."
        )
    return section


def _place(one: Mapping[str, Any]) -> str:
    rank = f" rank {one['rank']}" if one.get("rank") is not None else ""
    return f"{one['topic']}/{one['partition']}@{one['offset']}{rank} line {one['line']}"


def _moment(value: object) -> str:
    return f"{local(value)} ({ago(value)})" if isinstance(value, datetime) else str(value)


def _some(name: str, value: object) -> str:
    return f"{name} {value}" if value is not None else ""

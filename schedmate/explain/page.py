"""The page: headings, sentences and quoted lines, as plain text or Markdown."""

import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from processors.diagnose import Signature
from schedmate_records import Action, FailureSource, Mode, Outcome

from ..advice import advice_on
from ..report.report import loss_text, outlook
from ..terminal import one_line
from ..times import ago, local
from .facts import OWN_MEMORY, JobFacts
from .records import Row

_SOURCES: Mapping[str, str] = {
    FailureSource.SIGNATURE: "a known signature",
    FailureSource.TRACEBACK: "the program's traceback",
    FailureSource.EXIT: "how the attempt ended",
    FailureSource.MODEL: "the language model",
    FailureSource.NODE_LOGS: "the log of the node",
    FailureSource.GPU_METRICS: "the GPU metrics of the node",
    FailureSource.NONE: "no recorded source",
}


class Part(NamedTuple):
    """A sentence (`text`), or a line of a log (`quote`) and its place, if known.

    `moments`: times that the sentence names, in this host's time.
    """

    kind: Literal["text", "quote"]
    text: str
    place: Mapping[str, Any] | None = None
    moments: Sequence[datetime] = ()


@dataclass
class Section:
    """A heading and its parts.

    `purpose`: where it belongs on a screen. `summary` and `advice` come first, `evidence` is for who wants to check, `actions` is history.
    """

    title: str
    purpose: Literal["summary", "evidence", "actions", "advice"] = "evidence"
    parts: list[Part] = field(default_factory=list)

    def add_sentence(self, text: str, *moments: object) -> None:
        """Add a sentence. `moments` are those that `_moment` wrote into it, in order."""
        known = tuple(each for each in moments if isinstance(each, datetime))
        self.parts.append(Part("text", one_line(text), moments=known))

    def add_quote(self, named: str, text: str, place: Mapping[str, Any] | None = None) -> None:
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
    """Return the page as Markdown. Quoted lines are code, and markup in a job's text is escaped."""
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
    """Yield the sections of the page that are not empty, in reading order."""
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
    section = Section(one_line(f"Job {facts.job}, attempt {facts.attempt}"), "summary")
    section.add_sentence(f"{_capitalised(facts.state.sentence(time.time()))}.")
    if facts.ran:
        ran = facts.ran
        nodes = ", ".join(ran["nodes"]) or "nodes not known"
        ended = f"ended {_moment(ran['ended'])}" if ran["ended"] else "not ended"
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
        section.add_sentence(
            f"Started {_moment(ran['started'])} on {nodes}{who}; {ended}{f' ({how})' if how else ''}.",
            ran["started"],
            ran["ended"],
        )
    else:
        section.add_sentence("No scheduler reported this attempt.")
    if facts.newest > facts.attempt:
        section.add_sentence(
            f"The job is now at attempt {facts.newest}, which has no known failure. This page is about its last failure."
        )
    if facts.progress:
        last = facts.progress
        speed = f", {last['step_time_s']:.4g} s a step" if last["step_time_s"] is not None else ""
        loss = loss_text(last["loss"], last["loss_step"], last["step"], not_finite=last["loss_not_finite"])
        loss = f", {loss}" if loss else ""
        section.add_sentence(f"Last progress {_moment(last['time'])}: step {last['step']}{speed}{loss}.", last["time"])
    if facts.checkpoint:
        section.add_sentence(_checkpoint(facts, facts.checkpoint), facts.checkpoint["since"])
    if facts.failed_saves:
        section.add_sentence(f"{facts.failed_saves} save(s) of a checkpoint failed.")
    return section


def _checkpoint(facts: JobFacts, last: Row) -> str:
    """Return where the attempt could be started again from."""
    whose = "" if last["attempt"] == facts.attempt else f" (by attempt {last['attempt']})"
    step = f", step {last['step']}" if last["step"] is not None else ""
    where = f", {last['path']}" if last["path"] else ", at an unknown path"
    return f"Last durable checkpoint {_moment(last['since'])}{whose}{step}{where}."


def _verdict(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section, row = Section("Verdict"), facts.verdict
    if row is None:
        taken = bool(facts.verdicts)
        healthy = "None." if facts.state.reason or facts.state.word.is_failure else "None: no record shows a failure."
        section.add_sentence("None: the last verdict was retracted." if taken else healthy)
        if taken:
            section.add_sentence(f"{facts.verdicts[-1]['message']}.")
        return section
    component = f" ({row['faulty_component']})" if row["faulty_component"] != "none" else ""
    at = f" on {row['node']}" if row["node"] else ""
    cause = f": {row['signature'].replace('_', ' ')}" if row["signature"] else ""
    section.add_sentence(f"{row['error_type'].replace('_', ' ')}{component}{at}{cause}.")
    if not (row["root_text"] and row["message"] in row["root_text"]):
        section.add_sentence(f"{row['message']}.")
    again = _capitalised(outlook(row["signature"], row["restartable"]))
    # Where a person ended the job, whether a restart helps is no question.
    if row["signature"] in {"cancelled", "keyboard_interrupt", "sigint"}:
        again = "Restart it if it was ended by mistake"
    section.add_sentence(f"Cause {row['signature']}, confidence {row['confidence']:.2f}. {again}.")
    if row["summary"]:
        section.add_sentence(f"A language model summarises: {row['summary']}")
    if row["root_line"] is None:
        section.add_sentence("No log line explains it.")
    for one in row["evidence"]:
        section.add_quote(_place(one), one["text"], one)
    return section


def _people(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section("Feedback")
    for one in facts.people:
        component = f" ({one['component']})" if one["component"] != "none" else ""
        kind = "" if one["error_type"] == "unknown" else f", {one['error_type'].replace('_', ' ')}{component}"
        comment = f": {one['comment']}" if one["comment"] else ""
        section.add_sentence(
            f"{one['user']}, {_moment(one['time'])}: the cause was {one['cause']}{kind}{comment}.", one["time"]
        )
        if one["line"]:
            section.add_quote("line named in the feedback", one["line"])
    return section


def _for(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section, row = Section("Evidence for it"), facts.verdict
    if row is None:
        return section
    section.add_sentence(f"Source: {_SOURCES.get(row['source'], row['source'])}.")
    for source in row["confirmed_by"]:
        section.add_sentence(f"Confirmed by {_SOURCES.get(source, source)}.")
    before = [one for one in facts.verdicts[:-1] if one["signature"] == row["signature"]]
    if before:
        section.add_sentence(
            f"First reported {_moment(before[0]['time'])}, and again in {len(before)} later revision(s).",
            before[0]["time"],
        )
    if row["final"] and (row["exit_code"] or row["signal"]):
        section.add_sentence(_exit_of(row))
    for one in facts.looks if row["source"] != FailureSource.MODEL else ():
        if one["error_type"] == row["error_type"]:
            section.add_sentence(f"The language model {one['model']} agrees.")
    _found(section, facts, row, "for")
    for one in facts.neighbours if row["error_type"] in {"infrastructure", "unknown"} else ():
        section.add_sentence(
            f"Job {one['job']} failed on the same node {_moment(one['time'])}: {one['signature']}.", one["time"]
        )
    return section


def _against(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section, row = Section("Evidence against it"), facts.verdict
    if row is None:
        return section
    for source in row["contradicted_by"]:
        section.add_sentence(f"Not confirmed by {_SOURCES.get(source, source)}.")
    for one in facts.looks:
        if one["error_type"] != row["error_type"]:
            part = f" ({one['faulty_component']})" if one["faulty_component"] != "none" else ""
            at = f", line {one['root_line']}" if one["root_line"] else ""
            kind = "no failure" if one["error_type"] == "none" else one["error_type"].replace("_", " ")
            summary = f": {one['summary']}" if one["summary"] else ""
            section.add_sentence(f"The language model {one['model']} finds {kind}{part}{at}{summary}")
    _found(section, facts, row, "against")
    others = {one["signature"]: one for one in facts.verdicts[:-1] if one["signature"] not in {row["signature"], ""}}
    for one in others.values():
        section.add_sentence(
            f"Revision {one['revision']} was {one['error_type'].replace('_', ' ')}, {one['signature']}: {one['message']}"
        )
    if row["confidence"] < 0.6:
        section.add_sentence("Its confidence is low.")
    if not row["final"]:
        section.add_sentence("The attempt had not ended when the verdict was made.")
    return section


def _nodes(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section("Other findings on its nodes")
    _found(section, facts, facts.verdict, "")
    return section


def _slowed(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section("Slowdowns")
    for one in facts.slowdowns:
        at = f" on {one['node']}" if one["node"] else ""
        recovered = "" if one["recovered"] is None else f"; afterwards at {one['recovered']:.0%}"
        section.add_sentence(
            f"{_moment(one['time'])} packed with job {one['packed_job']}{at}, it ran at {one['ratio']:.0%} of its speed "
            f"({one['before_s']:.4g} s per step before, {one['after_s']:.4g} s during the packing){recovered}.",
            one["time"],
        )
    return section


def _found(section: Section, facts: JobFacts, row: Row | None, bearing: str) -> None:
    """Add the findings on the nodes whose bearing on the verdict `row` is `bearing`."""
    for one in facts.findings:
        if _bearing(one, row) == bearing:
            which = one["device"] or (f"GPU {one['gpu']}" if one["gpu"] is not None else "")
            often = f", {one['times']} times" if one["times"] > 1 else ""
            part = " ".join(word for word in (one["component"].replace("none", ""), which) if word)
            section.add_sentence(
                f"{_moment(one['time'])} {one['node']}: {one['signature']}{f' ({part})' if part else ''}, {one['severity']}{often}.",
                one["time"],
            )
            section.add_quote(_place(one), one["text"], one)


def _bearing(one: Row, row: Row | None) -> str:
    """Return `for` or `against` if a finding supports or contradicts the verdict `row`, else an empty string."""
    if row is None:
        return ""
    infrastructure, part = row["error_type"] == "infrastructure", row["faulty_component"]
    if one["severity"] == "info":
        return "against" if infrastructure and part in {"gpu", "nvlink"} else ""
    if infrastructure and part == one["component"]:
        return "for"
    return "against" if one["severity"] == "fatal" else ""


def _done(facts: JobFacts, _: Mapping[str, Signature]) -> Section:
    section = Section("Actions", "actions")
    for one in reversed(facts.decisions):
        section.add_sentence(
            f"{_moment(one['time'])}{_attempt_of(one, facts)} {_action_of(one)} Reason: {one['reason'].rstrip('.')}.",
            one["time"],
        )
    if not section.parts:
        section.add_sentence("No action was decided.")
    return section


def _attempt_of(decision: Row, facts: JobFacts) -> str:
    return "" if decision["attempt"] == facts.attempt else f" (attempt {decision['attempt']})"


def _action_of(decision: Row) -> str:
    """Return what was done about a decision, or would have been done in shadow mode, as a sentence."""
    action = Action(decision["action"])
    unanswered = decision["mode"] == Mode.SHADOW and decision["outcome"] == "waiting"
    if unanswered or decision["outcome"] == Outcome.SHADOWED:
        return f"Would have {action.past_participle}; {action.plural} are in shadow mode."
    asked = ", with approval" if decision["mode"] == Mode.APPROVE else ""
    detail = f" ({decision['detail'].rstrip('.')})" if decision["detail"] else ""
    return f"{_capitalised(action.replace('_', ' '))}{asked}: {decision['outcome'].replace('_', ' ')}{detail}."


def _exit_of(verdict: Row) -> str:
    """Return how the attempt ended, as a sentence."""
    if verdict["signal"]:
        return f"The job was killed by signal {verdict['signal']}."
    return f"The job exited with code {verdict['exit_code']}."


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _todo(facts: JobFacts, signatures: Mapping[str, Signature]) -> Section:
    section, row = Section("What to do", "advice"), facts.verdict
    if row is None:
        return section
    known = signatures.get(row["signature"])
    section.add_sentence(advice_on(row["signature"], row["error_type"], signatures))
    if known:
        section.add_sentence(f"Source: {known.source}.")
    if facts.neighbours and row["error_type"] in {"infrastructure", "unknown"} and row["signature"] not in OWN_MEMORY:
        section.add_sentence(
            f"Drain {row['node']} until it is checked: {len(facts.neighbours)} other failure(s) there within a week."
        )
    return section


def _place(one: Mapping[str, Any]) -> str:
    rank = f" rank {one['rank']}" if one.get("rank") is not None else ""
    return f"{one['topic']}/{one['partition']}@{one['offset']}{rank} line {one['line']}"


def _moment(value: object) -> str:
    return f"{local(value)} ({ago(value)})" if isinstance(value, datetime) else str(value)


def _some(name: str, value: object) -> str:
    return f"{name} {value}" if value is not None else ""

"""What a person reads at the end: speeds, the packing, verdicts, decisions, answers, promises."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from schedmate_records import Decision, Evidence, Failure, Outcome
from sinks.clickhouse import QueryResult

from ..report.report import outlook, seconds
from .board import Board
from .checks import Check
from .facts import DemoFacts, DemoReading, Phase
from .jobs.clock import Typical
from .programs import NEIGHBOUR, VICTIM
from .questions import Question
from .story import kind

_COMPARED = ("read", "clocked", "spread", "off by")
_OBTAINED = {"stated": "step times", "rate": "rates", "timestamps": "time stamps", "arrival": "arrival"}


def show(
    console: Console, facts: DemoFacts, answers: Sequence[tuple[Question, QueryResult]], checks: Sequence[Check]
) -> None:
    """Print it all."""
    sections: list[tuple[str, Iterator[RenderableType]]] = [
        ("Step time: read from the log, and by the job's own clock", iter([_speeds(facts.readings)])),
        (f"{VICTIM.name} before, during and after {NEIGHBOUR.name}", iter([_phases(facts.phases)])),
        ("Verdicts, each with the line that it rests on", _verdicts(facts.board)),
        ("Decisions, and what became of them", _decisions(facts.board)),
        ("Asked of ClickHouse (chDB, in this process)", _answers(answers)),
        ("What was promised", iter([_checks(checks)])),
    ]
    for title, parts in sections:
        console.print()
        console.print(Rule(Text(title, style="bold"), style="blue", align="left"))
        for part in parts:
            console.print(part)


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold", padding=(0, 1))
    for column in columns:
        table.add_column(
            column, justify="right" if column in right else "left", no_wrap=column == "prints", overflow="fold"
        )
    return table


def _speeds(readings: Sequence[DemoReading]) -> Table:
    table = _table("job", "prints", *_COMPARED, "loss", "obtained from", right=_COMPARED)
    for each in readings:
        metric = each.metric
        loss = f"{each.first_loss:.3f} → {metric.loss:.3f}" if metric and metric.loss and each.first_loss else "unknown"
        how = _OBTAINED.get(metric.method, metric.method) if metric else ""
        table.add_row(each.label, each.program.prints, *_compared(each.measured, each.clocked), loss, how)
    return table


def _phases(phases: Sequence[Phase]) -> RenderableType:
    if not phases:
        return Text("  no slowdown was found", style="red")
    table = _table("", *_COMPARED, "", right=_COMPARED)
    longest = max(phase.measured or 0.0 for phase in phases) or 1.0
    for phase in phases:
        length = round(30 * (phase.measured or 0.0) / longest)
        style = "yellow" if phase.name == "packed" else "green"
        table.add_row(phase.name, *_compared(phase.measured, phase.clocked), Text("█" * length, style=style))
    return table


def _compared(measured: float | None, clocked: Typical | None) -> list[str]:
    """Return the cells read, clocked, spread and off by."""
    return [
        seconds(measured) if measured is not None else "unknown",
        seconds(clocked.seconds) if clocked else "unknown",
        f"±{clocked.spread / clocked.seconds:.0%}" if clocked else "",
        f"{measured / clocked.seconds - 1:+.1%}" if measured and clocked else "",
    ]


def _verdicts(board: Board) -> Iterator[RenderableType]:
    for line in board.jobs.values():
        for verdict in line.verdicts():
            yield Text.assemble(
                (f"\n {verdict.job}", "bold"),
                f", attempt {verdict.attempt + 1}: ",
                (kind(verdict), "red"),
                f" · {outlook(verdict.signature, verdict.restartable)} · confidence {verdict.confidence:.2f}",
            )
            yield _indented(_described(verdict))
            yield _quotes(verdict.evidence[:3] or ([verdict.root] if verdict.root else []))


def _described(verdict: Failure) -> str:
    """Return the source of a verdict, and its message unless a quoted line has it."""
    source = f"by {verdict.source} {verdict.signature}".rstrip()
    quoted = verdict.root is not None and verdict.message in verdict.root.text
    return source if quoted else f"{source}: {verdict.message}"


def _quotes(evidence: Sequence[Evidence]) -> RenderableType:
    if not evidence:
        return Text("   no line of the log is blamed", style="dim")
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="cyan", overflow="fold")
    for each in evidence:
        place = f"   {each.topic}/{each.partition}@{each.offset} {each.stream} line {each.line}"
        table.add_row(place, "│", Text(each.text))
    return table


def _decisions(board: Board) -> Iterator[RenderableType]:
    if not board.decisions:
        yield Text("   none", style="red")
    for decision in board.decisions.values():
        yield Text.assemble(
            (f"\n {decision.action.replace('_', ' ')}", "bold"),
            f" {decision.target} · {decision.mode} · {decision.policy}",
        )
        yield _indented(decision.reason)
        if decision.checkpoint:
            yield _indented(f"It goes on from {decision.checkpoint.rpartition('/')[2]}.")
        yield _became(board, decision)


def _became(board: Board, decision: Decision) -> RenderableType:
    result = board.outcome(decision)
    if result is None:
        return _indented(Text("→ still waiting", style="yellow"))
    seen = ", ".join(f"{name} {value}" for name, value in result.seen.items() if value)
    style = "green" if result.outcome is Outcome.DONE else "red"
    after = f" {result.time - decision.time:.2f} s after its cause"
    text = Text.assemble(
        "→ ", (result.outcome.value, style), after, f" · {result.actuator} shows: {seen}" if seen else ""
    )
    if result.detail:
        text.append(f" · {result.detail}")
    return _indented(text)


def _indented(text: str | Text) -> RenderableType:
    return Padding(Text(text) if isinstance(text, str) else text, (0, 0, 0, 3))


def _answers(answers: Sequence[tuple[Question, QueryResult]]) -> Iterator[RenderableType]:
    for question, answer in answers:
        yield Text(f"\n {question.words}", style="bold")
        yield Padding(
            Syntax(question.sql, "sql", theme="ansi_dark", background_color="default", word_wrap=True), (0, 0, 0, 3)
        )
        table = _table(*answer.columns)
        for row in answer.rows:
            table.add_row(*map(_cell, row))
        yield Padding(table, (0, 0, 0, 3))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return str(value)


def _checks(checks: Sequence[Check]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(width=6)
    table.add_column(width=51)
    table.add_column(style="dim")
    for each in checks:
        table.add_row(
            Text("ok", style="green") if each.kept else Text("NOT OK", style="bold red"), each.promise, each.seen
        )
    return table

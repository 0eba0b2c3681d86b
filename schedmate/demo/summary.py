"""Summary at the end of the demo: verdicts, decisions, checks."""

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from schedmate_records import Decision, Evidence, Failure, Outcome

from ..report.report import outlook
from .board import Board
from .checks import Check
from .facts import DemoFacts
from .story import kind


def show(console: Console, facts: DemoFacts, checks: Sequence[Check]) -> None:
    """Print it all."""
    sections: list[tuple[str, Iterator[RenderableType]]] = [
        ("Verdicts, each with its root line", _verdicts(facts.board)),
        ("Decisions and their results", _decisions(facts.board)),
        ("Checks", iter([_checks(checks)])),
    ]
    for title, parts in sections:
        console.print()
        console.print(Rule(Text(title, style="bold"), style="blue", align="left"))
        for part in parts:
            console.print(part)


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
        return Text("   no line of the log explains it", style="dim")
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
            yield _indented(f"It resumes from {decision.checkpoint.rpartition('/')[2]}.")
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

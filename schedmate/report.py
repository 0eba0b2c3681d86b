"""An analysis for a person."""

from rich.console import Group, RenderableType
from rich.text import Text

from records import Failure, JobMetric
from schedmate.analysis import Analysis

METHODS = {
    "stated": "printed in the log",
    "rate": "from the printed rate",
    "timestamps": "from printed timestamps",
    "arrival": "from the arrival of lines",
}


def report(analysis: Analysis) -> RenderableType:
    """Return what a person should know of a log: progress, speed, verdict and the quoted lines."""
    parts: list[RenderableType] = [Text(f"{analysis.file}  {analysis.lines:,} lines", style="bold")]
    parts += [_row("progress", _progress(analysis.metric)), _row("speed", _speed(analysis.metric))]
    failure = analysis.failure
    if failure is None:
        parts.append(_row("verdict", "no failure seen"))
    else:
        parts += [_row("verdict", verdict(failure)), *(_quote(each.line, each.text) for each in failure.evidence)]
    return Group(*parts, Text())


def verdict(failure: Failure) -> str:
    """Return the verdict in one sentence."""
    kind = str(failure.error_type).replace("_", " ")
    where = f" ({failure.faulty_component})" if failure.faulty_component != "none" else ""
    again = {
        True: "starting again should help",
        False: "starting again will not help",
        None: "starting again may or may not help",
    }
    line = f"line {failure.root.line}" if failure.root else "no line explains it"
    return (
        f"{kind}{where}, {line}: {failure.message}; {again[failure.restartable]} (confidence {failure.confidence:.2f})"
    )


def seconds(value: float) -> str:
    """Return a duration in the unit that a person would choose."""
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.4g} s"


def _progress(metric: JobMetric | None) -> str:
    if metric is None:
        return "unknown: no progress line found"
    known = {"step": metric.step, "epoch": metric.epoch, "loss": metric.loss}
    said = [
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in known.items()
        if value is not None
    ]
    return ", ".join(said) or "unknown"


def _speed(metric: JobMetric | None) -> str:
    if metric is None or (metric.step_time_s is None and metric.throughput is None):
        return "unknown"
    parts = []
    if metric.step_time_s is not None:
        parts.append(f"{seconds(metric.step_time_s)} a step")
    if metric.throughput is not None:
        parts.append(f"{metric.throughput:.5g} {metric.throughput_unit or ''}".strip())
    return f"{', '.join(parts)} ({METHODS.get(metric.method, metric.method)}, median of {metric.reports} reports)"


def _row(name: str, value: str) -> Text:
    return Text(f"  {name:<9} {value}")


def _quote(line: int, text: str) -> Text:
    return Text(f"  {line:>9} | {text}", style="dim")

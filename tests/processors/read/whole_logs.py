"""The series of a whole log."""

from collections.abc import Iterable

from processors.read.kept import KeptSeries, observe, series_of
from processors.read.series import SeriesReader, TemplateSeries


def read_series(lines: Iterable[tuple[str, float]]) -> list[TemplateSeries]:
    """Return the series of `lines`, each with its arrival in seconds since 1970."""
    reader, state = SeriesReader(), KeptSeries()
    observe(((place, line, arrival) for place, (line, arrival) in enumerate(lines, 1)), reader, state)
    return series_of(reader, state)

"""A curve of a log as SVG."""

import math
from collections.abc import Sequence

from ...top.sparkline import share_of, widened

WIDTH, HEIGHT, LEFT, TOP, FOOT = 720, 150, 62, 20, 130


def curve(title: str, points: Sequence[tuple[int, float]]) -> str:
    """Return a plot of `points`, (line of the log, value) with growing lines; empty for fewer than two."""
    known = [(line, value) for line, value in points if math.isfinite(value)]
    if len(known) < 2:
        return ""
    first, last = known[0][0], known[-1][0]
    low, high = widened(min(value for _, value in known), max(value for _, value in known))
    path = "M" + "L".join(
        f"{LEFT + (WIDTH - LEFT) * share_of(line, first, last):.1f} {FOOT - (FOOT - TOP) * share_of(value, low, high):.1f}"
        for line, value in known
    )
    return f"""\
<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}, by line of the log">
<text x="{LEFT}" y="{TOP - 6}">{title}</text>
<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT}" height="{FOOT - TOP}"/>
<path class="curve" d="{path}"/>
<text x="{LEFT - 6}" y="{TOP + 9}" text-anchor="end">{high:.4g}</text>
<text x="{LEFT - 6}" y="{FOOT}" text-anchor="end">{low:.4g}</text>
<text x="{LEFT}" y="{HEIGHT - 5}">line {first:,}</text>
<text x="{WIDTH}" y="{HEIGHT - 5}" text-anchor="end">line {last:,}</text>
</svg>
"""

"""Features of number columns for a proposer: how values change, the text around them, how they relate to other columns."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..series import NumberColumn, TemplateSeries

Floats = NDArray[np.float64]

BITS = 12
"""Hashed n-grams around a number fall into 2**BITS buckets; words and n-grams of a whole template into as many of their own."""
BUCKETS = 1 << BITS
RELATED = 24
"""Columns of a template that are compared with each other."""
_NGRAMS = (1, 2, 3, 4)
_LEFT, _RIGHT = 28, 12
_FORMS = {
    "digits": re.compile(r"\d+"),
    "blanks": re.compile(r"\s+"),
    "words": re.compile(r"[^\W\d_]+"),
    "camel": re.compile(r"(?<=[a-z])(?=[A-Z])"),
    "of": re.compile(r"\s*(?:/|of|out of|von|sur|de|di|из|\|)\s*"),
}
_TINY = 1e-12
"""Added to divisors and to arguments of logarithms, so that zero is allowed. It is too small to change other values."""

_ALONE = (  # noqa: SIM905  # a list has one name a line
    "rising falling level steady_steps resets integer decimals duration log_median log_last log_step spread "
    "distinct trend ends_lower constant negative below_one below_hundred per_cent power_of_two round first_place "
    "place missing smooth clock_rate counts_time counts_down is_gap gap_correlation stride_twos stride_tens "
    "never_rises"
).split()
_AMONG = (  # noqa: SIM905
    "bounded_by_next bounds_last of_next of_last divides multiple product_constant exponential_of logarithm_of "
    "largest_fraction equals_another sums_others fractions"
).split()
_TEMPLATE = ["rows", "share", "recent", "columns", "bar", "several_ranks", "stamped", "indented"]
NAMES = (*_ALONE, *_AMONG, *_TEMPLATE)
"""Names of the numeric features, in their order."""


def numeric(series: Sequence[TemplateSeries]) -> list[Floats]:
    """Return the numeric features of each template's columns, shape (columns, len(NAMES)), all of them about within -3 to 3."""
    rows = sum(each.count for each in series) or 1
    newest = max((each.places[-1] for each in series if each.places), default=1) or 1
    return [_of_template(each, rows, newest) for each in series]


def _of_template(template: TemplateSeries, rows: int, newest: int) -> Floats:
    chosen = _of_one_rank(template)
    found = np.zeros((len(template.columns), len(NAMES)))
    if not template.columns or not len(chosen):
        return found
    with np.errstate(all="ignore"):
        values = np.array([column.values for column in template.columns], dtype=np.float64)[:, chosen]
        times = _times(template, chosen)
        for place, column in enumerate(template.columns):
            found[place, : len(_ALONE)] = _alone(column, values[place], times, len(template.columns))
        found[:, len(_ALONE) : len(_ALONE) + len(_AMONG)] = _among(template.columns, values)
        found[:, len(_ALONE) + len(_AMONG) :] = [
            np.log1p(template.count) / 5,
            template.count / rows,
            template.places[-1] / newest,
            min(len(template.columns), 20) / 10,
            float("▉" in template.text),
            float(len({rank for rank in template.ranks if rank is not None}) > 1),
            float(template.stamps[-1] is not None),
            float(template.text[:1].isspace() or (bool(template.columns) and template.columns[0].before[:1].isspace())),
        ]
    return np.clip(np.nan_to_num(found, posinf=3.0, neginf=-3.0), -3.0, 3.0)


def _of_one_rank(template: TemplateSeries) -> NDArray[np.int64]:
    """Return the rows of the rank that printed the last row."""
    last = template.ranks[-1] if template.ranks else None
    return np.array([place for place, rank in enumerate(template.ranks) if rank == last], np.int64)


def _times(template: TemplateSeries, chosen: NDArray[np.int64]) -> Floats:
    """Return when each row was printed, in seconds: as stamped, or else as it arrived."""
    stamps = [template.stamps[place] for place in chosen]
    known = [stamp for stamp in stamps if stamp is not None]
    if len(known) == len(stamps) and known[-1] > known[0]:
        return np.array(known)
    return np.array(template.arrivals)[chosen]


def _alone(column: NumberColumn, values: Floats, times: Floats, columns: int) -> list[float]:
    finite = values[np.isfinite(values)]
    if not len(finite):
        finite = np.zeros(1)
    steps = np.diff(finite) if len(finite) > 1 else np.zeros(1)
    up = steps[steps > 0]
    usual = float(np.median(up)) if len(up) else 0.0
    middle, last = float(np.median(np.abs(finite))), abs(float(finite[-1]))
    spread = float(finite.std()) / (abs(float(finite.mean())) + _TINY)
    constant = bool((finite == finite[0]).all())
    order = np.arange(len(finite))
    trend = 0.0 if constant or len(finite) < 3 else float(np.corrcoef(order, finite)[0, 1])
    rough = float(np.median(np.abs(steps))) / (float(finite.std()) + _TINY) if not constant else 0.0
    whole = column.integer and last >= 1 and float(finite[-1]).is_integer()
    return [
        float((steps > 0).mean()),
        float((steps < 0).mean()),
        float((steps == 0).mean()),
        float((np.abs(up - usual) <= 1e-9 * max(1.0, usual)).mean()) if len(up) else 0.0,
        3 * float((finite[1:] < 0.5 * finite[:-1]).mean()) if len(finite) > 1 else 0.0,
        float(column.integer),
        min(column.decimals, 9) / 4,
        float(column.duration),
        np.log10(middle + 1e-6) / 3,
        np.log10(last + 1e-6) / 3,
        np.log10(usual + 1e-6) / 3,
        min(spread, 3.0),
        len(set(finite.tolist())) / len(finite),
        trend,
        float(finite[-1] < finite[0]) - float(finite[-1] > finite[0]),
        float(constant),
        float((finite < 0).any()),
        float((np.abs(finite) <= 1).all()),
        float((np.abs(finite) <= 100).all()),
        float(column.after.lstrip()[:1] == "%"),
        float(whole and (int(last) & (int(last) - 1)) == 0) if last < 2**53 else 0.0,
        float(whole and (last % 8 == 0 or last % 100 == 0)),
        float(column.index == 0),
        column.index / columns,
        float(len(finite) < len(values)),
        min(rough, 3.0),
        *_against_time(values, times),
        _factors(usual, 2) / 5 if column.integer else 0.0,
        _factors(usual, 10) / 2 if column.integer else 0.0,
        float(not constant and not (steps > 0).any()),
    ]


def _factors(stride: float, base: int) -> int:
    """Return how often `base` divides the usual stride of a counter: batches are powers of two, intervals between reports round."""
    count, rest = 0, int(min(stride, 1e15))
    while rest and rest % base == 0 and count < 15:
        count, rest = count + 1, rest // base
    return count


def _against_time(values: Floats, times: Floats) -> list[float]:
    """Return how a column relates to the clock: its growth a second, whether it counts seconds up or down, whether it is a gap."""
    gaps, steps = np.diff(times), np.diff(values)
    usable = np.isfinite(steps) & (gaps > 0)
    if usable.sum() < 2:
        return [0.0] * 5
    gaps, steps, own = gaps[usable], steps[usable], values[1:][usable]
    pace = float(steps.sum() / gaps.sum())
    near = 0.15 * gaps + 0.02
    correlation = float(np.corrcoef(gaps, own)[0, 1]) if gaps.std() > 0 and own.std() > 0 else 0.0
    return [
        np.sign(pace) * np.log10(1 + 1000 * abs(pace)) / 3,
        float((np.abs(steps - gaps) <= near).mean()),
        float((np.abs(steps + gaps) <= 3 * near).mean()),
        max(float((np.abs(own * scale - gaps) <= near).mean()) for scale in (1.0, 1e-3)),
        correlation,
    ]


def _among(columns: Sequence[NumberColumn], values: Floats) -> Floats:
    """Return how each column relates to the others of its template, shape (columns, len(_AMONG))."""
    found = np.zeros((len(columns), len(_AMONG)))
    few = min(len(columns), RELATED)
    fractional = [place for place in range(few) if not columns[place].integer and not columns[place].duration]
    middles = [_middle(values[place]) for place in range(few)]
    largest = max((middles[place] for place in fractional), default=0.0)
    varied = [bool(each.std() > 0) for each in values[:few]]
    comparable = [moves and bool(np.isfinite(each).all()) for moves, each in zip(varied, values, strict=False)]
    for place in range(few):
        own, row = values[place], found[place]
        if place + 1 < few:
            after = values[place + 1]
            row[0] = float((own <= after).all() and (after == after[-1]).mean() > 0.9)
            row[2] = float(_FORMS["of"].fullmatch(columns[place].after) is not None)
        if place:
            before = values[place - 1]
            row[1] = float((before <= own).all() and (own == own[-1]).mean() > 0.9)
            row[3] = float(_FORMS["of"].fullmatch(columns[place].before) is not None)
        fraction = place in fractional
        row[9] = float(fraction and middles[place] >= largest)
        row[12] = len(fractional) / 8
        others = range(few) if comparable[place] and own.all() else ()
        for other in others:
            if other == place or not comparable[other]:
                continue
            theirs = values[other]
            ratio = theirs / own
            if float(ratio.std()) <= 1e-6 * abs(float(ratio.mean())):
                row[4 if ratio[-1] > 1 else 5 if ratio[-1] < 1 else 10] = 1.0
            product = own * theirs
            row[6] = max(row[6], float(product.std() <= 0.01 * abs(product.mean())))
            if fraction and other in fractional:
                row[7] = max(row[7], float((np.abs(np.log(np.abs(own) + _TINY) - theirs) <= 0.02).mean() > 0.8))
                row[8] = max(row[8], float((np.abs(np.log(np.abs(theirs) + _TINY) - own) <= 0.02).mean() > 0.8))
        if fraction and varied[place]:
            rest = [values[other] for other in fractional if other != place]
            row[11] = float(
                any(np.allclose(a + b, own, rtol=0.01) for a, b in pairwise(rest))
                or (len(rest) > 2 and np.allclose(sum(rest), own, rtol=0.02))
            )
    return found


def _middle(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(np.abs(finite))) if len(finite) else 0.0


def column_buckets(template: TemplateSeries, column: NumberColumn) -> list[int]:
    """Return the buckets of the text around a number, ascending: below BUCKETS its n-grams, from there on the words of its template."""
    return _column_buckets(column.before, column.after, template.text)


def template_buckets(template: TemplateSeries) -> list[int]:
    """Return the buckets of a template's text, below BUCKETS, ascending."""
    return _template_buckets(template.text)


def plain(text: str) -> str:
    """Return `text` as n-grams are taken from it, without letter case, camel case, and the lengths of numbers and gaps."""
    return _FORMS["blanks"].sub(" ", _FORMS["digits"].sub("0", _FORMS["camel"].sub("_", text).lower()))


@lru_cache(maxsize=4096)
def _column_buckets(before: str, after: str, text: str) -> list[int]:
    found = set(_grams("b", f"{plain(before)[-_LEFT:]}"[::-1])) | set(_grams("a", plain(after)[:_RIGHT]))
    return sorted(found | {BUCKETS + place for place in _words(text)})


@lru_cache(maxsize=4096)
def _template_buckets(text: str) -> list[int]:
    shown = plain(text)[:200]
    return sorted({*_grams("t", shown), *_words(text)})


def _grams(side: str, text: str) -> list[int]:
    marked = f"\x02{text}\x03"
    hashed = [
        crc32(f"{side}{marked[start : start + length]}".encode("utf-8", "surrogatepass"))
        for length in _NGRAMS
        for start in range(len(marked) - length + 1)
    ]
    first = [crc32(f"{side}!{marked[: 1 + length]}".encode("utf-8", "surrogatepass")) for length in (2, 3, 4, 6)]
    return [each & (BUCKETS - 1) for each in (*hashed, *first)]


def _words(text: str) -> list[int]:
    return [
        crc32(word.encode("utf-8", "surrogatepass")) & (BUCKETS - 1)
        for word in set(_FORMS["words"].findall(plain(text)[:200]))
    ]

"""The formats that a worker knows, and which of them a stream has."""

from collections.abc import Iterable, Mapping, Sequence

from schedmate_records import KnownFormat, Reports

from .compiled import CompiledFormat, compile_format

_LEAST_LINES = 2
"""Lines of a training template that identify a format."""
_LEAST_SHARE = 0.6
"""Share of a stream's lines with numbers that the templates of a format without a training must cover."""


class KnownFormats:
    """Formats by fingerprint. One thread changes them, others read them: each change replaces the whole index.

    Attributes:
        version: Number of changes so far.
    """

    def __init__(self, formats: Iterable[KnownFormat] = ()) -> None:
        self.version = 0
        self._records: dict[str, KnownFormat] = {}
        self._compiled: dict[str, CompiledFormat] = {}
        self._by_template: dict[str, tuple[str, ...]] = {}
        for each in formats:
            self.add(each)

    def add(self, record: KnownFormat) -> None:
        """Take in a record. Of two records of one fingerprint the newer one counts; a model never replaces a person's format."""
        known = self._records.get(record.fingerprint)
        by_person = known is not None and known.person and not known.forgotten
        if known is not None and (record.time < known.time or (by_person and not record.person)):
            return
        records, compiled = {**self._records, record.fingerprint: record}, dict(self._compiled)
        compiled.pop(record.fingerprint, None)
        if not record.forgotten:
            compiled[record.fingerprint] = compile_format(record)
        by_template: dict[str, tuple[str, ...]] = {}
        for fingerprint, each in compiled.items():
            for text in each.templates:
                by_template[text] = (*by_template.get(text, ()), fingerprint)
        self._records, self._compiled, self._by_template = records, compiled, by_template
        self.version += 1

    def get(self, fingerprint: str) -> CompiledFormat | None:
        """Return the format of a fingerprint; None where it is not known, or forgotten."""
        return self._compiled.get(fingerprint)

    def is_empty(self) -> bool:
        """Return whether no format is known."""
        return not self._compiled

    def records(self) -> Sequence[KnownFormat]:
        """Return the newest record of each fingerprint that is not forgotten."""
        return [each for each in self._records.values() if not each.forgotten]

    def covers(self, counts: Mapping[str, int]) -> bool:
        """Return whether a format is known whose templates are most lines of a stream. Its reports may not be among them yet."""
        covered = self._covered(counts)
        return 2 * max(covered.values(), default=0) >= max(sum(counts.values()), 1)

    def _covered(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return how many lines the templates of each format cover."""
        covered: dict[str, int] = {}
        for text, count in counts.items():
            for fingerprint in self._by_template.get(text, ()):
                covered[fingerprint] = covered.get(fingerprint, 0) + count
        return covered

    def match(self, counts: Mapping[str, int]) -> CompiledFormat | None:
        """Return the format of a stream with `counts` lines of each template; None where no format is known for it.

        A format with a training matches if two lines of a training template were printed, any other one if its templates cover most
        lines. Of several formats the one that covers most lines is taken; a person's format comes first.
        """
        covered = self._covered(counts)
        compiled, whole = self._compiled, sum(counts.values())
        candidates = [
            (compiled[fingerprint].record.person, lines, compiled[fingerprint].record.time, fingerprint)
            for fingerprint, lines in covered.items()
            if fingerprint in compiled and _matches(compiled[fingerprint], counts, lines, whole)
        ]
        return compiled[max(candidates)[-1]] if candidates else None


def _matches(known: CompiledFormat, counts: Mapping[str, int], covered: int, whole: int) -> bool:
    if not known.record.training:
        return covered >= _LEAST_SHARE * whole
    reporting = [text for text, each in known.templates.items() if each.reports is Reports.TRAINING]
    return any(counts.get(text, 0) >= _LEAST_LINES for text in reporting) or covered >= _LEAST_SHARE * whole

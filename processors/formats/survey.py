"""The survey of a stream: its frequent templates with sample lines, in a bounded state, and the fingerprint that follows from them."""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from schedmate_records import FormatQuestion, TemplateSamples

TEMPLATES = 48
"""Templates that are counted. Rare ones without known fields make room for new ones."""
ASKED_TEMPLATES = 24
"""Templates in a question."""
MAX_NUMBERS = 32
"""Numbers of a line above which it counts as a dump, not as a report."""
SAMPLE_CHARACTERS = 600
"""Characters of a line in a question: reports of a dozen fields fit."""
_HEAD, _TAIL = 8, 12
"""First and last lines of the stream in a question."""
_SAMPLES = 3
"""Sample lines of a template: the first, one from the middle, the newest."""
_ANCHOR_SHARE = 0.5
"""Templates that are at least this share as frequent as the most frequent report define the fingerprint."""
_REPEATED = 3
"""Lines of one template after which a stream of another rank than 0 is worth keeping samples of."""
_FREQUENT = 20
"""Lines of one report template after which a stream is asked about."""


class CountedTemplate(msgspec.Struct, array_like=True):
    """A template of a stream.

    Attributes:
        count: Number of its lines.
        kinds: Number of kinds of report fields that the rules know in it.
        varies: Whether its numbers vary from line to line.
        samples: Its first line, one from the middle and the newest; empty if no question is asked.
        values: Numbers of its first line, until another line differs.
        due: Number of lines at which the middle sample is replaced.
    """

    count: int
    kinds: int
    varies: bool = False
    samples: list[str] = []
    values: list[float | None] = []
    due: int = 2

    @property
    def weight(self) -> int:
        """Priority in a question: frequent templates and those with fields of a report come first."""
        return (self.count if self.varies or self.count == 1 else 1) * (1 + self.kinds * self.kinds)


class Survey(msgspec.Struct):
    """Frequent templates of one stream of one rank.

    Attributes:
        templates: By template text.
        lines: Number of lines with numbers.
        head: First lines of the stream.
        tail: Newest lines of the stream.
        asked: Texts of the templates that were asked about, in order of their weight; empty before the first question.
    """

    templates: dict[str, CountedTemplate] = {}
    lines: int = 0
    head: list[str] = []
    tail: list[str] = []
    asked: list[str] = []

    def count(self, text: str, lines: int, kinds: int) -> CountedTemplate | None:
        """Count `lines` lines of a template; None where there is no room for it."""
        known = self.templates.get(text)
        self.lines += lines
        if known is None:
            if len(self.templates) >= TEMPLATES and not self._make_room(kinds):
                return None
            known = self.templates[text] = CountedTemplate(0, kinds)
        known.count += lines
        return known

    def _make_room(self, kinds: int) -> bool:
        """Drop the template of the lowest weight; False where all of them weigh more than a new one would."""
        lightest = min(self.templates, key=lambda text: self.templates[text].weight)
        if self.templates[lightest].weight > 1 + kinds * kinds:
            return False
        del self.templates[lightest]
        return True

    def add_lines(self, lines: Sequence[str]) -> None:
        """Keep the first and the newest lines of the stream."""
        if len(self.head) < _HEAD:
            self.head = [*self.head, *map(_cut, lines[: _HEAD - len(self.head)])]
        self.tail = [*self.tail, *map(_cut, lines[-_TAIL:])][-_TAIL:]

    def counts(self) -> dict[str, int]:
        """Return the numbers of lines of the templates that a question would show."""
        return {text: self.templates[text].count for text in self._ranked()}

    @property
    def repeats(self) -> bool:
        """Whether the stream repeats a template with numbers."""
        return any(each.count >= _REPEATED for each in self.templates.values())

    @property
    def is_due(self) -> bool:
        """Whether a report template is frequent enough for the first question of the stream."""
        return not self.asked and any(
            each.varies and each.kinds and each.count >= _FREQUENT for each in self.templates.values()
        )

    @property
    def is_due_at_end(self) -> bool:
        """Whether the stream has ended with templates that no question was about."""
        shown = [text for text in self._ranked() if self.templates[text].count > 1 or self.templates[text].kinds]
        return bool(set(shown) - set(self.asked))

    def _ranked(self) -> list[str]:
        return sorted(self.templates, key=lambda text: (-self.templates[text].weight, text))[:ASKED_TEMPLATES]

    def question(self, reading: str) -> FormatQuestion | None:
        """Return the question about the stream; None where it has no templates with samples. Its templates count as asked.

        Args:
            reading: What the rules read, in words.
        """
        shown = [text for text in self._ranked() if self.templates[text].samples]
        if not shown:
            return None
        self.asked = shown
        return FormatQuestion(
            fingerprint=fingerprint(self.templates, shown),
            templates=[
                TemplateSamples(text=text, count=self.templates[text].count, lines=list(self.templates[text].samples))
                for text in shown
            ],
            head=list(self.head),
            tail=list(self.tail),
            reading=reading,
        )

    def drop_samples(self) -> None:
        """Forget all lines: no question follows."""
        self.head, self.tail = [], []
        for each in self.templates.values():
            each.samples = []


def fingerprint(templates: dict[str, CountedTemplate], shown: Iterable[str]) -> str:
    """Return the checksum of the most frequent reports among `shown`: it does not depend on rare lines or on the length of the log."""
    known = [(text, templates[text]) for text in shown]
    reports = [(text, each) for text, each in known if each.kinds and each.varies] or known
    most = max(each.count for _, each in reports)
    anchors = sorted(text for text, each in reports if each.count >= _ANCHOR_SHARE * most)
    return hashlib.sha256("\0".join(anchors).encode("utf-8", "replace")).hexdigest()[:32]


def add_sample(template: CountedTemplate, line: str) -> None:
    """Keep `line` as the first, the middle or the newest sample of its template."""
    text = _cut(line)
    if len(template.samples) < _SAMPLES:
        template.samples = [*template.samples, text]
        return
    first, middle, newest = template.samples
    if template.count >= template.due:
        template.due, middle = 2 * template.count, newest
    template.samples = [first, middle, text]


def _cut(line: str) -> str:
    return line.strip("\r\n")[:SAMPLE_CHARACTERS]

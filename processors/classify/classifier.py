"""The line classifier (SchedMate §3.2): a class for every line, at the cost of a look-up once its template is known."""

from collections.abc import Sequence

from prometheus_client import Counter

from ..grammar.cache import GenerationCache
from ..grammar.extractor import CACHE_SIZE, LONGEST, templates
from .context import ClassifyContext, combine_kind, resolve
from .fallback import ModelClassifier, TemplateClassifier
from .kinds import BY_DIGITS, Ground, class_by_digits, kind_of
from .phases import PhaseReader


class ClassifierMetrics:
    """Metrics of the classifier."""

    def __init__(self) -> None:
        self.lines = Counter("schedmate_classifier_lines", "Lines classified.", registry=None)
        self.templates = Counter("schedmate_classifier_templates", "Templates classified: cache misses.", registry=None)
        self.asked = Counter(
            "schedmate_classifier_asked",
            "Templates without a matching signature, classified by the fallback.",
            registry=None,
        )


class LineClassifier:
    """Classifies lines as error, warning, progress or other.

    Signatures decide; what none of them knows goes to `fallback`, where there is one, and else is `other`. A kind is worked
    out on the template, not on the line, so the same line has the same class everywhere and always.

    Args:
        fallback: Classifies templates that no signature knows.
        cache_size: Templates that are surely remembered.
        phases: Corrects classes by the numbers of a stream; words alone decide without it.
    """

    def __init__(
        self,
        fallback: TemplateClassifier | None = None,
        cache_size: int = CACHE_SIZE,
        phases: PhaseReader | None = None,
    ) -> None:
        self._fallback, self._phases = fallback, phases
        self._cache: GenerationCache[str] = GenerationCache(cache_size)
        self.metrics = ClassifierMetrics()

    def metric_groups(self) -> Sequence[object]:
        """Return the metrics of what it is made of, a group for each part."""
        return (self.metrics, *([self._fallback.metrics] if isinstance(self._fallback, ModelClassifier) else []))

    @property
    def remembered(self) -> int:
        """Templates that are remembered now."""
        return len(self._cache)

    def classify(self, lines: Sequence[str], context: ClassifyContext, masked: Sequence[str] | None = None) -> str:
        """Return one letter a line: e, w, p or o. `context` is the stream's, and moves on.

        Lines may end with a carriage return, hold colours, NUL bytes and prefixes, and be of any length.
        `masked` are their templates, where they are known already.
        """
        if not lines:
            return ""
        masked = templates(lines) if masked is None else masked
        try:
            letters = "".join(map(self._cache.young.__getitem__, masked))
        except KeyError:
            letters = "".join(self._learn(masked))
        if BY_DIGITS in letters:
            letters = "".join(
                class_by_digits(line[:LONGEST]) if kind == BY_DIGITS else kind
                for kind, line in zip(letters, lines, strict=True)
            )
        self.metrics.lines.inc(len(lines))
        classes = resolve(letters, lines, context)
        return classes if self._phases is None else self._phases.correct(classes, lines, masked, context.phases)

    def _learn(self, masked: Sequence[str]) -> list[str]:
        fresh: dict[str, str] = {}
        unknown: list[str] = []
        known, learnt = self._cache.young, 0
        for template in {template for template in masked if template not in known}:
            kind = self._cache.get(template)
            if kind is None:
                kind, ground = kind_of(template)
                learnt += 1
                if self._phases is not None:
                    self._phases.note(template, ground)
                if ground is Ground.NOTHING and self._fallback is not None:
                    unknown.append(template)
            fresh[template] = kind
        self.metrics.templates.inc(learnt)
        if unknown and self._fallback is not None:
            unknown.sort()
            self.metrics.asked.inc(len(unknown))
            letters = self._fallback.classify(unknown)
            for template, letter in zip(unknown, letters, strict=True):
                fresh[template] = combine_kind(fresh[template], letter, template)
        for template, kind in fresh.items():
            self._cache.put(template, kind)
        return [fresh[template] if template in fresh else known[template] for template in masked]

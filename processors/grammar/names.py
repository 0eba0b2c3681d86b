"""Fields: what one means, by its name alone, and what those of a line have in common."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from . import units


class Meaning(IntEnum):
    """What a number in a report is."""

    __hash__ = (
        int.__hash__
    )  # looked up for every field of every report; an enum's own hashes its name, five times as slow

    STEP = 1
    """Counter of training iterations."""
    EPOCH = 2
    STEP_TIME = 3
    """Seconds per iteration, after scaling."""
    RATE = 4
    """Things a second, after scaling."""
    LOSS = 5
    CLOCK = 6
    """Seconds since some beginning: elapsed time."""
    MEASURE = 7
    """Something else that a training report holds: accuracy, perplexity, a norm of the gradient, a reward."""
    TOTAL = 8
    """The end of a counter: `N` in `k/N`."""
    TIME = 9
    """A time of which the name does not say of what."""
    SPAN = 10
    """A number with a unit of time, whatever its name: some readings of the line rest on it, its class does not."""
    PERIOD = 13
    """Seconds for one sample, after scaling."""
    COUNT = 11
    """Samples or tokens seen so far."""
    DONE = 12
    """Things done since the report before."""
    LEFT = 14
    """Seconds that remain, as the log expects."""


_EVALUATION = re.compile(
    r"(?:^|[^a-z])(?:val|valid|validation|eval|evaluation|evaluating|test|testing|dev|best(?! fitness)|inference|predict"
    r"|holdout)(?:[^a-z]|$)"
)
_NOT = re.compile(
    r"\bmicro\b|\bthis iter|\bstop|episode steps|scale|remain|skipped|\bnan\b|\bdata\b|accumulation|\beta\b|lr\b|learning[ _-]?rate"
    r"|^learning$|momentum|warm.?up|target"
    r"|nodes?\b|world|max|min\b|limit|seed|version|memory|\bmem|total[ _](?:steps|epochs|iter)|num[ _]train"
)
_STEP = re.compile(
    r"(?:^|[^a-z])(?:global[ _-]?step|steps?|iterations?|iters?|it|itr|i|n[ _]?iter|n(?:um)?[ _-]?updates?|updates?"
    r"|batch(?:es)?|mini-?batch(?:es)?|"
    r"(?:step|iter|iteration|batch|update|global)[ _-](?:num|number|idx|index|id|count|no|step)|nr[ _]batches"
    r"|step_num|total[ _]timesteps|t env"
    r"|^(?:total |num |env )*frames|^(?:running |starting |current )?generation"
    r"|training[ _]iteration)$|^(?:s|#|up\.?|upd)$|(?:步数|步|迭代|迭代次数)$"
)
_STEP_OF = re.compile(
    r"^(?:global |current )?(?:steps?|iter\w*|batch(?:es)?)/(?:max|total|num|all)(?: ?(?:steps?|iter\w*|batch(?:es)?))?$"
)
"""Name of a counter that is printed with its end: `global_step/max_steps: 13/94`."""
_EPOCH = re.compile(
    r"(?:^|[^a-z])(?:epochs?|ep|tick|epoch[ _](?:num|number|idx|index|id)|pass)$|^(?:e|round)$|(?:轮次|轮数|轮)$"
)
_WITHIN_EPOCH = re.compile(r"[a-z] (?:in|per|this) epochs?$")
"""`samples in epoch` counts samples."""
_LIMIT = re.compile(r"^(?:initial|max|min|target|quota|num|peak|promised)\b")
_STEP_TIME = re.compile(
    r"(?:^|[^a-z])(?:(?:time|secs?|seconds?|ms|elapsed time|avg[ _]time|duration)[ _]?(?:/|per|_per_"
    r"|a)[ _]?(?:step|iter|iteration|batch|it|update|minibatch)"
    r"|(?:step|iter|iteration|batch|train[ _]step|train[ _]iter|it|minibatch|update)[ _-]?(?:time|duration|cost"
    r"|latency|wall|secs?|ms)"
    r"|time[ _](?:step|iter|batch)|(?:train[ _])?batch[ _]cost|step_time_\w+|dt|elapsed time per (?:iteration|step)"
    r"|elapsed[ _]per[ _](?:iteration|step)|step timing(?: in \w+)?|time this iter s)\b|^bt?ch ?\("
    r"|^(?:train )?(?:step|iter|batch) ?\(t(?:ime)?\)$|^t (?:step|iter|iteration|batch|it)$"
)
_LOSS_NOT = re.compile(
    r"^final loss|reward|loss(?:es)?[ _-]?(?:scale|scaling|weight|fn|mask|coef|val(?!ue)|gain)|scale"
    r"|^(?:calc\w*|comput\w*) loss|loss(?:es)? (?:init|(?:pre|post)?-?process\w*|forward|backward|fwd|bwd|calc\w*|comput\w*)\b"
)
"""Names of weights and of parts of the work, whose numbers are times."""
_LOSS = re.compile(
    r"^learn$|cross[ -]?entropy(?: ?with[\w ]+)?$|(?:^|[^a-z])(?:loss|losses|nll|crossentropyloss|ce|xent|objective(?!/)|objf|bpb|bpc|elbo"
    r"|perplexity loss|score)(?:$|[^a-z])|loss$|损失|^(?:train |avg |average )?cost$|^trl$|\btr(?:n|ain)? ?loss|^l [a-z]+$|^loss ?value$"
    r"|^train(?:ings?)?[ -](?:rmse|mse|mae|l1|l2|deviance)$"
)
_RANKED_LOSSES = (
    re.compile(r"^loss$"),
    re.compile(
        r"^(?:loss(?:es)?/)?(?:avg|average|mean|running)?[ /]?"
        r"(?:train|training|lm|total|tot|all|overall|step|batch)?[ /]?loss(?: function)?$"
        r"|^loss(?:es)?[/ ]total$|^(?:train |avg |average )?cost$|^(?:训练|总)?损失$"
    ),
    re.compile(r"train.*(?:loss|entropy)|^loss\b.*\btrain"),
    re.compile(r"loss$"),
)
"""Names of losses, those of the training step first."""
_SMOOTHED = re.compile(r"avg|average|mean|smooth|running|final")
_PART_OF_LOSS = re.compile(r"(?<!cross )entropy loss|alpha|\bkl\b|\baux|\breg\b|regulari")
_CLOCK = re.compile(
    r"(?:^|[^a-z])(?:elapsed|elasped|(?:total|wall|elapsed|cumulative)[ _-]?(?:time|elapsed|wall)|time[ _-]?elapsed"
    r"|time[ _](?:passed|spent)|wallclock|wall[ _]clock|runtime|uptime|time[ _]total)|^(?:wall|_?timestamp|ts)$"
)
_TIME = re.compile(
    r"(?:^|[^a-z])(?:timer?|cost|took|duration|time cost|seconds|secs|耗时|用时)(?: ?\(\w+\))?$|^(?:ms|sec|mins?|minutes|hours|hrs)$"
    r"|^(?:time|seconds|secs) (?!step|left|est|eta)[a-z]+$"
)
_MEASURE = re.compile(
    r"acc(?:uracy)?\b|acc$|top-?\d|ppl|perplexity|grad[ _]?norm|\bgnorm|reward|\brew\b|return|\bmiou\b|\biou\b"
    r"|\bf1\b|\bauc\b|\bmap\b|error|\berr\b|"
    r"\bkl\b|entropy|mae|mse|\br?mse?\b|\b[wcp]er\b|psnr|dice|pixacc|bleu|train/|optim/|throughput/|tflops|samples?$|tokens?$"
    r"|consumed|mfu|lr$|learning|^r$|\bvalue$|\bfitness$"
)
_COUNT = re.compile(
    r"(?:^|[^a-z])(?:consumed|seen|processed|total|num|cumulative)?[ /]{0,3}"
    r"(samples|tokens|examples|images|sequences|timesteps|env steps|env interacts|interactions|kimg)"
    r"(?: (?:seen|consumed|processed|so far|total))?$"
)
_COUNT_NOT = re.compile(
    r"(?:^|[^a-z])(?:train|training|input|output|prompt|completion|per|batch|max|mean|avg)(?:[^a-z]|$)"
)
_FLOP = re.compile(r"flop|\bmfu\b|\bhfu\b")
_SPEED = re.compile(r"(?:^|[^a-z])(?:throughput|speed)(?:$| ?[(\[/]| (?:per|avg|average|mean|total|global)\b)")
_PLACE = re.compile(r"^(?:file|lineno|line|pid|rank|local_rank|port|gpu|device|layer|channel|stage|node|seed|size)$")


_ENGLISH = (
    dict.fromkeys(("schritt", "étape", "paso", "passo", "шаг", "ステップ", "스텝"), "step")
    | dict.fromkeys(("epoche", "époque", "época", "эпоха", "エポック", "에폭", "에포크"), "epoch")
    | dict.fromkeys(("verlust", "perte", "pérdida", "perda", "потери", "損失", "손실"), "loss")
    | dict.fromkeys(("валидация", "validación", "validação", "validierung", "検証", "검증"), "validation")
    | dict.fromkeys(
        ("обучение", "entrenamiento", "treino", "treinamento", "entraînement", "訓練", "学習", "훈련"), "train"
    )
    | dict.fromkeys(("zeit", "dauer", "temps", "durée", "tiempo", "tempo", "время", "时间", "時間", "시간"), "time")
)
"""Words of other languages that loops of people's own print. Chinese ones that are written without blanks stand in the patterns."""

PATTERNS = (
    *(
        pattern.pattern
        for pattern in (
            _EVALUATION,
            _STEP_OF,
            _FLOP,
            _STEP_TIME,
            _SPEED,
            _LOSS,
            _COUNT,
            _STEP,
            _EPOCH,
            _CLOCK,
            _TIME,
            _MEASURE,
        )
    ),
    rf"(?:^|[^a-z])(?:{'|'.join(_ENGLISH)}|total)(?:[^a-z]|$)",
)
"""Every name that means something, as `words` writes it, holds a match of one of these."""


@lru_cache(maxsize=4096)
def words(name: str) -> str:
    """Return `name` in small letters, as English words: `trainLoss` and `train_loss` become `train loss`."""
    found = units.HUMP.sub(" ", name).lower().replace("_", " ").split()
    return " ".join(_ENGLISH.get(word, word) for word in found)


@lru_cache(maxsize=4096)
def evaluation(text: str) -> bool:
    """Return whether `text` speaks of evaluation and not of training."""
    return _EVALUATION.search(words(text)) is not None


@lru_cache(maxsize=4096)
def meaning(name: str) -> tuple[Meaning, float, str] | None:  # noqa: C901, PLR0911  # a decision list
    """Return what a field called `name` is, the factor to seconds or to one a second, and the unit of a rate; None where unknown.

    Evaluation and configuration fields are unknown on purpose.
    """
    text = words(name)
    if not text or _PLACE.match(text) or (_LIMIT.match(text) and "num updates" not in text) or evaluation(text):
        return None
    if _STEP_OF.match(text):
        return Meaning.STEP, 1.0, ""
    if _FLOP.search(text):
        return Meaning.MEASURE, 1.0, ""
    if found := units.rate(name):
        return Meaning.RATE, found.scale, found.unit
    if (seconds := units.sample_period(name)) is not None:
        return Meaning.PERIOD, seconds, units.SAMPLES
    if (seconds := units.period(name)) is not None:
        return Meaning.STEP_TIME, seconds, ""
    if _STEP_TIME.search(text):
        return Meaning.STEP_TIME, units.time_in(name) or 1.0, ""
    if _SPEED.search(text) and not text.startswith(("throughput/total", "total")):
        return Meaning.RATE, 1.0, units.UNNAMED + units.per_device(name)
    if _LOSS.search(text) and not _LOSS_NOT.search(text):
        return Meaning.LOSS, 1.0, ""
    if _NOT.search(text) and not _CLOCK.search(text):
        return (Meaning.MEASURE, 1.0, "") if text in ("lr", "learning rate") else None
    return _plain(text, name)


def _plain(text: str, name: str) -> tuple[Meaning, float, str] | None:
    if (found := _COUNT.search(text)) and not _COUNT_NOT.search(text) and not _STEP.search(text):
        return Meaning.COUNT, 1.0, units.TOKENS if found[1] == "tokens" else units.SAMPLES
    clock = _CLOCK.search(text)
    kinds = (
        (Meaning.STEP, _STEP.search(text)),
        (Meaning.EPOCH, _EPOCH.search(text) and not _WITHIN_EPOCH.search(text)),
        (Meaning.CLOCK, clock),
        (Meaning.TIME, _TIME.search(text) and "epoch" not in text),
        (Meaning.MEASURE, _MEASURE.search(text)),
    )
    meant = next((kind for kind, matched in kinds if matched), None)
    if meant is None:
        return None
    return (
        meant,
        (units.time_in(name) or units.time_after(text) or 1.0) if meant in (Meaning.CLOCK, Meaning.TIME) else 1.0,
        "",
    )


@lru_cache(maxsize=4096)
def loss_rank(name: str) -> int:
    """Return how much a loss of this name is the loss of the training step; the lowest is taken."""
    text = words(name)
    for place, ranked in enumerate(_RANKED_LOSSES):
        if ranked.search(text):
            return place + (2 if _SMOOTHED.search(text) else 0) + (4 if _PART_OF_LOSS.search(text) else 0)
    return 9


@dataclass(frozen=True, slots=True)
class Field:
    """Number `index` of a line and what it means: its value times `scale` is in seconds or in `unit`."""

    index: int
    meaning: Meaning
    name: str
    scale: float = 1.0
    unit: str = ""
    per: int = -1
    """Number of the line that this one is divided by: `12.5 sec per 100 iters`; -1 for none."""


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """What the numbers of a template mean.

    Attributes:
        fields: One for each number with a known meaning.
        bar: A progress bar: an unnamed counter `k/N` with a rate or an elapsed time.
        shape: Checksum of the template, blanks and the drawing of a bar left out: a bar that grows stays the same report.
        scope: The text before the first field: `Epoch`, `Validation`.
        evaluated: It holds results of an evaluation too.
    """

    fields: tuple[Field, ...]
    bar: bool = False
    shape: int = 0
    scope: str = ""
    evaluated: bool = False

    def has(self, *meanings: Meaning) -> bool:
        """Return whether any field has one of `meanings`."""
        return any(field.meaning in meanings for field in self.fields)

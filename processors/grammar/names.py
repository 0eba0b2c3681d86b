"""Fields: what one means, by its name alone, and what those of a line have in common."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from . import units


class Meaning(IntEnum):
    """Meaning of a number in a report."""

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
    """A time whose name does not state what it measures."""
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


_RANKED_LOSSES = {
    0: re.compile(r"^loss$"),
    1: re.compile(
        r"^(?:loss(?:es)?/)?(?:avg|average|mean|running)?[ /]?"
        r"(?:train|training|lm|total|tot|all|overall|step|batch)?[ /]?loss(?: function)?$"
        r"|^loss(?:es)?[/ ]total$|^(?:train |avg |average )?cost$|^(?:训练|总)?损失$"
    ),
    2: re.compile(r"train.*(?:loss|entropy)|^loss\b.*\btrain"),
    4: re.compile(r"loss$"),
}
"""Names of losses, those of the training step first. A smoothed loss of the step comes before the loss of a part."""
_FORMS = {
    "evaluation": re.compile(
        r"(?:^|[^a-z])(?:val|valid|validation|eval|evaluation|evaluating|test|testing|dev|best(?! fitness)|inference|predict"
        r"|holdout)(?:[^a-z]|$)"
    ),
    "not": re.compile(
        r"\bmicro\b|\bthis iter|\bstop|episode steps|scale|remain|skipped|\bnan\b|\bdata\b|accumulation|\beta\b|lr\b|learning[ _-]?rate"
        r"|^learning$|momentum|warm.?up|target"
        r"|nodes?\b|world|max|min\b|limit|seed|version|memory|\bmem|total[ _](?:steps|epochs|iter)|num[ _]train"
    ),
    "step": re.compile(
        r"(?:^|[^a-z])(?:global[ _-]?step|steps?|iterations?|iters?|it|itr|i|n[ _]?iter|n(?:um)?[ _-]?updates?|updates?"
        r"|batch(?:es)?|mini-?batch(?:es)?|"
        r"(?:step|iter|iteration|batch|update|global)[ _-](?:num|number|idx|index|id|count|no|step)|nr[ _]batches"
        r"|step_num|total[ _]timesteps|t env"
        r"|^(?:total |num |env )*frames|^(?:running |starting |current )?generation"
        r"|training[ _]iteration)$|^(?:s|#|up\.?|upd)$|(?:步数|步|迭代|迭代次数)$"
    ),
    "epoch": re.compile(
        r"(?:^|[^a-z])(?:epochs?|ep|tick|epoch[ _](?:num|number|idx|index|id)|pass)$|^(?:e|round)$|(?:轮次|轮数|轮)$"
    ),
    # `samples in epoch` counts samples.
    "within_epoch": re.compile(r"[a-z] (?:in|per|this) epochs?$"),
    # Names of counters inside a step, and of two counters before two numbers.
    "no_step": re.compile(
        r"\bmicro|\bmbs?\b|\bubatch|accum|\binner\b|\bsub[ -]?(?:steps?|batch)"
        r"|^(?:epochs?|ep|steps?|iter\w*|batch(?:es)?) ?/ ?(?:epochs?|ep|steps?|iter\w*|batch(?:es)?)$"
    ),
    # Numbers of a report that are never a loss.
    "no_loss": re.compile(
        r"(?:^|[^a-z])(?:acc(?:uracy)?|top ?\d*|ppl|perplexity|reward|return|lr|learning ?rate|learning|norm|gnorm|iou"
        r"|miou|auc|psnr|dice|bleu|f1|map"
        r"|mem[a-z]*|eta|epochs?|steps?|iters?|samples?|tokens?|images?|scale|momentum|seconds?|speed|throughput|gpu|kl|tflops|mfu)(?:$|[^a-z])|time(?:$|[^a-z])"
    ),
    "loss_word": re.compile(r"loss|nll|entropy|cost|损失"),
    "limit": re.compile(r"^(?:initial|max|min|target|quota|num|peak|promised)\b"),
    "step_time": re.compile(
        r"(?:^|[^a-z])(?:(?:time|secs?|seconds?|ms|elapsed time|avg[ _]time|duration)[ _]?(?:/|per|_per_"
        r"|a)[ _]?(?:step|iter|iteration|batch|it|update|minibatch)"
        r"|(?:step|iter|iteration|batch|train[ _]step|train[ _]iter|it|minibatch|update)[ _-]?(?:time|duration|cost"
        r"|latency|wall|secs?|ms)"
        r"|time[ _](?:step|iter|batch)|(?:train[ _])?batch[ _]cost|step_time_\w+|dt|elapsed time per (?:iteration|step)"
        r"|elapsed[ _]per[ _](?:iteration|step)|step timing(?: in \w+)?|time this iter s)\b|^bt?ch ?\("
        r"|^(?:train )?(?:step|iter|batch) ?\(t(?:ime)?\)$|^t (?:step|iter|iteration|batch|it)$"
    ),
    # Names of weights and of parts of the work, whose numbers are times.
    "loss_not": re.compile(
        r"^final loss|reward|loss(?:es)?[ _-]?(?:scale|scaling|weight|fn|mask|coef|val(?!ue)|gain)|scale"
        r"|^(?:calc\w*|comput\w*) loss|loss(?:es)? (?:init|(?:pre|post)?-?process\w*|forward|backward|fwd|bwd|calc\w*|comput\w*)\b"
    ),
    "loss": re.compile(
        r"^learn$|cross[ -]?entropy(?: ?with[\w ]+)?$|(?:^|[^a-z])(?:loss|losses|nll|crossentropyloss|ce|xent|objective(?!/)|objf"
        r"|bpb|bpc|elbo|perplexity loss|score)(?:$|[^a-z])|loss$|损失|^(?:train |avg |average )?cost$|^trl$|\btr(?:n|ain)? ?loss|^l [a-z]+$"
        r"|^loss ?value$|^train(?:ings?)?[ -](?:rmse|mse|mae|l1|l2|deviance)$"
    ),
    "smoothed": re.compile(r"avg|average|mean|smooth|running|final"),
    "part_of_loss": re.compile(r"(?<!cross )entropy loss|alpha|\bkl\b|\baux|\breg\b|regulari"),
    "clock": re.compile(
        r"(?:^|[^a-z])(?:elapsed|elasped|(?:total|wall|elapsed|cumulative)[ _-]?(?:time|elapsed|wall)|time[ _-]?elapsed"
        r"|time[ _](?:passed|spent)|wallclock|wall[ _]clock|runtime|uptime|time[ _]total)|^(?:wall|_?timestamp|ts)$"
    ),
    "time": re.compile(
        r"(?:^|[^a-z])(?:timer?|cost|took|duration|time cost|seconds|secs|耗时|用时)(?: ?\(\w+\))?$|^(?:ms|sec|mins?|minutes|hours|hrs)$"
        r"|^(?:time|seconds|secs) (?!step|left|est|eta)[a-z]+$"
    ),
    "measure": re.compile(
        r"acc(?:uracy)?\b|acc$|top-?\d|ppl|perplexity|grad[ _]?norm|\bgnorm|reward|\brew\b|return|\bmiou\b|\biou\b"
        r"|\bf1\b|\bauc\b|\bmap\b|error|\berr\b|"
        r"\bkl\b|entropy|mae|mse|\br?mse?\b|\b[wcp]er\b|psnr|dice|pixacc|bleu|train/|optim/|throughput/|tflops|samples?$|tokens?$"
        r"|consumed|mfu|lr$|learning|^r$|\bvalue$|\bfitness$"
    ),
    "count": re.compile(
        r"(?:^|[^a-z])(?:consumed|seen|processed|total|num|cumulative)?[ /]{0,3}"
        r"(samples|tokens|examples|images|sequences|timesteps|env steps|env interacts|interactions|kimg)"
        r"(?: (?:seen|consumed|processed|so far|total))?$"
    ),
    "count_not": re.compile(
        r"(?:^|[^a-z])(?:train|training|input|output|prompt|completion|per|batch|max|mean|avg)(?:[^a-z]|$)"
    ),
    "flop": re.compile(r"flop|\bmfu\b|\bhfu\b"),
    "speed": re.compile(r"(?:^|[^a-z])(?:throughput|speed)(?:$| ?[(\[/]| (?:per|avg|average|mean|total|global)\b)"),
    "place": re.compile(
        r"^(?:file|lineno|line|pid|rank|local_rank|port|gpu|device|layer|channel|stage|node|seed|size)$"
    ),
}


@lru_cache(maxsize=4096)
def words(name: str) -> str:
    """Return `name` in small letters, as words: `trainLoss` and `train_loss` become `train loss`."""
    return " ".join(units.HUMP.sub(" ", name).lower().replace("_", " ").split())


@lru_cache(maxsize=4096)
def evaluation(text: str) -> bool:
    """Return whether `text` names an evaluation, not a training."""
    return _FORMS["evaluation"].search(words(text)) is not None


def is_no_step(name: str) -> bool:
    """Return whether `name` is that of a counter inside a step, or of two counters, of which it is unclear which number follows."""
    return bool(name) and _FORMS["no_step"].search(words(name)) is not None


@lru_cache(maxsize=4096)
def is_no_loss(name: str) -> bool:
    """Return whether `name` is that of a number which is never a loss, such as a reward."""
    called = words(name)
    return _FORMS["no_loss"].search(called) is not None and _FORMS["loss_word"].search(called) is None


@lru_cache(maxsize=4096)
def meaning(name: str) -> tuple[Meaning, float, str] | None:  # noqa: PLR0911  # a decision list
    """Return what a field called `name` is, the factor to seconds or to one a second, and the unit of a rate; None where unknown.

    Evaluation and configuration fields are unknown on purpose.
    """
    text = words(name)
    if (
        not text
        or _FORMS["place"].match(text)
        or (_FORMS["limit"].match(text) and "num updates" not in text)
        or evaluation(text)
    ):
        return None
    if _FORMS["flop"].search(text):
        return Meaning.MEASURE, 1.0, ""
    if found := units.rate(name):
        return Meaning.RATE, found.scale, found.unit
    if (seconds := units.sample_period(name)) is not None:
        return Meaning.PERIOD, seconds, units.SAMPLES
    if (seconds := units.period(name)) is not None:
        return Meaning.STEP_TIME, seconds, ""
    if _FORMS["step_time"].search(text):
        return Meaning.STEP_TIME, units.time_in(name) or 1.0, ""
    if _FORMS["speed"].search(text) and not text.startswith(("throughput/total", "total")):
        return Meaning.RATE, 1.0, units.UNNAMED + units.per_device(name)
    if _FORMS["loss"].search(text) and not _FORMS["loss_not"].search(text):
        return Meaning.LOSS, 1.0, ""
    if _FORMS["not"].search(text) and not _FORMS["clock"].search(text):
        return (Meaning.MEASURE, 1.0, "") if text in ("lr", "learning rate") else None
    return _plain(text, name)


def _plain(text: str, name: str) -> tuple[Meaning, float, str] | None:
    if (
        (found := _FORMS["count"].search(text))
        and not _FORMS["count_not"].search(text)
        and not _FORMS["step"].search(text)
    ):
        return Meaning.COUNT, 1.0, units.TOKENS if found[1] == "tokens" else units.SAMPLES
    if is_no_step(name):
        return None
    clock = _FORMS["clock"].search(text)
    kinds = (
        (Meaning.STEP, _FORMS["step"].search(text)),
        (Meaning.EPOCH, _FORMS["epoch"].search(text) and not _FORMS["within_epoch"].search(text)),
        (Meaning.CLOCK, clock),
        (Meaning.TIME, _FORMS["time"].search(text) and "epoch" not in text),
        (Meaning.MEASURE, _FORMS["measure"].search(text)),
    )
    meant = next((kind for kind, matched in kinds if matched), None)
    if meant is None:
        return None
    return (
        meant,
        (units.time_in(name) or units.time_after(text) or 1.0) if meant in (Meaning.CLOCK, Meaning.TIME) else 1.0,
        "",
    )


PART_RANK = 4
"""Rank of a loss (`loss_rank`) from which its name is that of a part."""


@lru_cache(maxsize=4096)
def loss_rank(name: str) -> int:
    """Return how much a loss of this name is the loss of the training step; the lowest is taken."""
    text = words(name)
    for rank, names in _RANKED_LOSSES.items():
        if names.search(text):
            return (
                rank + (2 if _FORMS["smoothed"].search(text) else 0) + (4 if _FORMS["part_of_loss"].search(text) else 0)
            )
    return 9


@dataclass(frozen=True, slots=True)
class Field:
    """Number `index` of a line and what it means: its value times `scale` is in seconds or in `unit`.

    Number `per` of the line divides it, as in `12.5 sec per 100 iters`; -1 for none.
    """

    index: int
    meaning: Meaning
    name: str
    scale: float = 1.0
    unit: str = ""
    per: int = -1


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """Meanings of the numbers of a template.

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


NO_FIELDS = FieldLayout(())

"""Whether a job is evaluated while it trains, and on which data."""

from .data import evaluated_by, stated_name, train_names
from .data_names import SPLITS, best_name, names_of, registered
from .registry import known, listed, plain, words
from .settings import Setting, Settings
from .steps import Training
from .trace import Loop
from .values import Class, Instance, OpenFile, Term, Value, alternatives, dotted, walk

_VALIDATION_SETTINGS = listed(
    """
    evaldataset validdataset valdataset valdata validdata evaldata validationfile validfile valfile evalfile
    inputvalidationfile valdatapath evaldatapath validationdataset evaldatasetname valfiles validfiles
    validationfiles testdatasets validation valtargets valsets evalsets validsets
    """
)


_LEAST_LETTERS = 3
"""Letters of a name that is no field's own."""


_STRATEGIES = ("evalstrategy", "evaluationstrategy", "doeval")


_TIMES = ("steps", "epoch")


_FROZEN = frozenset(listed("ref reference teacher target ema frozen"))
"""Models that only answer while another one trains."""


_HELD_OUT = listed("valsetsize valsize validationsplit valsplit validationsize evalratio valratio evalsize")


_INTERVALS = listed(
    "evaliters evalinterval evalsteps evalstep validateintervalupdates validateinterval validinterval valinterval evalfreq valcheckinterval"
)


def valid_data(training: Training, settings: Settings, train: str | None) -> str | None:
    """Return the data set of evaluations during training; null where there are none."""
    value, evaluates = _validation(training, settings)
    if not evaluates:
        return None
    candidates = list(names_of(value)) if value is not None else []
    if train is not None and any(_bare(each) == _bare(train) for each in candidates):
        return train
    best = best_name(candidates)
    if best is not None and (known("datasets", best) is not None or _names_others(training, train, best, value)):
        return best
    stated = stated_name(settings, _VALIDATION_SETTINGS, training.seen)
    if stated is not None and known("datasets", stated):
        return registered(stated)
    return stated if value is None and stated is not None and not _same_data(stated, train) else train


def _bare(name: str) -> str:
    """Return the words of a name that do not tell a split."""
    return "".join(each for each in words(name) if each not in {*SPLITS, "train", "training"})


def _same_data(name: str, train: str | None) -> bool:
    """Whether a name may well be of the training data: it is short, or one holds the other."""
    one, other = _bare(name), _bare(train or "")
    return len(one) < _LEAST_LETTERS or not other or one in other or other in one


def _names_others(training: Training, train: str | None, best: str, value: Value) -> bool:
    """Whether what is evaluated on bears a name of its own, found as the training data's was, and never theirs."""
    if train is None or len(_bare(best)) < _LEAST_LETTERS:
        return False
    own = [each for each in train_names(training) if _bare(each) == _bare(train)]
    texts = [each.path if isinstance(each, OpenFile) else each for each in walk(value, 400)]
    return bool(own) and not any(isinstance(each, str) and plain(train) in plain(each) for each in texts)


def _validation(training: Training, settings: Settings) -> tuple[Value, bool]:  # noqa: C901, PLR0911, PLR0912  # a list of cases
    """Return what evaluations go over, where that is known, and whether there are any during the training."""
    for call in training.trainers:
        if any("Lightning" in base or base.endswith("Trainer") for base in (*call.bases, call.name)):
            value = evaluated_by(call)
            asked = [each.value for each in settings.find(_STRATEGIES)]
            if None in alternatives(value) and not any(each is True or each in _TIMES for each in asked):
                continue
            return value, True
    evaluations = [each for each in training.trace.calls if each.last == "run" and "evaluator" in each.name.lower()]
    if evaluations:
        return evaluations[-1].argument("data", place=0), True
    for run in training.runs:
        value = run.call.argument(
            "validation_data", "val_dataloaders", "val_dataloader", "eval_dataset", "datamodule", "callback", "eval_set"
        )
        if value is not None:
            return value, True
        if run.call.argument("validation_split") is not None or any(
            words(key)[0] in SPLITS and each is not None for key, each in run.call.keywords.items() if words(key)
        ):
            return None, True
        described = run.call.argument("data")
        if run.made is None and isinstance(described, str) and described.endswith((".yaml", ".yml")):
            return None, any(each.last in SPLITS and isinstance(each.value, str) for each in settings.all)
        given = run.call.argument(place=2 if run.made is not None and "ightning" in run.made.name else 1)
        if run.made is not None and run.call.last == "fit" and isinstance(given, (Term, Instance)):
            return given, True  # what trains, what evaluates; Lightning has the model before them
        for each in run.call.arguments:
            if isinstance(each, Instance) and _validates(each.cls):
                return each, True
    if training.loops:
        return _inside_loops(training)
    if training.configured:
        return None, any(settings.find(("valdataloader", "valinterval", "valcfg", "evaluation", "evalperiod", "test")))
    evaluated = settings.number(_INTERVALS)
    held_out = not training.trainers and (
        any(_in_section_held_out(each) for each in settings.all)
        or settings.number(_HELD_OUT) is not None
        or settings.text(_VALIDATION_SETTINGS) is not None
        or (evaluated is not None and not evaluated.derived)
    )
    return None, held_out


def _in_section_held_out(setting: Setting) -> bool:
    """Whether a setting names data in a section that is named after a split, as `data.valid.path_src`."""
    *sections, last = setting.name.lower().split(".")
    named = {"path", "data", "dataset", "file"} & set(words(last))
    return (
        bool(set(sections) & {"val", "valid", "validation", "dev"}) and bool(named) and isinstance(setting.value, str)
    )


def _validates(cls: Class) -> bool:
    return any(name in each.names for each in cls.ancestry() for name in ("val_dataloader", "validation_step"))


def _inside_loops(training: Training) -> tuple[Value, bool]:
    trained = {id(loop) for call in training.gradients for loop in call.loops}
    for loop in training.trace.loops:
        inside = training.loops[0] in loop.outer and id(loop) not in trained
        if inside and _over_data(loop.iterated) and not _over_batch(loop):
            return loop.iterated, True
    value: Value = None
    seen = False
    training_functions = {call.functions for call in training.gradients if training.inside(call)}
    for call in training.trace.calls:
        if not training.inside(call):
            continue
        names = [*call.functions[-2:], call.last]
        evaluates = (call.last in {"no_grad", "inference_mode"} and call.functions not in training_functions) or (
            call.last == "eval" and "." in call.name and not _FROZEN & set(words(call.name))
        )
        if evaluates or any(_tells_evaluation(words(name)) for name in names):
            seen = True
            own = [
                loop.iterated
                for loop in call.loops
                if loop not in training.loops and isinstance(loop.iterated, (Term, Instance))
            ]
            value = value if value is not None else (own[0] if own else None)
    return value, seen


def _tells_evaluation(name: list[str]) -> bool:
    """Whether a function's words say that it evaluates; `dev` alone is a device."""
    return name != ["dev"] and any(each in SPLITS or each == "evaluate" for each in name[:2])


def _over_batch(loop: Loop) -> bool:
    """Whether a loop goes over a part of what a loop around it has taken."""
    taken = [each.iterated for each in loop.outer if each.iterated is not None]
    return any(
        isinstance(each, Term) and each.kind == "item" and any(each.parts[0] is other for other in taken)
        for each in walk(loop.iterated, 30)
    )


def _over_data(value: Value) -> bool:
    return any(
        isinstance(each, (Instance, Term))
        and any("data" in word or "loader" in word for word in words(dotted(each))[-3:])
        for each in walk(value, 8)
    )

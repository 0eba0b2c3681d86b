"""How long a job trains: the bound of the loop around its gradients, a trainer's argument, or a setting of that name."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .operations import agreed_number, settle
from .registry import listed, plain, words
from .settings import Settings, is_number
from .steps import Training
from .trace import Loop
from .values import Config, Instance, Range, Term, Value, alternatives, walk

EPOCHS = listed(
    """
    maxepochs maxepoch numtrainepochs trainepochs trainingepochs numepochs nepochs nbepochs nbepoch totalepochs
    totalepoch epochs epoch nepoch numepoch epochnum epochnums maxnumepochs trainingepoch ntrainepochs endepoch
    epochsnum niterepochs numberofepochs trainnumepochs
    """
)
STEPS = listed(
    """
    maxsteps maxstep maxtrainsteps totalsteps totalstep numtrainsteps trainsteps trainingsteps numtrainingsteps
    numsteps nsteps maxiters maxiter totaliters totaliter numiterations niterations trainiters numiters niters
    iterations maxiterations maxupdate maxupdates totaltrainingsteps trainnumsteps steps totaltimesteps totalkimg
    numtrainiters ntimesteps timesteps lrannealsteps trainingiters totaliterations numenvsteps totalenvsteps
    numframes maxframes totalframes maxtimesteps nupdates numupdates totalnumsteps maxtrainingsteps
    numtrainingiterations iters niter numtimesteps envsteps trainiterations
    """
)
EPISODES = (
    "numepisodes",
    "nepisodes",
    "maxepisodes",
    "episodes",
    "totalepisodes",
    "maxepisode",
    "nepisode",
    "numepisode",
)
TOKENS = ("maxtokens", "totaltokens", "traintokens", "trainingtokens", "maxtraintokens", "tokenbudget", "numtokens")

_UNITS = {"epoch": EPOCHS, "step": STEPS, "episode": EPISODES, "token": TOKENS}
_UNIT_WORDS = {
    "epoch": "epoch",
    "epochs": "epoch",
    "nepochs": "epoch",
    "nepoch": "epoch",
    "step": "step",
    "steps": "step",
    "iter": "step",
    "iters": "step",
    "iteration": "step",
    "iterations": "step",
    "it": "step",
    "update": "step",
    "updates": "step",
    "timesteps": "step",
    "timestep": "step",
    "frames": "step",
    "frame": "step",
    "niter": "step",
    "episode": "episode",
    "episodes": "episode",
    "tokens": "token",
    "itr": "step",
    "ep": "epoch",
    "batches": "step",
}
_REPEATS = {"run", "runs", "trial", "seed", "fold", "repeat", "exp", "experiment", "replicate", "split"}
"""Loops over whole trainings."""
_LOOP_SETTINGS = ("train_cfg.", "runner.")
"""Where a runner that is made from a whole configuration finds its length (MMEngine, and MMCV 1)."""
_IDENTIFIER = re.compile(r"\w+")
_ENVIRONMENT_STEPS = (
    "totaltimesteps",
    "totalsteps",
    "totalenvsteps",
    "numenvsteps",
    "maxtimesteps",
    "numframes",
    "totalframes",
    "numtimesteps",
    "ntimesteps",
    "timesteps",
)


_ROLLOUTS = ("steps", "numsteps", "nsteps")
"""What reinforcement learning calls the steps of an environment between two updates, too."""
_CRITERIA = {
    "training_iteration": "step",
    "timesteps_total": "step",
    "num_env_steps_sampled_lifetime": "step",
    "env_runners/num_env_steps_sampled_lifetime": "step",
    "episodes_total": "episode",
}


@dataclass(frozen=True, slots=True)
class Length:
    """How long: a number of `epoch`, `step`, `token` or `episode`; `iters` null where nothing bounds it."""

    iters: float | None
    unit: str | None


UNKNOWN_LENGTH = Length(None, None)


def length(training: Training, settings: Settings, reinforcement: bool) -> Length:
    """Return how long a job trains; nulls where that is not known."""
    for found in (_of_criteria(training), _of_runs(training), _of_trainers(training)):
        if found is not None:
            return found
    total = settings.number(_ENVIRONMENT_STEPS) if reinforcement else None
    if total is not None:
        return Length(total.value, "step")
    if training.configured:
        for place in _LOOP_SETTINGS:
            found = _of_settings(settings, place)
            if found.iters is not None:
                return found
    found = _of_loops(training) or _of_settings(settings, without=_ROLLOUTS if reinforcement else ())
    return found if found.unit is not None else Length(None, _unbounded_unit(training))


def arguments_of(value: Value) -> dict[str, Value]:
    """Return a configuration object's fields by name."""
    if isinstance(value, Instance):
        return {**value.keywords, **value.names}
    if isinstance(value, Config):
        return dict(value)
    return dict(value.keywords) if isinstance(value, Term) else dict(value) if isinstance(value, dict) else {}


def _positive(value: Value) -> float | None:
    number = agreed_number(value)
    return number if number is not None and number > 0 and not math.isinf(number) else None


def _of_criteria(training: Training) -> Length | None:
    """Return the one criterion of Ray Tune's `stop={…}` (its documentation, "Stopping criteria") that is a length."""
    for call in training.trace.calls:
        stop = call.keywords.get("stop")
        given = (
            {key: _positive(each) for key, each in stop.items() if key in _CRITERIA} if isinstance(stop, dict) else {}
        )
        if len(given) == 1:
            key, number = given.popitem()
            return Length(number, _CRITERIA[key])
    return None


def _of_runs(training: Training) -> Length | None:
    for run in training.runs:
        call = run.call
        if call.last == "learn":
            total = _positive(call.argument("total_timesteps", place=0))
            if total is not None:
                return Length(total, "step")
        if call.last in {"fit", "fit_one_cycle", "fine_tune", "train", "run"}:
            epochs = _positive(call.argument("epochs", "n_epochs", "nb_epoch", "max_epochs", "num_epochs"))
            if epochs is None and call.last in {"fit_one_cycle", "fine_tune"}:
                epochs = _positive(call.argument(place=0))
            if epochs is not None:
                return Length(epochs, "epoch")
            steps = _positive(call.argument("max_steps", "num_steps", "total_timesteps"))
            if steps is not None:
                return Length(steps, "step")
    return None


def _of_trainers(training: Training) -> Length | None:
    """Return what a trainer's arguments say; steps go before epochs (transformers, Lightning)."""
    for call in training.trainers:
        given = dict(call.keywords)
        for each in (*call.arguments, *call.keywords.values()):
            inner = arguments_of(each)
            if {"num_train_epochs", "max_steps"} & set(inner):
                given = {**inner, **given}
        for names, unit in (
            (("max_steps", "total_steps", "max_iters", "num_steps", "max_iter"), "step"),
            (("num_train_epochs", "max_epochs", "epochs", "num_epochs"), "epoch"),
        ):
            found = next(filter(None, (_positive(given.get(name)) for name in names)), None)
            if found is not None:
                return Length(found, unit)
        duration = given.get("max_duration")
        if isinstance(duration, str):
            return _of_duration(duration)
    return None


def _of_duration(text: str) -> Length | None:
    """Return Composer's `10ep`, `500ba`, `1000tok`."""
    for ending, unit in (("ep", "epoch"), ("ba", "step"), ("tok", "token")):
        number = text.removesuffix(ending)
        if number != text and number.replace("_", "").isdigit():
            return Length(float(number), unit)
    return None


def _of_loops(training: Training) -> Length | None:
    """Return the bound of the outermost loop around a gradient that has one."""
    best: Length | None = None
    for call in training.gradients:
        for place, loop in enumerate(call.loops):
            found = _bound(loop)
            if found is None or set(words(loop.target)) & _REPEATS:
                continue
            number, text = found
            if place and loop.target == "_" and call.loops[0].iterated is None:
                continue  # gradients are accumulated inside a loop whose end is not known
            unit = _unit(text, loop.target) or _by_structure(call.loops[place + 1 :])
            if unit is not None and (number > 1 or unit == "epoch"):
                return Length(number, unit)
            best = best or (Length(number, unit) if unit is not None else None)
    return best


def _unbounded_unit(training: Training) -> str | None:
    """Return what a training without a known bound counts: what its outermost `while` tells."""
    outer = training.loops[0] if training.loops else None
    if outer is None or outer.iterated is not None:
        return None
    return _unit(outer.text) or _by_structure(training.loops[1:])


def _bound(loop: Loop) -> tuple[float, str] | None:
    """Return how often a loop goes round, and the source that says so."""
    for value in alternatives(loop.iterated):
        for each in walk(value, 6):
            if isinstance(each, Range):
                number = count(each)
                if number is not None and number > 1 and _resumes(each.start) and "+ 1)" in loop.text:
                    number -= 1
                return None if number is None else (number, loop.text)
    if loop.iterated is not None and not loop.limits:
        return None
    for left, left_value, right, right_value in loop.limits:
        for text, other, value in ((right, left, right_value), (left, right, left_value)):
            number = _positive(value)
            if (
                number is not None
                and number > 1
                and _unit(text)
                and (_unit(other or text) or (other.isidentifier() and _is_setting(text)))
                and "log" not in text
                and "warm" not in text
            ):
                return number, text
    return None


def _is_setting(text: str) -> bool:
    """Whether a bound is a setting of a telling name, such as `args.tokens`."""
    return "." in text and (text.rpartition(".")[2] in _UNIT_WORDS or plain(text.rpartition(".")[2]) in TOKENS)


def _resumes(start: Value) -> bool:
    """Whether a range begins where a run left off, which only the run knows; an end of `steps + 1` then means `steps`."""
    return isinstance(start, Term)


def count(span: Range) -> float | None:
    """Return how often a range goes round; from a resumed position as from its beginning."""
    start = span.start
    if isinstance(span.end, Term) and span.end.kind == "operation" and span.end.name == "Add":
        left, right = span.end.parts
        if left is start or right is start:
            other = settle(right if left is start else left)
            return _positive(other)
    number = _positive(span.end)
    if number is None:
        return None
    begin = settle(start)
    if is_number(begin) and (span.literal_start or begin in {0, 1}):
        number -= begin
    return number if number > 0 else None


def _unit(*texts: str) -> str | None:
    """Return the unit that the first of `texts` names; epochs before what they are made of."""
    for text in texts:
        found = [_UNIT_WORDS[each] for each in words(_counted(text)) if each in _UNIT_WORDS]
        if found:
            return next((each for each in ("epoch", "episode") if each in found), found[0])
    return None


def _counted(text: str) -> str:
    """Return a text without names such as `steps_per_epoch`, which speak of both units."""
    names = _IDENTIFIER.findall(text)
    return " ".join(each for each in names if "perepoch" not in each.lower().replace("_", ""))


def _by_structure(inner: Sequence[Loop]) -> str | None:
    """Return what a loop counts by what is inside it: batches make it epochs, nothing makes it steps."""
    over_data = any(isinstance(each.iterated, Term) for each in inner)
    return "epoch" if over_data else "step" if not inner else None


def _of_settings(settings: Settings, under: str = "", without: Sequence[str] = ()) -> Length:
    """Return what settings are named for it; null where several units are set."""
    found: dict[str, float] = {}
    strengths: dict[str, int] = {}
    for unit, names in _UNITS.items():
        each = settings.number([name for name in names if name not in without], under)
        if each is not None:
            found[unit], strengths[unit] = each.value, each.strength
    for unit in ("step", "epoch", "episode", "token"):
        if (
            unit in found
            and strengths[unit] == min(strengths.values())
            and (len(found) == 1 or unit == "epoch" or "epoch" not in found)
        ):
            return Length(found[unit], unit)
    return UNKNOWN_LENGTH


__all__ = ["Length", "count", "length"]

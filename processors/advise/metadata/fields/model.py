"""Model that a job trains: what its optimizer holds, the weights that were loaded, and the model that its settings name."""

import posixpath
from collections.abc import Iterator, Sequence

from ..program.operations import settle
from ..program.trace import Call
from ..program.values import Class, Instance, Term, Value, dotted, walk
from ..registry import known_name, names, plain, words
from .settings import Settings
from .steps import Training, owner

_OPTIMIZERS = ("torch.optim.", "optax.", "bitsandbytes.optim.")
_WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".yaml", ".json")
_OTHERS = ("okenizer", "rocessor", "onfig", "cheduler")
"""Parts of the names of classes whose `from_pretrained` loads no model."""
_TYPED = ("model.type", "model.name", "model.arch", "arch.type", "model._target_", "model.meta_architecture")


def model_name(training: Training, settings: Settings) -> str | None:
    """Return the model's name; null without enough evidence."""
    networks = {each.last for each in training.trace.calls if _is_network(each)}
    wrappers = {each.last for each in training.trace.calls if _wraps_network(each)}
    found = [name for value in _trained_values(training) for name in _names_of(value) if name[1] not in wrappers]
    loaded = [name for is_loaded, name in found if is_loaded]
    made = [name for is_loaded, name in found if not is_loaded]
    telling = [each for each in made if not _is_generic(each)]
    stated = list(_stated(settings, training.seen))
    agreed = [each for each in stated if any(plain(each) in plain(one) or plain(one) in plain(each) for one in made)]
    registered = [each for each in (*telling, *stated) if known_name("models", each)]
    files = (
        known_name("models", posixpath.basename(label))
        for label, _ in training.trace.settings
        if label.startswith("file ")
    )
    own = telling[:1] if telling and telling[0] in networks else []
    return next(
        iter((*loaded, *agreed, *own, *registered, *(each.name for each in files if each), *telling, *stated)), None
    )


def algorithm(training: Training, settings: Settings) -> str | None:
    """Return the algorithm of a reinforcement learning job; null if none is named."""
    stated = [str(each.value) for each in settings.texts("algorithm")]
    runs = [run.call.name.replace("()", "") for run in training.runs]
    called = [call.last for call in training.trace.calls if isinstance(call.called, (Class, Term))][:400]
    places = (*reversed(stated), posixpath.basename(training.trace.entry), *runs, *called)
    found = (name for text in places if (name := known_name("models", text)) is not None)
    return next((each.name for each in found if each.task == "reinforcement-learning"), None)


def optimizers(training: Training) -> list[Call]:
    """Return the calls that make optimizers."""
    calls = [each for each in training.trace.calls if "lr_scheduler" not in each.name]
    listed = names("vocabulary", "optimizers")
    return [
        each
        for each in calls
        if plain(each.last) in listed or (each.name.startswith(_OPTIMIZERS) and each.last[:1].isupper())
    ]


def _extends(bases: Sequence[str]) -> bool:
    return any(base.endswith(names("vocabulary", "networks")) for base in bases)


def _is_network(call: Call) -> bool:
    """Return whether a call makes a network of the tree that is no wrapper of a training."""
    return isinstance(call.called, Class) and _extends(call.bases) and "ightning" not in str(call.bases)


def _wraps_network(call: Call) -> bool:
    """Return whether a call makes a Lightning module of the tree that is given the network which it trains."""
    given = (each.cls for each in (*call.arguments, *call.keywords.values()) if isinstance(each, Instance))
    return "LightningModule" in str(call.bases) and any(_extends(each.external_bases()) for each in given)


def _trained_values(training: Training) -> Iterator[Value]:
    """Yield values that hold the model, the most direct first."""
    yield from (call.argument("model", "network", "net", place=0) for call in training.trainers)
    for run in training.runs:
        yield from (run.call.argument("model", place=0), owner(run.call) if run.made is None else None)
    yield from (call.argument("params", "parameters", place=0) for call in optimizers(training))
    makers = {"from_pretrained", *names("vocabulary", "factories")}
    yield from (call.result for call in training.trace.calls if call.last in makers)
    made = (each for each in training.trace.calls if isinstance(each.called, Class) and _extends(each.bases))
    yield from (each.result for each in made if "__init__" not in each.functions)


def _names_of(value: Value) -> Iterator[tuple[bool, str]]:
    """Yield names of a model, and whether each names weights that are loaded."""
    for each in walk(value, 120):
        if isinstance(each, Term) and each.kind == "call":
            yield from _of_call(each)
        elif isinstance(each, Instance) and _extends(each.cls.external_bases()):
            yield False, each.cls.name
            yield (
                False,
                posixpath.splitext(posixpath.basename(each.cls.module.file))[0]
                if _is_generic(each.cls.name)
                else each.cls.name,
            )


def _of_call(term: Term) -> Iterator[tuple[bool, str]]:
    path = dotted(term.parts[0])
    holder, _, last = path.rpartition(".")
    named = [term.keywords.get(key) for key in ("model_name", "pretrained_model_name_or_path", "name")]
    texts = [found for each in (*term.parts[1:2], *named) if isinstance(found := settle(each), str)]
    if last == "from_pretrained" and not any(each in path for each in _OTHERS):
        yield from ((True, each) for each in texts[:1])
        yield False, holder.rpartition(".")[2]
    elif last in names("vocabulary", "factories") and texts:
        yield True, texts[0]
    elif (
        "(" not in path
        and "optim" not in path
        and (".models." in path or (last[:1].isupper() and known_name("models", last)))
    ):
        yield False, last


def _stated(settings: Settings, seen: bool) -> Iterator[str]:
    """Yield names of models in settings. If the training was not seen, derived settings count only with known names."""
    first = (each for each in settings.all if each.name.lower() in _TYPED and isinstance(each.value, str))
    for each in (*first, *settings.texts("model")):
        value = str(each.value).rpartition(".")[2] if each.name.endswith("_target_") else str(each.value)
        is_known = known_name("models", value) is not None
        place, file = value.startswith((".", "/")), value.endswith(_WEIGHTS)
        name = posixpath.basename(value.rstrip("/")) if place or file else value
        name = posixpath.splitext(name)[0] if file else name
        if (
            (is_known or ((seen or not each.derived) and not place and not file))
            and len(name) < 100
            and not _is_generic(name)
        ):
            yield name


def _is_generic(name: str) -> bool:
    """Return whether all words of a name are generic, or one names a part of a model."""
    generic = names("vocabulary", "generic_model")
    ordinary = [each in generic or each.removesuffix("s") in generic or each.isdigit() for each in words(name)]
    return len(name) < 2 or all(ordinary) or any(each in names("vocabulary", "parts") for each in words(name))

"""Which model a job trains: what its optimizer holds, what was loaded, and what its settings call it."""

import posixpath
from collections.abc import Iterator, Sequence

from .operations import settle
from .registry import known, listed, plain, words
from .settings import Settings
from .steps import Training
from .trace import Call
from .values import Class, Instance, Term, Value, dotted, walk

_OPTIMIZERS = frozenset(
    listed(
        """
    adam adamw sgd adagrad rmsprop adadelta lion adafactor lamb lars muon radam nadam novograd adamax fusedadam
    adamw8bit adam8bit pagedadamw8bit ranger sophiag distributedoptimizer adabelief asgd lbfgs rprop sparseadam
    fusedlamb fusedsgd cpuadam deepspeedcpuadam adopt soap shampoo madgrad prodigy schedulefree adamwschedulefree
    optimizer
    """
    )
)
_BASES = listed(
    """
    Module LightningModule PreTrainedModel Model Layer GenerationMixin ModelMixin BaseModel Block MegatronModule
    Sequential BaseAlgorithm FairseqModel BaseModule GraphModule MessagePassing FairseqEncoderDecoderModel BaseDetector
    """
)
_FACTORIES = {
    "create_model",
    "timm_create_model",
    "get_model",
    "build_model",
    "make_model",
    "load_model",
    "get_network",
    "create_model_and_transforms",
    "ModelFactory",
}
_SETTINGS = listed(
    """
    modelname model arch archname architecture network net modelnameorpath basemodel modeltype modelid backbone
    pretrainedmodelnameorpath netg modelpath modelarch modelcard encoder gnntype gnn modelsize variant modelclass
    initfrom basemodelname networkname algo algorithm agent algoname method checkpoint llm cnn nettype baseline
    weights cfg checkpointdir encodertype
    """
)
_NAMES = ("modelname", "modelnameorpath", "model", "basemodel", "checkpointdir", "arch", "modelid")
"""Settings that name the whole model, and no part of it."""
_WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors")
_ALGORITHMS = ("algo", "algorithm", "algoname", "agent", "expname", "method", "policyname", "advestimator")
_OF_PARTS = {"backbone", "encoder", "encodertype", "cnn", "variant"}
"""Settings that name a part of a model."""
_FILES = {"weights", "cfg"}
_DIRECTORIES = {"checkpointdir"}
"""Settings that name a model only where it is a known one."""
"""Settings that name a model only where they name a file of one."""
_PARTS = {"generator", "discriminator", "critic", "loss", "losses"}
_GENERIC = frozenset(
    listed(
        """
    model net network module main wrapper base classifier lit lightning ddp trainer agent encoder decoder backbone
    pl my custom my_model wrapped task system training train default none null true false auto pretrained scratch
    resume checkpoint best last generator discriminator critic actor value policy block layer positional encoding
    embedding head loss criterion student teacher util unit common component ema denoiser autoencoder gen disc netg
    netd g d resume_from detection segmentation classification recognition generation prediction regression hf
    causal lm brain llm nmt run core engine nets networks layers plain simple vanilla standard parallel data dp ddp fsdp distributed
    """
    )
)


def model_name(training: Training, settings: Settings) -> str | None:  # a list of cases
    """Return the model's name; null where evidence is thin."""
    loaded: list[str] = []
    made: list[str] = []
    outer = {each.last for each in training.trace.calls if _is_network(each)}
    wrappers = {each.last for each in training.trace.calls if _wraps_network(each)}
    for value in _trained_values(training):
        for kind, name in _names_of(value):
            (loaded if kind == "loaded" else made).append(name)
    made = [each for each in made if each not in wrappers]
    stated = [each for each in _stated(settings, training.seen) if each not in wrappers]
    for name in loaded:
        return name
    telling = [each for each in made if not _is_generic(each)]
    if telling and telling[0] in outer and _is_method(telling[0]) and (not stated or _is_backbone(stated[0])):
        return telling[0]
    named = [each for each in _stated(settings, training.seen, parts=False) if each not in wrappers]
    whole = named if outer else stated
    for name in whole:
        if any(plain(name) in plain(each) or plain(each) in plain(name) for each in made):
            return next((each for each in telling if _is_family(name) and each in outer and _holds(each, name)), name)
    if telling:
        return _written(settings, training.trace.words) or _of_made(training, telling, stated, outer)
    if stated:
        registered = [each for each in stated if known("models", each)]
        return next(iter(registered), _configuration_name(training) or stated[0])
    return _configuration_name(training) or _anywhere(training)


def _of_made(training: Training, telling: list[str], stated: list[str], outer: set[str]) -> str:
    """Return the name of what is trained: a known one, else what settings or a configuration's file call it.

    Args:
        training: The training.
        telling: Names of what is trained, the outermost first.
        stated: What settings call the model.
        outer: Networks of the tree.
    """
    registered = [each for each in telling if known("models", each)]
    if registered:
        return telling[0] if telling[0] in outer else registered[0]
    if stated and known("models", stated[0]):
        return stated[0]
    return _configuration_name(training) or telling[0]


def _is_family(name: str) -> bool:
    """Whether a setting tells only what kind of network it is, such as `transformer`."""
    found = known("backbones", name)
    return found is not None and name.isalpha() and plain(found.name) == plain(name)


def _holds(longer: str, name: str) -> bool:
    return plain(name) in plain(longer)


def _is_backbone(name: str) -> bool:
    """Whether a name is of an architecture that others are built on."""
    return known("backbones", name) is not None


def _is_method(name: str) -> bool:
    """Whether a name is of a model that is built on a backbone, such as a contrastive one."""
    return known("models", name) is not None and not _is_backbone(name)


def _is_network(call: Call) -> bool:
    """Whether a call makes a network of the tree that is no wrapper of a training (Lightning's and transformers' are)."""
    return isinstance(call.called, Class) and any(
        base.endswith((".Module", ".Model", "nn.Module")) and "ightning" not in base for base in call.bases
    )


def _wraps_network(call: Call) -> bool:
    """Whether a call makes a Lightning module of the tree that is given the network which it trains."""
    given = (*call.arguments, *call.keywords.values())
    networks = [each for each in given if isinstance(each, Instance) and _extends_module(each.cls.external_bases())]
    return bool(networks) and any("LightningModule" in base for base in call.bases)


def _extends_module(bases: Sequence[str]) -> bool:
    return any(base.endswith(("nn.Module", ".Model")) for base in bases)


def _configuration_name(training: Training) -> str | None:
    """Return the known model that a configuration file is named after: `pspnet_r50_cityscapes.py`; null without one."""
    labels = [label for label, _ in training.trace.settings if label.startswith("file ")]
    stems = [posixpath.splitext(posixpath.basename(each))[0] for each in labels]
    return next((found.name for each in stems if (found := known("models", each)) is not None), None)


def documented(places: Sequence[str]) -> str | None:
    """Return the known model that the first of `places` (the entry's name, the tree's, its description) names; null without one."""
    kinds = ("models", "backbones")
    return next((found.name for kind in kinds for text in places if (found := known(kind, text)) is not None), None)


def algorithm(training: Training, settings: Settings) -> str | None:
    """Return the algorithm of a reinforcement learning job; null where none is named."""
    places: list[str] = [posixpath.basename(training.trace.entry)]
    for each in settings.find(_ALGORITHMS):
        if isinstance(each.value, str):
            places.insert(0, each.value)
    places += [run.call.name.replace("()", "") for run in training.runs]
    places += [call.last for call in training.trace.calls if isinstance(call.called, (Class, Term))][:400]
    places += [*training.trace.files]
    for text in places:
        found = known("models", text)
        if found is not None and found.task == "reinforcement-learning":
            return found.name
    agents = [
        each.last for each in training.trace.calls if isinstance(each.called, Class) and each.last.endswith("Agent")
    ]
    return next((each.removesuffix("Agent") for each in agents if not _is_generic(each)), None)


def optimizers(training: Training) -> list[Call]:
    """Return the calls that make optimizers."""
    return [
        each
        for each in training.trace.calls
        if plain(each.last) in _OPTIMIZERS
        or (
            isinstance(each.called, Term)
            and each.name.startswith(("torch.optim.", "optax.", "bitsandbytes.optim."))
            and each.last[:1].isupper()
            and "lr_scheduler" not in each.name
        )
    ]


def _trained_values(training: Training) -> Iterator[Value]:  # noqa: C901  # a list of cases
    for call in training.trainers:
        yield call.argument("model", "network", "net")
        if any("rainer" in each for each in (call.name, *call.bases)) and call.arguments:
            yield call.arguments[0]
    for run in training.runs:
        first = run.call.argument("model", place=0)
        if isinstance(first, (Instance, Term)):
            yield first
        if isinstance(run.call.called, Term) and run.call.called.parts and run.made is None:
            yield run.call.called.parts[0]
    for call in optimizers(training):
        yield call.argument("params", "parameters", place=0)
    for call in training.trace.calls:
        if (
            call.last in {"from_pretrained", *_FACTORIES}
            and "okenizer" not in call.name
            and "rocessor" not in call.name
            and "onfig" not in call.name
        ):
            yield call.result
    for call in training.trace.calls:
        if (
            isinstance(call.called, Class)
            and any(base.endswith(_BASES) for base in call.bases)
            and "__init__" not in call.functions
        ):
            yield call.result


def _names_of(value: Value) -> Iterator[tuple[str, str]]:
    """Yield names that a model has by how it is made: `loaded` by a name of weights, `made` by a class or factory."""
    for each in walk(value, 120):
        if isinstance(each, Term) and each.kind == "call":
            yield from _of_call(each)
        elif isinstance(each, Instance) and any(base.endswith(_BASES) for base in each.cls.external_bases()):
            yield "made", each.cls.name
            if _is_generic(each.cls.name):
                yield "made", posixpath.splitext(posixpath.basename(each.cls.module.file))[0]


def _of_call(term: Term) -> Iterator[tuple[str, str]]:
    path = dotted(term.parts[0])
    last = path.rpartition(".")[2]
    texts = [found for each in term.parts[1:2] if isinstance(found := settle(each), str)]
    named = settle(
        term.keywords.get("model_name", term.keywords.get("pretrained_model_name_or_path", term.keywords.get("name")))
    )
    texts += [named] if isinstance(named, str) else []
    if last == "from_pretrained" and "okenizer" not in path and "rocessor" not in path:
        for text in texts[:1]:
            yield "loaded", text
        owner = path.split(".")[-2] if "." in path else ""
        if owner:
            yield "made", owner
    elif last in _FACTORIES and texts:
        yield "loaded", texts[0]
    elif (".models." in path or "hub.load" in path or "model_zoo" in path) and "(" not in path:
        yield "made", texts[-1] if "hub.load" in path and texts else last
    elif last == "from_config":
        for each in walk(term, 40):
            if isinstance(each, Term) and each.kind == "call" and dotted(each.parts[0]).endswith("from_pretrained"):
                yield from (("loaded", found) for part in each.parts[1:2] if isinstance(found := settle(part), str))
    elif last[:1].isupper() and known("models", last) and "optim" not in path and "(" not in path:
        yield "made", last


def _stated(settings: Settings, seen: bool, parts: bool = True) -> Iterator[str]:
    """Yield what settings call the model; of a program whose training was not seen only what a user wrote, or known names."""
    typed = [
        each
        for each in settings.all
        if each.name.lower() in {"model.type", "arch.type", "model.name", "model.arch", "model.meta_architecture"}
        or each.name in {"model._target_", "network._target_", "model._component_"}
    ]
    for each in [*typed, *settings.find(_SETTINGS if parts else [each for each in _SETTINGS if each not in _OF_PARTS])]:
        value = each.value
        if not seen and each.derived and not (isinstance(value, str) and known("models", value)):
            continue
        if each.name.endswith(("._target_", "._component_")) and isinstance(value, str):
            value = value.rpartition(".")[2]
        if each.last in _DIRECTORIES and not (isinstance(value, str) and known("models", value)):
            continue
        if each.last in _FILES and not (isinstance(value, str) and value.endswith((*_WEIGHTS, ".yaml"))):
            continue
        if isinstance(value, str) and value.endswith((*_WEIGHTS, ".yaml")) and known("models", value):
            value = posixpath.splitext(posixpath.basename(value))[0]
        if (
            isinstance(value, str)
            and 1 < len(value) < 120
            and not _is_generic(value)
            and not value.endswith((*_WEIGHTS, ".yaml", ".json"))
        ):
            if value.startswith((".", "/")) and not known("models", value):
                continue
            yield posixpath.basename(value.rstrip("/")) if value.startswith((".", "/")) else value


def _written(settings: Settings, given: Sequence[str]) -> str | None:
    """Return the known model that the user wrote on the command line; null without one. It says more than a class's name."""
    values = {each.partition("=")[2] if "=" in each else each for each in given}
    for each in settings.find(_NAMES):
        if isinstance(each.value, str) and each.value in values and known("models", each.value):
            return each.value
    return None


def _is_generic(name: str) -> bool:
    found = words(name)
    return bool(_PARTS & set(found)) or all(
        each in _GENERIC or each.removesuffix("s") in _GENERIC or each.isdigit() for each in found
    )


def _anywhere(training: Training) -> str | None:
    for call in training.trace.calls:
        if isinstance(call.called, (Class, Term)) and call.last[:1].isupper():
            found = known("models", call.last)
            if found is not None:
                return call.last
    return None

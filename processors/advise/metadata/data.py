"""Which data a job trains on, and on which it is evaluated while it trains."""

import posixpath
from collections import Counter
from collections.abc import Iterator

from .operations import settle
from .registry import TASKS, known, listed, plain, words
from .settings import Settings
from .steps import Training
from .trace import Call, Loop
from .values import Class, Instance, OpenFile, Term, Value, alternatives, dotted, walk

_FORMATS = {
    "json",
    "csv",
    "text",
    "parquet",
    "imagefolder",
    "audiofolder",
    "arrow",
    "pandas",
    "webdataset",
    "jsonl",
    "disk",
}
_COLLECTIONS = {"glue", "superglue", "wikitext", "uea", "xglue", "xtreme", "tudataset", "ogb", "wmt14", "wmt16", "opus"}
_COLLECTION_CLASSES = frozenset(
    listed(
        """
    Planetoid TUDataset Amazon Coauthor MoleculeNet GNNBenchmarkDataset WebKB WikipediaNetwork LRGBDataset
    PygNodePropPredDataset PygGraphPropPredDataset PygLinkPropPredDataset NodePropPredDataset DglNodePropPredDataset
    CitationFull Entities HeterophilousGraphDataset TSPDataset UCRUEADataset
    """
    )
)
_FOLDERS = {"ImageFolder", "DatasetFolder"}
_GENERIC = frozenset(
    listed(
        """
    data dataset datasets train training valid validation val test dev eval input inputs raw processed path dir root
    home mnt tmp users user work scratch storage share shared images image img imgs annotations labels label txt
    json csv npy npz bin pt pth yaml yml tfrecord arrow parquet lmdb file files list split splits set all full small
    large main tokenized cache out output outputs wavs wav clean default none null true false folder local opt srv
    texts text audio video my your custom loader module config configs jpg png tar gz zip h5 hdf5 pkl features
    samples sample ssd nvme disk datafolder masks mask source src content lmdbs shards shard tokens prepared
    preprocessed rating ratings negative meta manifest
    """
    )
)
_SETTINGS = listed(
    """
    dataset datasetname data dataname dataset_name task taskname datasetid traindataset datapath dataroot datadir
    trainfile trainpath trainingfile inputtrainingfile traindata datafile rootpath corpus datasetpath datasetdir
    traindatapath traindir imgfolder root dataset_path trainset datasetnames datasets traindatadir inputfile
    datasource inputwavsdir traindatafile trainshards tfds builder trainlist trainroot datasettype trainfiles
    trainingfiles traindatasets
    """
)
_SETTINGS_PLAIN = tuple(dict.fromkeys(plain(each) for each in (*_SETTINGS, "words")))
_ENVIRONMENTS = (
    "envid",
    "env",
    "envname",
    "environment",
    "environmentname",
    "gymid",
    "game",
    "domain",
    "scenario",
    "mapname",
    "domainname",
    "level",
)
_MAKERS = {
    "make",
    "make_vec",
    "make_vec_env",
    "make_atari_env",
    "create_environment",
    "load_environment",
    "suite_load",
    "make_atari",
}
_VALIDATION_SETTINGS = listed(
    """
    evaldataset validdataset valdataset valdata validdata evaldata validationfile validfile valfile evalfile
    inputvalidationfile valdatapath evaldatapath validationdataset evaldatasetname valfiles validfiles
    validationfiles testdatasets
    """
)
_MADE_BY = ("dataset._component_", "dataset._target_", "dataset.class_path")
_KINDS = frozenset(
    listed("chat instruct instruction completion preference sft packed concat hf image vision multimodal")
)
_STRATEGIES = ("evalstrategy", "evaluationstrategy", "doeval")
_TIMES = ("steps", "epoch")
_FROZEN = frozenset(listed("ref reference teacher target ema frozen"))
"""Models that only answer while another one trains."""
_HELD_OUT = listed("valsetsize valsize validationsplit valsplit validationsize evalratio valratio evalsize")
_SPLITS = ("val", "valid", "validation", "dev", "test", "eval", "evaluation", "holdout")


def environment(training: Training, settings: Settings) -> str | None:
    """Return the environment of a reinforcement learning job; null where it is not known."""
    for call in training.trace.calls:
        if call.last in _MAKERS and ("gym" in call.name or "env" in call.name.lower() or call.last != "make"):
            name = settle(call.argument("id", "env_id", "env_name", place=0))
            if isinstance(name, str) and name:
                return name
    for each in settings.find(_ENVIRONMENTS):
        if isinstance(each.value, str) and each.value.strip() and (each.last.startswith("env") or not each.derived):
            return each.value
    return None


def train_data(training: Training, settings: Settings) -> str | None:
    """Return the data set that is trained on; null where evidence is thin."""
    candidates = [name for value in _train_values(training) for name in names_of(value)]
    best = _best(candidates)
    if best is not None and known("datasets", best):
        return best
    for each in settings.all:
        if each.name.lower().endswith(_MADE_BY) and isinstance(each.value, str):
            made = each.value.rpartition(".")[2]
            if known("datasets", made) or not set(words(made)) <= (_GENERIC | _KINDS):
                return made
    stated = _stated(settings, _SETTINGS_PLAIN, training.seen)
    if stated is not None and (known("datasets", stated) or best is None):
        return _registered(stated)
    for each in settings.all:
        if each.name.lower() in {"datasets.train", "train_dataloader.dataset.type", "data.train.type"}:
            return _best([value for value in walk(each.value, 10) if isinstance(value, str)])
    return best if best is not None else _anywhere(training)


def valid_data(training: Training, settings: Settings, train: str | None) -> str | None:
    """Return the data set of evaluations during training; null where there are none."""
    value, evaluates = _validation(training, settings)
    if not evaluates:
        return None
    best = _best(list(names_of(value))) if value is not None else None
    if best is not None and known("datasets", best) is not None:
        return best
    stated = _stated(settings, _VALIDATION_SETTINGS, training.seen)
    if stated is not None and known("datasets", stated):
        return _registered(stated)
    return train


def names_of(value: Value) -> Iterator[str]:  # noqa: C901  # a list of cases
    """Yield names of data sets that a value is made from, the most telling first."""
    loose: list[str] = []
    classes: list[str] = []
    for each in walk(value, 400):
        if isinstance(each, Term) and each.kind == "call":
            yield from _of_call(each)
        elif isinstance(each, Instance) and "data" in each.cls.name.lower() and known("datasets", each.cls.name):
            classes.append(each.cls.name.removesuffix("Dataset").removesuffix("DataModule"))
        elif isinstance(each, OpenFile):
            loose.append(each.path)
        elif isinstance(each, str) and 1 < len(each) < 300 and "\n" not in each and not _names_other(each):
            loose.append(each)
    for text in loose:
        if known("datasets", text):
            yield _registered(text)
    yield from classes
    for text in loose:
        if "/" in text or "." in text:
            name = stem(text)
            if name is not None:
                yield name


def _names_other(text: str) -> bool:
    """Whether a text names a model, or a function by its dotted name, and no data."""
    if known("datasets", text) is not None:
        return False
    pieces = text.split(".")
    function = len(pieces) > 2 and all(each.isidentifier() for each in pieces)
    return function or known("models", text) is not None


def _of_call(term: Term) -> Iterator[str]:
    path = dotted(term.parts[0])
    last = path.rpartition(".")[2]
    arguments = [settle(each) for each in term.parts[1:]]
    texts = [each for each in arguments if isinstance(each, str) and each]
    keywords = {key: settle(each) for key, each in term.keywords.items()}
    if last in {"load_dataset", "load_from_disk", "load_dataset_builder"} or (
        path.startswith(("tfds.", "tensorflow_datasets.")) and last in {"load", "builder"}
    ):
        yield from _loaded(texts, keywords)
    elif last in _FOLDERS:
        yield from filter(None, (stem(each) for each in [*texts, keywords.get("root")] if isinstance(each, str)))
    elif last in _COLLECTION_CLASSES:
        name = keywords.get("name", texts[-1] if texts else None)
        if isinstance(name, str) and "/" not in name:
            yield name
    elif ".datasets." in path and last[:1].isupper():
        yield last
    elif path.startswith("sklearn.datasets.") and last.startswith(("load_", "fetch_")):
        yield last.partition("_")[2]
    elif path.endswith(".load_data") and "datasets" in path.split("."):
        yield path.split(".")[-2]


def _loaded(texts: list[str], keywords: dict[str, Value]) -> Iterator[str]:
    name = texts[0] if texts else keywords.get("path", keywords.get("name", keywords.get("dataset_path")))
    if not isinstance(name, str):
        return
    config = texts[1] if len(texts) > 1 else keywords.get("name", keywords.get("data_dir"))
    if name in _FORMATS:
        files = keywords.get("data_files", keywords.get("data_dir"))
        for each in walk(files, 20):
            if isinstance(each, str):
                yield from filter(None, [stem(each)])
        return
    if isinstance(config, str) and plain(name.rpartition("/")[2]) in _COLLECTIONS and config != name:
        yield config if plain(name) in plain(config) else f"{name}/{config}"
    else:
        yield name if not name.startswith((".", "/")) else stem(name) or name


def stem(path: str) -> str | None:
    """Return the part of a path or name that tells which data it is; null where all are generic."""
    pieces = [each for each in path.replace("\\", "/").split("/") if each not in {"", ".", ".."}]
    split_only = True
    for piece in reversed(pieces):
        if path.startswith(("/", "~")) and piece is not pieces[-1] and not known("datasets", piece) and not split_only:
            return None
        split_only = (
            split_only
            and bool(words(piece))
            and all(each in _SPLITS or each in {"train", "training", "images"} for each in words(piece))
        )
        bare, ending = posixpath.splitext(piece)
        name = bare if 1 < len(ending) <= 8 and not ending[1:].isdigit() else piece
        telling = [each for each in words(name) if each not in _GENERIC and not each.isdigit()]
        if telling and any(len(each) > 1 for each in telling) and "{" not in name and "*" not in name:
            return name
    return None


def _registered(text: str) -> str:
    """Return the piece of a path that holds a known name."""
    for piece in reversed(text.replace("\\", "/").split("/")):
        if known("datasets", piece):
            bare, ending = posixpath.splitext(piece)
            return bare if 1 < len(ending) <= 10 and ending[1:].isalpha() and known("datasets", bare) else piece
    return text


def _best(candidates: list[str]) -> str | None:
    registered = [each for each in candidates if known("datasets", each)]
    return next(iter(registered or candidates), None)


def _stated(settings: Settings, names: tuple[str, ...], seen: bool) -> str | None:
    """Return what settings of these names call the data; derived ones only where training was seen, or by known names."""
    found: list[str] = []
    for each in settings.find(names):
        for value in walk(each.value, 10):
            if isinstance(value, str) and 1 < len(value) < 300 and "\n" not in value:
                name = value if "/" not in value and known("datasets", value) else stem(value)
                if not known("datasets", value) and (each.last == "words" or (not seen and each.derived)):
                    continue
                if name is not None and value.lower() not in _GENERIC and value.replace("_", "-") not in TASKS:
                    found.append(
                        value
                        if "/" in value
                        and not value.startswith((".", "/"))
                        and value.count("/") == 1
                        and "." not in value
                        else name
                    )
    registered = [each for each in found if known("datasets", each)]
    return next(iter(registered or found), None)


def _train_values(training: Training) -> list[Value]:
    """Return values that the training goes over, the most direct first."""
    found: list[Value] = []
    for call in training.trainers:
        found += [
            value
            for value in (call.argument("train_dataset", "train_dataloader", "train_data", "datamodule"),)
            if value is not None
        ]
    for run in training.runs:
        given = [
            each
            for each in (*run.call.arguments, *run.call.keywords.values())
            if not isinstance(each, (int, float, str))
        ]
        found += [value for value in given if value is not None]
    for loop in training.loops:
        if loop.iterated is not None and isinstance(loop.iterated, (Term, Instance)):
            found.append(loop.iterated)
    for call in training.trace.calls:
        if training.inside(call) and isinstance(call.called, Instance):
            found += [each for each in call.arguments if isinstance(each, Term)]
    loaders = [
        each
        for each in training.trace.calls
        if each.last.endswith(("DataLoader", "Loader")) and not _is_class_of_model(each)
    ]
    found += [each.result for each in loaders if not _names_split(each)] + [each.result for each in loaders]
    return found


def _is_class_of_model(call: Call) -> bool:
    return any(base.endswith("Module") for base in call.bases)


def _names_split(call: Call) -> bool:
    return any(each in _SPLITS for name in call.functions for each in words(name))


def _anywhere(training: Training) -> str | None:
    made = [
        call
        for call in training.trace.calls
        if "dataset" in call.last.lower()
        or call.last in {"load", "memmap", "open", "read_csv", "ImageFolder", "load_data", "loadtxt"}
    ]
    for call in made:
        best = _best(list(names_of([call.result, *call.arguments, *call.keywords.values()])))
        if best is not None:
            return best
    return None


def _validation(training: Training, settings: Settings) -> tuple[Value, bool]:  # noqa: C901, PLR0911  # a list of cases
    """Return what evaluations go over, where that is known, and whether there are any during the training."""
    for call in training.trainers:
        if any("Lightning" in base or base.endswith("Trainer") for base in (*call.bases, call.name)):
            value = call.argument("eval_dataset", "val_dataset", "eval_dataloader")
            asked = [each.value for each in settings.find(_STRATEGIES)]
            if None in alternatives(value) and not any(each is True or each in _TIMES for each in asked):
                continue
            return value, True
    for run in training.runs:
        value = run.call.argument(
            "validation_data", "val_dataloaders", "val_dataloader", "eval_dataset", "datamodule", "callback", "eval_set"
        )
        if value is not None:
            return value, True
        if run.call.argument("validation_split") is not None or any(
            words(key)[0] in _SPLITS for key in run.call.keywords if words(key)
        ):
            return None, True
        for each in run.call.arguments:
            if isinstance(each, Instance) and _validates(each.cls):
                return each, True
    if training.loops:
        return _inside_loops(training)
    if training.configured:
        return None, any(settings.find(("valdataloader", "valinterval", "valcfg", "evaluation", "evalperiod", "test")))
    held_out = not training.trainers and (
        settings.number(_HELD_OUT) is not None or settings.text(_VALIDATION_SETTINGS) is not None
    )
    return None, held_out


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
        if evaluates or any(each in _SPLITS or each == "evaluate" for name in names for each in words(name)[:2]):
            seen = True
            own = [
                loop.iterated
                for loop in call.loops
                if loop not in training.loops and isinstance(loop.iterated, (Term, Instance))
            ]
            value = value if value is not None else (own[0] if own else None)
    return value, seen


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


def documented(text: str) -> str | None:
    """Return the known data set that a description names most; null where there is none, or more than one as often."""
    found = Counter(name.name for line in text.splitlines() if (name := known("datasets", line)) is not None)
    best = found.most_common(2)
    return best[0][0] if best and (len(best) == 1 or best[0][1] > best[1][1]) else None


__all__ = ["documented", "environment", "names_of", "stem", "train_data", "valid_data"]

"""What data sets are called: by the calls that load them, by their paths, by the names that the field knows."""

import itertools
import posixpath
import re
from collections.abc import Iterator

from .operations import settle
from .registry import known, listed, plain, words
from .values import Instance, OpenFile, Term, Value, dotted, walk

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


_FORMAT_CLASSES = {"CocoDetection", "CocoCaptions", "VOCDetection", "VisionDataset"}
"""Classes of libraries that others extend for data of the same format."""
_ACRONYM = re.compile(r"[A-Z]{2,}(?![a-z])")
_KINDS = frozenset(
    listed(
        "CSV JSON JSONL HDF LMDB SFT DPO RM QA VQA LM MLM CLM NER SSL RL RGB OCR ASR TTS MX HF TF NP NPY NPZ PIL ID XY"
    )
)
"""Acronyms of formats and tasks."""
_FOLDERS = {"ImageFolder", "DatasetFolder"}
_CONFIGURATIONS = (".json", ".yaml", ".yml", ".toml", ".py", ".cfg", ".ini")
_OF_CONFIGURATIONS = frozenset(
    listed(
        "config configs configuration configurations conf confs cfg cfgs option options opt opts hparams hparam recipe "
        "recipes experiment experiments exp exps setting settings params args"
    )
)
"""Directories of configurations, by the words of their names."""


GENERIC = frozenset(
    listed(
        """
    data dataset datasets train training valid validation val test dev eval input inputs raw processed path dir
    root home mnt tmp users user work scratch storage share shared images image img imgs annotations labels
    label txt json csv npy npz bin pt pth yaml yml tfrecord arrow parquet lmdb file files list split splits set
    all full small large main tokenized cache out output outputs wavs wav clean default none null true false
    folder local opt srv texts text audio video my your custom loader module config configs jpg png tar gz zip
    h5 hdf5 pkl features samples sample ssd nvme disk datafolder masks mask source src content lmdbs shards
    shard tokens prepared preprocessed fold folds folded trainset trainsets valset valsets testset testsets tr ts hr
    lr gt lq hq sub ids idx index indices ann anns dump dumps deltafalse deltatrue rating ratings negative meta
    manifest series corpora rec instances captions keypoints infos info lists cuts panoptic
    """
    )
)


SPLITS = ("val", "valid", "validation", "dev", "test", "eval", "evaluation", "holdout")


def names_of(value: Value) -> Iterator[str]:  # noqa: C901  # a list of cases
    """Yield names of data sets that a value is made from, the most telling first."""
    loose: list[str] = []
    classes: list[str] = []
    seen = list(walk(value, 400))
    weights = {text for each in seen for text in _weights_of(each)}
    open_ended = {text for each in seen for text in _before_unknown(each)}
    for each in seen:
        if isinstance(each, Term) and each.kind == "call":
            yield from _of_call(each)
        elif isinstance(each, Instance) and "data" in each.cls.name.lower() and known("datasets", each.cls.name):
            classes.append(each.cls.name.removesuffix("Dataset").removesuffix("DataModule"))
        elif isinstance(each, Instance) and (base := _library_data(each)) is not None:
            classes.append(base)
        elif isinstance(each, OpenFile) and not _names_other(each.path):
            loose.append(each.path)
        elif (
            isinstance(each, str)
            and 1 < len(each) < 300
            and "\n" not in each
            and each not in weights
            and not _names_other(each)
        ):
            loose.append(each)
    for text in loose:
        if known("datasets", text):
            yield registered(text)
    yield from classes
    own = [each.cls.name for each in seen if isinstance(each, Instance) and _is_data(each)]
    for text in sorted(loose, key=lambda each: not posixpath.splitext(each)[1]):  # a file tells more than a directory
        if ("/" in text or "." in text) and text not in open_ended:
            name = stem(text)
            if name is not None:
                yield name
    yield from filter(None, map(_proper_name, own))


def _library_data(value: Instance) -> str | None:
    """Return the library's data set that a class of the tree extends, as `torchvision.datasets.CelebA`; null without one."""
    names = (base.rpartition(".") for base in value.cls.external_bases())
    found = (last for module, _, last in names if module.endswith(".datasets") and last[:1].isupper())
    return next(
        (each for each in found if not set(words(each)) <= GENERIC and each not in _FOLDERS | _FORMAT_CLASSES), None
    )


def _is_data(value: Instance) -> bool:
    return any(base.endswith(("Dataset", "DataModule")) for base in value.cls.external_bases())


def _proper_name(name: str) -> str | None:
    """Return the proper name in a class's name, as `SEN12` in `SEN12DataModule`; null where it tells only a kind of data."""
    bare = name
    for each in ("Dataset", "DataModule", "DataLoader", "Loader"):
        bare = bare.removesuffix(each)
    acronyms = set(_ACRONYM.findall(bare)) - _KINDS
    proper = len(bare) > 2 and (any(each.isdigit() for each in bare) or bool(acronyms))
    return bare if proper and known("models", bare) is None else None


def _weights_of(value: Value) -> Iterator[str]:
    """Yield texts that name the weights or the tokenizer that a value loads, which data are made with."""
    if isinstance(value, Term) and value.kind == "call" and value.name == "from_pretrained":
        yield from (each for each in (*value.parts[1:], *value.keywords.values()) if isinstance(each, str))


def _before_unknown(value: Value) -> Iterator[str]:
    """Yield the known beginning of a path that goes on with something unknown, which may well be the data's name."""
    if not isinstance(value, Term) or (value.kind, value.name) not in {("operation", "join"), ("call", "Path")}:
        return
    parts = value.parts if value.kind == "operation" else value.parts[1:]
    for each, following in itertools.pairwise(parts):
        if isinstance(each, str) and isinstance(following, Term):
            yield each


def _names_other(text: str) -> bool:
    """Whether a text names a model, a function by its dotted name, or a configuration by where it lies, and no data."""
    if known("datasets", text) is not None:
        return False
    directory, _, file = text.rpartition("/")
    if file.endswith(_CONFIGURATIONS) and _OF_CONFIGURATIONS & set(words(directory)):
        return True
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
    elif last == "untar_data" and len(term.parts) > 1:
        yield dotted(term.parts[1]).rpartition(".")[2]
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
        if piece.startswith("."):
            continue  # an ending, whose name is not known
        if path.startswith(("/", "~")) and piece is not pieces[-1] and not known("datasets", piece) and not split_only:
            return None
        bare, ending = posixpath.splitext(piece)
        split_only = (
            split_only
            and bool(words(bare))
            and all(each in SPLITS or each in {"train", "training", "images"} for each in words(bare))
        )
        name = bare if 1 < len(ending) <= 8 and not ending[1:].isdigit() else piece
        telling = [each for each in words(name) if each not in GENERIC and not each.isdigit()]
        if telling and any(len(each) > 1 for each in telling) and "{" not in name and "*" not in name:
            return name
    return None


def unversioned(text: str) -> str:
    """Return a name without the version that TensorFlow Datasets takes behind it: `c4/en:3.0.1`."""
    name, colon, version = text.rpartition(":")
    return name if colon and version.replace(".", "").replace("*", "").isdigit() else text


def registered(text: str) -> str:
    """Return the piece of a path that holds a known name."""
    text = unversioned(text)
    for piece in reversed(text.replace("\\", "/").split("/")):
        if known("datasets", piece):
            bare, ending = posixpath.splitext(piece)
            return bare if 1 < len(ending) <= 10 and ending[1:].isalpha() and known("datasets", bare) else piece
    return text


def best_name(candidates: list[str]) -> str | None:
    """Return the first of some names that the field knows, else the first; null without any."""
    registered = [each for each in candidates if known("datasets", each)]
    return next(iter(registered or candidates), None)

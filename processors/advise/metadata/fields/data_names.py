"""Names of data sets: by the calls that load them, by their paths, and by the names that are known."""

import itertools
import posixpath
from collections.abc import Iterable, Iterator

from ..program.operations import is_join, settle
from ..program.values import Instance, Term, Value, dotted, walk
from ..registry import known_name, names, plain, words

SPLITS = ("val", "valid", "validation", "dev", "test", "eval", "evaluation", "holdout")
_LOADERS = (
    "load_dataset",
    "load_from_disk",
    "load_dataset_builder",
    "tfds.load",
    "tfds.builder",
    "tensorflow_datasets.load",
)
_FOLDERS = {"ImageFolder", "DatasetFolder", "CocoDetection"}
_CONFIGURATIONS = (".json", ".yaml", ".yml", ".toml", ".py")


def names_of(value: Value) -> Iterator[str]:
    """Yield names of data sets that a value is made from, the most telling first."""
    seen = list(walk(value, 400))
    excluded = {text for each in seen for text in _other_texts(each)}
    texts = [each for each in seen if isinstance(each, str) and 1 < len(each) < 300 and "\n" not in each]
    texts = [each for each in texts if each not in excluded and not _names_other(each)]
    yield from (name for each in seen if isinstance(each, Term) and each.kind == "call" for name in _of_call(each))
    yield from (registered(each) for each in texts if known_name("datasets", each))
    for cls in (each.cls for each in seen if isinstance(each, Instance)):
        name = cls.name.removesuffix("Dataset").removesuffix("DataModule")
        yield from [name] if "data" in cls.name.lower() and known_name("datasets", name) else []
        bases = (base.rpartition(".")[2] for base in cls.external_bases() if ".datasets." in base)
        yield from (base for base in bases if base not in _FOLDERS)
    files_first = sorted(texts, key=lambda each: not posixpath.splitext(each)[1])
    yield from filter(None, (stem(each) for each in files_first if "/" in each or "." in each))


def _other_texts(value: Value) -> Iterator[str]:
    """Yield texts that name no data: weights that a value loads, and the beginnings of paths with unknown endings."""
    if isinstance(value, Term) and value.name == "from_pretrained":
        yield from (each for each in (*value.parts[1:], *value.keywords.values()) if isinstance(each, str))
    pairs = itertools.pairwise(value.parts if is_join(value) else ())
    yield from (each for each, following in pairs if isinstance(each, str) and isinstance(following, Term))


def _names_other(text: str) -> bool:
    """Return whether a text names a model, a function by its dotted name, or a configuration file."""
    pieces = text.split(".")
    function = len(pieces) > 2 and all(each.isidentifier() for each in pieces)
    configuration = text.endswith(_CONFIGURATIONS) and "conf" in text
    return known_name("datasets", text) is None and (
        function or configuration or known_name("models", text) is not None
    )


def _of_call(term: Term) -> Iterator[str]:
    path = dotted(term.parts[0])
    last = path.rpartition(".")[2]
    texts = [found for each in term.parts[1:] if isinstance(found := settle(each), str) and found]
    keywords = {key: settle(each) for key, each in term.keywords.items()}
    if path.endswith(_LOADERS):
        yield from _loaded(texts, keywords)
    elif last in _FOLDERS:
        yield from filter(None, (stem(each) for each in (*texts, keywords.get("root")) if isinstance(each, str)))
    elif ".datasets." in path and last[:1].isupper():
        named = [each for each in (keywords.get("name"), *reversed(texts)) if isinstance(each, str)]
        yield next((each for each in named if known_name("datasets", each) and "/" not in each), last)
    elif path.startswith("sklearn.datasets.") and last.startswith(("load_", "fetch_")):
        yield last.partition("_")[2]
    elif last == "load_data" and "datasets" in path:
        yield path.split(".")[-2]


def _loaded(texts: list[str], keywords: dict[str, Value]) -> Iterator[str]:
    """Yield the name of a data set of a hub, or the names of the files that it is made from."""
    first, second = (*texts, None, None)[:2]
    name = str(first or keywords.get("path", keywords.get("name")))
    config = second or keywords.get("name", keywords.get("data_dir"))
    if name in names("vocabulary", "formats"):
        files = walk(keywords.get("data_files", keywords.get("data_dir")), 20)
        yield from filter(None, (stem(each) for each in files if isinstance(each, str)))
    elif isinstance(config, str) and config != name and plain(name) in names("vocabulary", "collections"):
        yield config if plain(name) in plain(config) else f"{name}/{config}"
    elif first or name != "None":
        yield (stem(name) or name) if name.startswith((".", "/")) else name


def stem(path: str) -> str | None:
    """Return the part of a path that names the data; null if all parts are generic."""
    for piece in reversed([each for each in path.replace("\\", "/").split("/") if each.strip(".")]):
        bare, ending = posixpath.splitext(piece)
        name = bare if 1 < len(ending) <= 8 and not ending[1:].isdigit() else piece
        telling = [
            each for each in words(name) if each not in names("vocabulary", "generic_data") and not each.isdigit()
        ]
        if any(len(each) > 1 for each in telling) and not set(name) & set("{*$"):
            return name
        place = path.startswith(("/", "~")) and not known_name("datasets", path)
        if place and set(words(name)) - {*SPLITS, "train", "training", "images"}:
            return None  # above a generic directory is the place of the data
    return None


def registered(text: str) -> str:
    """Return the piece of a path that holds a known name."""
    piece = next((each for each in reversed(text.replace("\\", "/").split("/")) if known_name("datasets", each)), text)
    bare, ending = posixpath.splitext(piece)
    return bare if ending[1:].isalpha() and known_name("datasets", bare) else piece


def best_name(candidates: Iterable[str]) -> str | None:
    """Return the first of some names that holds a known one, spelled as such if one is, else the first; null without any."""
    listed = list(candidates)
    best = next((each for each in listed if known_name("datasets", each)), next(iter(listed), None))
    found = known_name("datasets", best or "")
    exact = (each for each in listed if found is not None and plain(each) == plain(found.name))
    return best if best is None or "/" in best else next(exact, best)

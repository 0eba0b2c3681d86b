"""Models as directories of text files: LightGBM's own format and JSON. They hold no code, so that untrusted files are safe to load."""

import hashlib
import math
import tempfile
from collections.abc import Hashable
from pathlib import Path

import lightgbm
import msgspec

from processors.advise.predictors.advisor import BOOSTERS, AdvisorModel
from processors.advise.predictors.baselines import OPTIONS, RecentErrors
from processors.advise.predictors.features import NAMES, Encoders
from processors.advise.predictors.intervals import WIDEST, AdaptiveMargins
from processors.advise.predictors.saved_model import SavedModel
from processors.advise.predictors.similar import RELATIONS
from processors.advise.predictors.train import Trained
from schedmate_records import NOT_JSON

VERSION = 2
"""Version of the format of model files. Files of another version are refused: the model must be trained again."""
LARGEST = 256 * 2**20
"""Bytes of one file that are read."""
_CARD = "model.json"


class BadModel(ValueError):
    """The file is not a model of this version; the message states what was expected."""


class _Card(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    trained_until: float
    jobs: int
    data_sha256: str
    scores: dict[str, float]
    features: list[str]
    relations: list[str]
    prior: float
    encoders: Encoders
    margins: list[tuple[list[str | float], list[float]]]
    errors: dict[str, list[float]]
    boosters: dict[str, str]
    """The SHA-256 of each booster's file."""


def save(saved: SavedModel, folder: Path) -> None:
    """Write a model into a new directory `folder`. Readers see all of it or nothing.

    Raises:
        FileExistsError: `folder` is there already.
        OSError: the disk refuses.
    """
    if folder.exists():
        raise FileExistsError(f"expected no {folder} yet; remove it, or name another")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".model-", dir=folder.parent) as scratch:
        made = Path(scratch) / "model"
        made.mkdir()
        hashes = {}
        for name in BOOSTERS:
            text = saved.model.boosters[name].model_to_string().encode()
            (made / f"{name}.txt").write_bytes(text)
            hashes[name] = hashlib.sha256(text).hexdigest()
        card = _Card(
            version=VERSION,
            trained_until=saved.trained_until,
            jobs=saved.jobs,
            data_sha256=saved.data_sha256,
            scores=saved.scores,
            features=list(NAMES),
            relations=list(RELATIONS),
            prior=saved.model.prior,
            encoders=saved.encoders,
            margins=[(_texts(group), part) for group, part in saved.margins.parts.items()],
            errors=dict(saved.errors.parts),
            boosters=hashes,
        )
        (made / _CARD).write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1))
        made.replace(folder)


def load(folder: Path) -> SavedModel:
    """Read a model.

    Raises:
        BadModel: it is none, of another version, for other features, or its files are not those that it was saved with.
        OSError: it cannot be read.
    """
    try:
        card = msgspec.json.decode(_read(folder / _CARD), type=_Card)
    except NOT_JSON as error:
        raise BadModel(f"expected a model's card in {folder / _CARD}: {error}") from None
    if card.version != VERSION or card.features != list(NAMES) or card.relations != list(RELATIONS):
        raise BadModel(
            f"expected a model of version {VERSION} with this release's features in {folder}: train it again"
        )
    if set(card.boosters) != set(BOOSTERS) or not math.isfinite(card.prior):
        raise BadModel(f"expected the trees {', '.join(BOOSTERS)} in {folder}")
    boosters = {}
    for name, digest in card.boosters.items():
        text = _read(folder / f"{name}.txt")
        if hashlib.sha256(text).hexdigest() != digest:
            raise BadModel(f"expected {name}.txt in {folder} as it was saved: its hash is another")
        boosters[name] = _booster(text, name)
    margins = AdaptiveMargins()
    for group, part in card.margins:
        if len(part) != 2 or not all(abs(one) <= WIDEST for one in part):
            raise BadModel(f"expected two finite margins for each group in {folder / _CARD}")
        margins.parts[tuple(group)] = part
    errors = RecentErrors()
    for user, sums in card.errors.items():
        if len(sums) != OPTIONS + 1 or not all(math.isfinite(one) and one >= 0 for one in sums):
            raise BadModel(f"expected {OPTIONS + 1} finite sums of errors for each user in {folder / _CARD}")
        errors.parts[user] = sums
    return SavedModel(
        AdvisorModel(card.prior, boosters),
        margins,
        card.encoders,
        card.trained_until,
        card.jobs,
        card.data_sha256,
        card.scores,
        errors,
    )


def publish(trained: Trained, link: Path, folder: Path) -> bool:
    """Make `link` point to the new model's `folder` if it is better; return whether it does."""
    if not trained.better:
        return False
    fresh = link.with_name(f".{link.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(folder.resolve())
    fresh.replace(link)
    return True


def _booster(text: bytes, name: str) -> lightgbm.Booster:
    try:
        return lightgbm.Booster(model_str=text.decode())
    except (lightgbm.basic.LightGBMError, ValueError) as error:
        raise BadModel(f"expected trees of LightGBM in {name}.txt: {error}") from None


def _read(file: Path) -> bytes:
    with file.open("rb") as source:
        text = source.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise BadModel(f"expected at most {LARGEST} bytes in {file}")
    return text


def _texts(group: Hashable) -> list[str | float]:
    assert isinstance(group, tuple)
    return list(group)

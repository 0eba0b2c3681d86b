"""Path and training step of a checkpoint in a line."""

import re
from enum import Enum

from schedmate_records.checkpoint import PATH

from .words import CALLS, CHECKPOINT, ENDINGS, HELD, MODEL, NO_PATH, OTHER_ENDINGS, SAVED, SAVING

TOKEN = re.compile(r"[^\s\"'`()<>\[\]{},;|]+|[(),;|\[\]{}]")
"""A word, a path, or a mark that parts clauses."""
_NAMED = re.compile(
    r"(?i)check-?point|ckpt|snapshot|(?:^|[/_.-])(?:global_?)?(?:step|iter|weights?)(?:ation|s)?(?:$|[/_.=-]?\d)"
)
"""Words of a path that mean a checkpoint."""
_NAME = re.compile(r"(?i)(?:global_?)?(?:step|iter|iteration|checkpoint|ckpt|epoch)s?[-_=]?\d+(?:[-_].*)?")
_TEMPORARY = re.compile(r"(?i)(?:^|[/._-])(?:tmp|temp|temporary|partial|incomplete)(?:$|[/._-])")
_SHARD = re.compile(r"(?i)rank_?\d|\d-of-\d|_states?\.pt$|optim_\d|__\d+_\d+\.distcp$")
_RATE = re.compile(r"(?i)[\w.?]{0,12}/(?:s|sec|second|it|iter|step|epoch|gpu|device|h|min)s?")
_STEP = re.compile(
    r"(?i)(?:\b|_)(?:step|iteration|iter|update)s?\W{0,3}\s{0,8}(\d{1,12})\b(?!\.\d)"
    r"|(?<![\d.])(\d{1,12})[ _](?:steps?|iterations?|iters?|updates?)\b(?!/)"
    r"|\bcheckpoints? for (\d{1,12})\b"
)
_STEP_OF_PATH = re.compile(
    r"(?i)(?:step|iter(?:ation)?|update)s?[=_-]{0,2}(\d{1,12})(?!\d|\.\d)|(?:checkpoint|ckpt)-(\d{1,12})(?!\d|\.\d)|(?<!\d)(\d{1,12})_steps?\b"
)
_TOOK = re.compile(
    r"(?i)\b(?:took|taken|elapsed|in)\W{0,3}(\d{1,6}(?:\.\d{1,9})?) ?(?:(ms|milliseconds)|s|secs?|seconds)\b"
)
_BARE = re.compile(r"[A-Za-z][\w.-]*[\w-]")


class Place(Enum):
    """Kind of a path."""

    CHECKPOINT = "<checkpoint>"
    """It looks like one of a checkpoint."""
    PLAIN = "<plain>"
    """Any path."""
    TEMPORARY = "<temporary>"
    """It will have another name once it is complete."""
    SHARD = "<shard>"
    """One of several files of a checkpoint."""
    OTHER = "<other>"
    """Its ending is one of other things."""


def place(token: str) -> Place | None:
    """Return what place `token` names; None where it is no path."""
    ending = token.rpartition(".")[2].casefold()
    slashed = "/" in token and any(map(str.isalpha, token)) and not _RATE.fullmatch(token) and "://" not in token[:1]
    ended = "." in token[1:] and (ending in ENDINGS or ending in OTHER_ENDINGS) and "(" not in token
    if not slashed and not ended and not _NAME.fullmatch(token):
        return None
    if _TEMPORARY.search(token):
        return Place.TEMPORARY
    if ending in OTHER_ENDINGS and "." in token:
        return Place.OTHER
    if _SHARD.search(token):
        return Place.SHARD
    return Place.CHECKPOINT if ending in ENDINGS or _NAMED.search(token) else Place.PLAIN


def nouns(token: str) -> list[str]:
    """Return the words of `params/state_dict`, `optimizer_state`: names of what checkpoints hold; nothing of other tokens."""
    if token.casefold() in CALLS:
        return ["checkpoint"]
    if "_" not in token and "/" not in token:
        return []
    parts = token.casefold().replace("/", "_").removesuffix("state_dict").strip("_").split("_")
    named = [part or "state" for part in parts]
    if not (MODEL | CHECKPOINT).issuperset(named) or ("/" in token and HELD.isdisjoint(named)):
        return []
    return named


def strip(token: str) -> str:
    """Return `token` without the marks that stand around words."""
    return token.rstrip(".:!?…*").lstrip("*:")


def value(token: str) -> str:
    """Return `token` without the name of `name=value`, where the value is a path."""
    name, sign, rest = token.partition("=")
    return rest if sign and name.replace("_", "").isalpha() and ("/" in rest or place(rest)) else token


def path(text: str) -> str:
    """Return the path that `text`, a line about a save, names; empty where it names none, or one that is no honest path."""
    found, verb, before = "", False, ""
    tokens = [value(strip(token)) for token in TOKEN.findall(text)]
    for token, after in zip(tokens, [*tokens[1:], ""], strict=True):
        word, named = token.casefold(), None if token.isalpha() or nouns(token) else place(token)
        bare = verb and before in {"to", "into"} and word not in NO_PATH and _BARE.fullmatch(token)
        if (named is not None and named is not Place.OTHER) or (
            bare and (not after.isalpha() or after in {"in", "at", "as"})
        ):
            # The first one behind the verb, else the last one before it.
            found = token
            if verb:
                break
        verb = verb or word in SAVING or word in SAVED or word in {"save", "scheduled"}
        before = word if word.isalpha() else before
    return found if len(found) <= PATH and found.isprintable() else ""


def step(text: str, found: str) -> int | None:
    """Return the training step that `text` names outside of the path `found`, or that the path names."""
    named = _STEP.search(text.replace(found, " ") if found else text) or _STEP_OF_PATH.search(found)
    return int(next(filter(None, named.groups()))) if named else None


def seconds(text: str) -> float | None:
    """Return the duration of the save in seconds; None if `text` does not state it."""
    found = _TOOK.search(text)
    return float(found[1]) * (0.001 if found[2] else 1.0) if found else None


def is_within(inner: str, outer: str) -> bool:
    """Return whether the path `inner` is `outer`, or is below it or below a folder of its name."""
    name = outer.rstrip("/").rpartition("/")[2]
    return inner == outer or inner.startswith(outer.rstrip("/") + "/") or f"/{name}/" in f"/{inner}"

"""Whether a line reports that a save begins, is complete or failed. Its words are read clause by clause.

A save is a verb (saving, wrote, …) with an object that is a checkpoint: a noun, or a path that looks like one. Whether it happens follows
from the words around: `will be saved` and `saving every 500 steps` are plans, `loading the saved model` is another deed.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from . import words
from .places import TOKEN, Place, nouns, place, strip, value

NUMBER = "<number>"
_PLACES = {kind.value: kind for kind in Place}
_ENDS = frozenset("(),;|[]{}")
_GENERIC = frozenset(
    ["file", "files", "all", "everything", "current", "best", "latest", "new", "final", "full", "now", "it"]
)


class SaveReport(Enum):
    """Meaning of a line about a save."""

    BEGINS = "begins"
    COMPLETE = "complete"
    PART = "part"
    """A part of it is complete."""
    TRACKER = "tracker"
    """The newest checkpoint was given its name."""
    FAILED = "failed"
    NOTHING = "nothing"


class SaveWords(NamedTuple):
    """Meaning of a line, and whether training continues during the save."""

    what: SaveReport
    asynchronous: bool = False


NOTHING = SaveWords(SaveReport.NOTHING)


def read(text: str) -> SaveWords:
    """Return what `text`, a line without its logger's prefix, reports about a save; `NOTHING` if it reports none."""
    if text.startswith("+"):
        return NOTHING  # a shell that shows its commands
    found: SaveReport | None = None
    background = False
    for clause in _clauses(text):
        background = background or not words.ASYNCHRONOUS.isdisjoint(clause)
        # A longer clause is prose or data.
        if found is None and len(clause) <= 40:
            found = _clause(clause)
    if found is SaveReport.COMPLETE and background and ("staging" in text or "staged" in text):
        found = SaveReport.PART  # the copy in memory is complete
    return SaveWords(found, background) if found else NOTHING


def _clauses(text: str) -> Iterator[list[str]]:
    """Yield the words of each clause in small letters, a path as what kind of place it is, and no identifiers.

    Text in parentheses is a clause of its own. The clause around it continues after them.
    """
    clause: list[str] = []
    around: list[list[str]] = []
    for found in TOKEN.finditer(text):
        piece = found[0]
        if piece == "(" and len(around) < 4:
            around.append(clause)
            clause = []
            continue
        if piece in _ENDS or piece == "-":
            yield clause
            clause = around.pop() if piece == ")" and around else []
            continue
        bare = value(strip(piece))
        clause += nouns(bare) or _place(bare) or _word(bare)
        if piece[-1] in ".!?…" and len(bare) > 1:
            yield clause
            clause = []
    yield from (clause, *around)


def _place(token: str) -> list[str]:
    named = place(token)
    return [named.value] if named else []


def _word(token: str) -> list[str]:
    """Return `token` in small letters, a number as `NUMBER`; nothing where it is an option or an identifier."""
    word = token.casefold()
    if word.isdigit():
        return [NUMBER]
    return [word] if word.replace("-", "").replace("'", "").isalpha() and not word.startswith("-") else []


def _clause(clause: Sequence[str]) -> SaveReport | None:
    """Return what one clause reports."""
    if not clause or clause[-1] in words.SETTING:
        return None
    if named := _named_newest(clause):
        return named
    for at, word in enumerate(clause):
        if word in words.SAVING or word in words.SAVED or word in words.SAVE:
            return _deed(clause, at)
    return _state(clause)


def _deed(clause: Sequence[str], at: int) -> SaveReport | None:
    """Return what the verb at `at` reports."""
    before, verb = clause[:at], clause[at]
    if not _is_checkpoint(clause, at):
        return None
    if not words.FAILED.isdisjoint(clause) or ("could" in before and "not" in before):
        return SaveReport.FAILED
    others = words.NOT | words.WILL if before[-1:] == ["after"] else words.NOT | words.WILL | words.OTHER_DEEDS
    if not others.isdisjoint(before) or not words.PLANS.isdisjoint(clause):
        return None
    if verb in words.SAVED:
        return _saved(clause, before)
    over = words.FINISHED | words.SPENT if verb in words.SAVE else words.FINISHED
    if not over.isdisjoint(before) or not (words.COMPLETE | words.SPENT).isdisjoint(clause[at + 1 :]):
        return SaveReport.COMPLETE
    return _saving(clause, at) if verb in words.SAVING else _save(before)


def _saving(clause: Sequence[str], at: int) -> SaveReport | None:
    """Return what `saving` at `at` reports. `saving checkpoints to out` only names the place of later saves."""
    if at and clause[at - 1] in words.BEFORE_A_NAME:
        return None
    several = clause[at + 1 : at + 2] and clause[at + 1] in words.SEVERAL
    return None if several and NUMBER not in clause else SaveReport.BEGINS


def _save(before: Sequence[str]) -> SaveReport | None:
    """Return what `save` reports after the words `before`."""
    if "already" in before:
        return SaveReport.COMPLETE
    begins = not before or not words.BEGINS.isdisjoint(before) or before[-1] in words.CHECKPOINT
    return SaveReport.BEGINS if begins else None


def _saved(clause: Sequence[str], before: Sequence[str]) -> SaveReport | None:
    """Return what `saved` reports after the words `before`: `is about to be saved` is the begin of a save, otherwise it is complete."""
    if {"about", "being"} & set(before[-4:]):
        return SaveReport.BEGINS
    if before[-2:] == ["to", "be"] or (before and before[-1] in words.BEFORE_A_NAME):
        return None
    named = {_PLACES[word] for word in clause if word in _PLACES}
    return SaveReport.PART if named & {Place.TEMPORARY, Place.SHARD} else SaveReport.COMPLETE


def _is_checkpoint(clause: Sequence[str], at: int) -> bool:
    """Return whether what the verb at `at` saves is a checkpoint: the words after it, else those before it."""
    behind = _object(clause[at + 1 :])
    what = behind or [word for word in clause[:at] if word not in words.TO and word not in _PLACES and word != NUMBER]
    places = [_PLACES[word] for word in clause if word in _PLACES]
    if what and what[-1] in words.NOT_IT:
        return False
    if not words.CHECKPOINT.isdisjoint(what) or not words.CHECKPOINT.isdisjoint(behind):
        return not {"activation", "activations", "gradient", "gradients"} & set(what)
    if not words.MODEL.isdisjoint(what):
        if places or (clause[at] in words.OF_ANYTHING and words.SHARDS.isdisjoint(what)):
            return any(one is not Place.OTHER for one in places)
        # A clause without a path is short if it reports a saved model: `training complete, model saved`.
        return len(clause) <= 9
    if clause[at] in words.SAVE or not set(behind) <= _GENERIC or (not behind and not set(what) <= _GENERIC):
        return False
    return any(one in {Place.CHECKPOINT, Place.SHARD, Place.TEMPORARY} for one in places)


def _object(behind: Sequence[str]) -> list[str]:
    """Return the words behind a verb up to where the place is named."""
    found = []
    for word in behind:
        if word in words.TO or word in _PLACES:
            break
        if word != NUMBER:
            found.append(word)
    return found


def _state(clause: Sequence[str]) -> SaveReport | None:
    """Return what a clause without a verb of saving reports: `checkpoint global_step10 is ready now`."""
    at = next((at for at, word in enumerate(clause) if word in words.CHECKPOINT), None)
    if at is None or not (words.OTHER_DEEDS | words.NOT | words.WILL | words.FAILED).isdisjoint(clause):
        return None
    if clause[at + 1 : at + 2] and clause[at + 1] in words.NOT_IT:
        return None
    return None if words.COMPLETE.isdisjoint(clause[at + 1 :]) else SaveReport.COMPLETE


def _named_newest(clause: Sequence[str]) -> SaveReport | None:
    """Return that the newest checkpoint was given its name, where a temporary one is renamed or the tracker file is written."""
    if not (words.NOT | words.WILL | words.FAILED).isdisjoint(clause):
        return None
    last = next((_PLACES[word] for word in reversed(clause) if word in _PLACES), None)
    renamed = Place.TEMPORARY.value in clause and not words.RENAMES.isdisjoint(clause)
    if renamed and last is not Place.TEMPORARY:
        return SaveReport.TRACKER
    if clause[0] in words.TRACKS and not words.NEWEST.isdisjoint(clause) and not words.CHECKPOINT.isdisjoint(clause):
        return SaveReport.TRACKER
    return None

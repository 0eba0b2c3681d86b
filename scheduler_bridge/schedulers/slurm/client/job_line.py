"""One line of `scontrol show job -d -o`, split into its fields.

Several fields hold text that a user chooses, with blanks and with words that read as fields. So a field is read only where Slurm may have
printed it: its key is known, and keys follow one another in Slurm's order, which no release from 21.08 to 26.05 changed. A line that can be
split so that one key has two different places is refused.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_ORDER = """
JobId! ArrayJobId ArrayTaskId ArrayTaskThrottle HetJobId HetJobOffset JobName!~ SLUID HetJobIdSet UserId! GroupId MCS_label Priority Nice
Account~ QOS~ WCKey~ JobState! Reason FailedNode Dependency Requeue Restarts! BatchFlag Reboot ExitCode! DerivedExitCode RunTime TimeLimit
TimeMin SubmitTime EligibleTime AccrueTime ResizeTime StartTime EndTime Deadline CronJob CrontabSpec~ PreemptEligibleTime PreemptTime
SuspendTime SecsPreSuspend LastSchedEval Scheduler Partition AllocNode:Sid ReqNodeList ExcNodeList NodeList SchedNodeList BatchFeatures~
BatchHost StepMgrEnabled FedOrigin FedViableSiblings FedActiveSiblings NumNodes NumCPUs NumTasks CPUs/Task ReqB:S:C:T TRES ReqTRES AllocTRES
Socks/Node NtasksPerN:B:S:C CoreSpec ThreadSpec JOB_GRES MinCPUsNode MinMemoryCPU MinMemoryNode MinMemoryTRES MinTmpDiskNode MemUpdate
Features~ DelayBoot ClusterFeatures~ Prefer~ Reservation OverSubscribe Exclusive Contiguous Licenses LicensesAlloc Network~ Command!~
SubmitLine~ WorkDir!~ AdminComment~ SystemComment~ Comment~ Extra~ StdErr~ StdIn~ StdOut~
"""
"""Keys in the order in which Slurm prints them, up to those that follow a user's last text. `!`: every line has it; `~`: its value may hold
anything. A line has one of `MinMemoryCPU`, `MinMemoryNode` and `MinMemoryTRES`, and one of `TRES` and `ReqTRES`."""
_STREAMS = ("StdErr", "StdIn", "StdOut")
"""Keys that every line of a batch job has."""
_WITH_ID = ("UserId", "GroupId")
_WORDS = _ORDER.split()
_NAMES = [word.rstrip("!~") for word in _WORDS]
_KEYS = {name: place for place, name in enumerate(_NAMES)}
_TEXTS = frozenset(word.rstrip("!~") for word in _WORDS if "~" in word)


def _limits(required: Collection[str]) -> list[int]:
    """Return for each key the place of the next required one, which no field may pass over."""
    places = [place for place, name in enumerate(_NAMES) if name in required]
    return [next((place for place in places if place > key), len(_NAMES)) for key in range(len(_NAMES))]


_REQUIRED = frozenset(word.rstrip("!~") for word in _WORDS if "!" in word)
_LIMITS, _BATCH_LIMITS = _limits(_REQUIRED), _limits(_REQUIRED.union(_STREAMS))

_TAIL_ORDER = """
SegmentSize SpreadSegments ConsolidateSegments Switches BurstBufferState Power GresAllowTaskSharing GresEnforceBind GresOneTaskPerSharing
KillOInInvalidDependent KillOnInvalidDependent SpreadJob ExpeditedRequeue OOMKillStep CpusPerTres MemPerTres TresBind TresFreq TresPerJob
TresPerNode TresPerSocket TresPerTask MailUser MailType NtasksPerTRES ContainerType Container ContainerID SELinuxContext ResvPorts
"""
"""Keys that follow a user's last text, in Slurm's order. None has a blank in its value."""
_TAIL_KEYS = {word: place for place, word in enumerate(_TAIL_ORDER.split())}

_KEY = re.compile(r"(?:(?<= )|\A)([A-Z][A-Za-z_:/]*)=")
_PLAIN = re.compile(r"\S*(?: +[A-Za-z_][A-Za-z0-9_:/]*=\S*)* *")
"""A value without a blank, perhaps followed by fields that are not known."""
_NAME_AND_ID = re.compile(r"(?:[^=]*\(\d+\)|[^ ]*) *")
"""Value of `UserId` and `GroupId`: directories allow blanks in names."""


@dataclass(frozen=True, slots=True)
class JobLine:
    """The fields of a line.

    Attributes:
        fields: Values by key.
        rest: All fields that are not known, or are repeated, where no user's text can be: ` Nodes=n1 CPU_IDs=0-1 …`.
        tail: Values by key of what follows the last text of the user.
        tail_is_certain: False where `tail` may be the end of a file's name that its user chose.
    """

    fields: Mapping[str, str]
    rest: str
    tail: Mapping[str, str]
    tail_is_certain: bool


def split(line: str) -> JobLine | None:
    """Return the fields of a line; None where it is no complete line, or can be read in more than one way."""
    found = list(_KEY.finditer(line))
    end, tail = _tail(line, found)
    body = line[:end]
    keys = [key for key in found if key.start() < end and key[1] in _KEYS]
    # A line of Slurm has about 80 known keys. The time for a line grows with the square of their number.
    if len(keys) > 300 or not (used := _used(body, keys)):
        return None
    fields: dict[str, str] = {}
    rest: list[str] = []
    for key, after in zip(used, [*used[1:], None], strict=True):
        # One blank separates two fields; others are the text's own.
        name, text = key[1], body[key.end() : after.start() if after else end].removesuffix(" ")
        if name in _TEXTS or name in _WITH_ID:
            fields[name] = text
        else:
            fields[name], *unknown = text.split(" ", 1)
            rest += unknown
    last = used[-1][1]
    is_one_text = not _KEY.search(fields[last])
    # Up to 22.05, Slurm printed Power= in each line; later releases print nothing that closes the user's text.
    certain = is_one_text and "TRES" in fields and "Power" in tail
    if not certain and (last not in ("StdOut", "WorkDir") or not is_one_text):
        tail = {}  # the last text is a comment, or holds words that read as fields: the tail may be a part of it
    return JobLine(fields, "".join(f" {text}" for text in rest), tail, certain)


def _tail(line: str, found: Sequence[re.Match[str]]) -> tuple[int, dict[str, str]]:
    """Return where the longest end of the line begins that consists of keys of the tail in order, and their values."""
    start, place = len(line), len(_TAIL_KEYS)
    after, values = start, {}
    for key in reversed(found):
        words = line[key.end() : after].split(" ")
        if any(words[1:]) or _TAIL_KEYS.get(key[1], place - 1) >= place or key[1] in _KEYS:
            break
        after = key.start()
        if key[1] in _TAIL_KEYS:
            start, place, values[key[1]] = after, _TAIL_KEYS[key[1]], words[0].rstrip()
    return start, values


def _used(body: str, keys: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Return the keys that are fields, in order; none where a key has two places at which it may be one."""
    limits = _BATCH_LIMITS if _is_batch(body, keys) else _LIMITS
    places = [_KEYS[key[1]] for key in keys]
    followers: list[list[int]] = [[]] * len(keys)
    leads_to_end = [False] * len(keys)
    # The least place among the keys from an index on: where it is beyond the limit, no further key can follow.
    least = [len(_WORDS)] * (len(keys) + 1)
    for index in range(len(keys) - 1, -1, -1):
        key, place = keys[index], places[index]
        limit = limits[place]
        least[index] = min(place, least[index + 1])
        is_text = key[1] in _TEXTS
        following = []
        for after in range(index + 1, len(keys)):
            if leads_to_end[after] and place < places[after] <= limit:
                following.append(after)
            # Only a text can hold a key that is no field.
            if not is_text or least[after + 1] > limit:
                break
        may_end = limit == len(_WORDS) and (is_text or index == len(keys) - 1)
        if (following or may_end) and (is_text or _is_plain(body, key, keys[index + 1 : index + 2])):
            followers[index], leads_to_end[index] = following, True
    if not keys or places[0] or not leads_to_end[0]:
        return []
    reached = {0}
    for index in range(len(keys)):
        if index in reached:
            reached.update(followers[index])
    used = sorted(reached)
    return [keys[index] for index in used] if _is_increasing([places[index] for index in used]) else []


def _is_increasing(places: Sequence[int]) -> bool:
    return all(first < second for first, second in pairwise(places))


def _is_batch(body: str, keys: Sequence[re.Match[str]]) -> bool:
    """Return whether nothing in the line contradicts that it is a batch job's, with its three streams."""
    flags = {body[key.end() : key.end() + 2] for key in keys if key[1] == "BatchFlag"}
    return flags == {"1 "} and {key[1] for key in keys}.issuperset(_STREAMS)


def _is_plain(body: str, key: re.Match[str], after: Sequence[re.Match[str]]) -> bool:
    """Return whether the value of a key that no user chooses holds no text."""
    start, end = key.end(), after[0].start() if after else len(body)
    if body.find(" ", start, end - 1) < 0:
        return True
    if key[1] in _WITH_ID:
        return _NAME_AND_ID.fullmatch(body, start, end) is not None
    return _PLAIN.fullmatch(body, start, end) is not None

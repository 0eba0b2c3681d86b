"""The input and output of guardrails."""

from collections.abc import Callable
from dataclasses import dataclass, field

from schedmate_records import Decision, Outcome

from ..commands import Commands
from ..ledger import Ledger
from ..saves import Saves
from ..settings import BridgeSettings
from ..signing import SigningKeys
from ..verdicts import Verdicts


@dataclass(frozen=True, slots=True)
class Objection:
    """A reason not to act. `guardrail` names who objects, `reason` is a sentence for a person."""

    guardrail: str
    reason: str
    outcome: Outcome = Outcome.REFUSED


@dataclass(frozen=True, slots=True)
class Wait:
    """Not now, perhaps later. `outcome` is what is written down of it, once; None: nothing."""

    reason: str
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class LimitReached:
    """Not now: an hourly limit is reached. `until`: when it is so no longer, in seconds since 1970."""

    guardrail: str
    reason: str
    until: float


@dataclass(frozen=True, slots=True)
class Context:
    """Inputs of guardrails.

    Attributes:
        ledger: What was done so far.
        settings: What the operator allows.
        now: Seconds since 1970.
        commands: Commands of operators.
        keys: What signs decisions; None: nothing does.
        verdicts: What jobs failed with.
        saves: What they saved.
    """

    ledger: Ledger
    settings: BridgeSettings
    now: float
    commands: Commands = field(default_factory=Commands)
    keys: SigningKeys | None = None
    verdicts: Verdicts = field(default_factory=Verdicts)
    saves: Saves = field(default_factory=Saves)


Guardrail = Callable[[Decision, Context], Objection | None]

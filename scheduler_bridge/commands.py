"""Operators' commands to the bridges: a fold over the topic `approvals`. Order and repeats do not matter."""

from schedmate_records import Command, Decision, OperatorCommand


class Commands:
    """The stops in force, and operators' commands about single decisions."""

    def __init__(self) -> None:
        self._stops: dict[str, OperatorCommand] = {}
        self._lifted: set[str] = set()
        self._words: dict[str, dict[str, OperatorCommand]] = {}

    def remember(self, command: OperatorCommand) -> bool:
        """Take in one command. False where it was known."""
        match command.command:
            case Command.STOP:
                known = command.id in self._stops
                self._stops.setdefault(command.id, command)
            case Command.RESUME:
                known = command.about in self._lifted
                self._lifted.add(command.about)
            case Command.APPROVE | Command.REJECT:
                words = self._words.setdefault(command.about, {})
                known = command.id in words
                words.setdefault(command.id, command)
        return not known

    @property
    def stops(self) -> list[OperatorCommand]:
        """The stops in force, the oldest first. One is enough to stop everything."""
        in_force = (stop for key, stop in self._stops.items() if key not in self._lifted)
        return sorted(in_force, key=lambda stop: (stop.time, stop.id))

    def approval(self, decision: Decision, now: float) -> OperatorCommand | None:
        """Return the first approval of a decision that holds now."""
        return self._first(decision, Command.APPROVE, now)

    def rejection(self, decision: Decision) -> OperatorCommand | None:
        """Return the first rejection of a decision."""
        return self._first(decision, Command.REJECT, 0.0)

    def forget(self, now: float) -> None:
        """Drop words on decisions that expired long ago."""
        for about, words in list(self._words.items()):
            # Commands about a decision are kept for a day after it expires.
            if all(word.expires is not None and word.expires + 86400.0 < now for word in words.values()):
                del self._words[about]

    def _first(self, decision: Decision, command: Command, now: float) -> OperatorCommand | None:
        """Return the first word of one kind that names the decision and its job and is still good."""
        words = (
            word
            for word in self._words.get(decision.id, {}).values()
            if word.command is command and word.job == decision.job and (word.expires is None or now <= word.expires)
        )
        return min(words, key=lambda word: (word.time, word.id), default=None)

"""The parts of one key's state, decoded when they are first asked for."""

from collections.abc import Callable, Iterator, MutableMapping

import msgspec

from processors.keyed import Part

_encode = msgspec.msgpack.encode


class Parts(MutableMapping[str, Part]):
    """A mapping from names to parts. A part that was returned counts as changed, since the caller may change it.

    Args:
        names: The names of all parts, oldest first; changed in place.
        load: Decodes the stored part of a name.
        kind: The type of a part.
    """

    def __init__(self, names: dict[str, None], load: Callable[[str], Part], kind: type[Part]) -> None:
        self._names, self._load, self._kind = names, load, kind
        self._open: dict[str, Part] = {}
        self._before: dict[str, bytes | None] = {}
        self.changed: dict[str, None] = {}
        self.removed: dict[str, None] = {}

    def begin(self) -> None:
        """Remember how every part is from now on, for `roll_back`."""
        self._before = {}

    def roll_back(self) -> None:
        """Make every part what it was at `begin`. What stays noted as changed is stored once more, which does no harm."""
        for name, before in self._before.items():
            if before is None:
                self._names.pop(name, None)
                self._open.pop(name, None)
                self.changed.pop(name, None)
            else:
                self._names[name] = None
                self._open[name] = msgspec.msgpack.decode(before, type=self._kind)
                self.changed[name] = None
                self.removed.pop(name, None)
        self._before = {}

    def opened(self, name: str) -> Part:
        """Return a changed part as it is now, without counting it as changed once more."""
        return self._open[name]

    def stored(self, kept: int) -> None:
        """Note that all that changed is stored; let go of what was decoded if it is more than `kept` parts."""
        self.changed, self.removed = {}, {}
        if len(self._open) > kept:
            self._open = {}

    def __getitem__(self, name: str) -> Part:
        if name not in self._names:
            raise KeyError(name)
        part = self._open.get(name)
        if part is None:
            part = self._open[name] = self._load(name)
        if name not in self._before:
            self._before[name] = _encode(part)
        self.changed[name] = None
        return part

    def __setitem__(self, name: str, part: Part) -> None:
        if name not in self._before:
            known = name in self._names
            self._before[name] = _encode(self._open.get(name) or self._load(name)) if known else None
        self._names[name] = None
        self._open[name] = part
        self.changed[name] = None
        self.removed.pop(name, None)

    def __delitem__(self, name: str) -> None:
        if name not in self._before:
            self._before[name] = _encode(self._open.get(name) or self._load(name))
        del self._names[name]
        self._open.pop(name, None)
        self.changed.pop(name, None)
        self.removed[name] = None

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

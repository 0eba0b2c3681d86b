"""Wall clocks that jump: processes that are started with one see its shift, and nothing else of the host does."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

SOURCE = Path(__file__).with_name("shifted_clock.c")


class Clock:
    """A wall clock that is right until it is shifted; the monotonic clock goes on.

    Args:
        name: Who lives by it.
        library: What shifts it.
        file: Where the shift is held.
    """

    def __init__(self, name: str, library: Path, file: Path) -> None:
        self.name = name
        self._library, self._file = library, file
        file.write_bytes(bytes(8))

    @property
    def environment(self) -> Mapping[str, str]:
        """What a process needs to live by it; its children inherit it."""
        return {"LD_PRELOAD": str(self._library), "SHIFTED_CLOCK": str(self._file)}

    def shift(self, seconds: int) -> None:
        """Let it show so many seconds more than the host's clock, at once."""
        with self._file.open("r+b", buffering=0) as held:  # in place: it is mapped
            held.write(seconds.to_bytes(8, "little", signed=True))


class Clocks:
    """Makes clocks and knows them all.

    Args:
        directory: Where their files go, not there yet.

    Raises:
        RuntimeError: There is no C compiler.
    """

    def __init__(self, directory: Path) -> None:
        if (compiler := shutil.which("cc")) is None:
            raise RuntimeError("expected a C compiler for clocks that jump, got none: run tests/servers/install.sh")
        directory.mkdir()
        self.all: list[Clock] = []
        self._directory, self._library = directory, directory / "shifted-clock.so"
        line = [compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(self._library), str(SOURCE)]
        subprocess.run(line, check=True)

    def make(self, name: str) -> Clock:
        """Return a clock that is right, for whoever is called `name`."""
        self.all.append(Clock(name, self._library, self._directory / name))
        return self.all[-1]

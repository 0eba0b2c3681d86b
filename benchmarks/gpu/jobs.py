"""Runs training jobs, keeping every line with its time of arrival."""

import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Line:
    """What a job printed, and when it came."""

    time: float
    text: str


@dataclass
class Job:
    """A running training job, `benchmarks/gpu/train.py` with `options`."""

    name: str
    options: list[str]
    lines: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start it."""
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "benchmarks" / "gpu" / "train.py"), *self.options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=None, cwd=ROOT,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            self.lines.append(Line(time.time(), text.rstrip("\n")))

    def wait_for_line(self, holding: str, patience_s: float = 120.0) -> None:
        """Return once a line holds `holding`; raise where the job ends before."""
        until = time.monotonic() + patience_s
        while not any(holding in each.text for each in list(self.lines)):
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"expected {holding!r} from {self.name}, it ended with {self.process.poll()}")
            time.sleep(0.05)

    def wait(self) -> dict[str, Any]:
        """Return what the job said of itself at its end."""
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        self.process.wait()
        self._reader.join()
        if self.process.returncode:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}:\n{said[-2000:]}")
        found: dict[str, Any] = json.loads(said.strip().splitlines()[-1])
        return found

    def stop(self) -> None:
        """End it now."""
        self.process.terminate()
        self.process.wait()
        self._reader.join()

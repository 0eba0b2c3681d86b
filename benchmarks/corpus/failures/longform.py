"""The long form of a log: thousands of reports of a real run of the same kind of program before those of the log itself.

One recorded run per style of report stands in `preludes/`; `python -m benchmarks.corpus.failures.longform` records them again.
"""

import gzip
import sys
from functools import cache
from pathlib import Path

from benchmarks.corpus.failures.case import Case
from benchmarks.corpus.failures.run import run

PRELUDES = Path(__file__).with_name("preludes")
STEPS = 4980

RUNS = {
    "plain": Case("plain", f"START=0 STEPS={STEPS} python noisy.py", None),
    "logging": Case("logging", f"STYLE=logging START=0 STEPS={STEPS} python noisy.py", None, style="logging"),
    "ddp": Case(
        "ddp",
        f"START=0 STEPS={STEPS} torchrun --nproc-per-node 2 ddp.py",
        None,
        environment="torch",
        style="ddp",
        seconds=600,
    ),
    "hf": Case("hf", "STEPS=4980 python hf.py", None, environment="torch", style="hf", seconds=600),
    "keras": Case(
        "keras", "KERAS_BACKEND=jax EPOCHS=1200 python fit.py", None, environment="torch", style="keras", seconds=600
    ),
}


@cache
def prelude(style: str) -> tuple[str, ...]:
    """Return the recorded reports of `style`."""
    with gzip.open(PRELUDES / f"{style}.log.gz", "rt", encoding="utf-8", newline="") as stream:
        return tuple(stream.read().rstrip("\n").split("\n"))


def lengthen(text: str, style: str, splice: int) -> tuple[str, int]:
    """Return the long form of `text` and the number of lines put in after its first `splice` lines."""
    lines, before = text.split("\n"), prelude(style)
    return "\n".join([*lines[:splice], *before, *lines[splice:]]), len(before)


def main() -> None:
    """Record the preludes that the command line names, or all."""
    PRELUDES.mkdir(exist_ok=True)
    for style in sys.argv[1:] or RUNS:
        text = run(RUNS[style])
        with (
            (PRELUDES / f"{style}.log.gz").open("wb") as raw,
            gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as stream,
        ):
            stream.write(text.encode())
        print(f"recorded {style}: {text.count(chr(10))} lines", flush=True)


if __name__ == "__main__":
    main()

"""Writes `docs/images/analyze.svg`, a terminal's picture of `schedmate analyze`: `python -m benchmarks.web.terminal`.

The log is a provoked failure of the corpus: a training whose disk is full when it saves a checkpoint.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "benchmarks" / "corpus" / "failures" / "logs" / "files" / "disk_full_checkpoint.log"
IMAGE = ROOT / "docs" / "images" / "analyze.svg"
COMMAND = ("schedmate", "analyze", "train.log")
COLUMNS = 110


def main() -> None:
    """Run the command and write the picture."""
    IMAGE.write_text(picture_of(printed()))


def printed() -> str:
    """Return what the command prints on a terminal with colours."""
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(LOG, Path(directory, "train.log"))
        done = subprocess.run(
            [sys.executable, "-m", *COMMAND],
            cwd=directory,
            env={**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return done.stdout


def picture_of(output: str) -> str:
    """Return `output` as an SVG without the fonts that rich would load from the network."""
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(f"$ {' '.join(COMMAND)}", style="bold", highlight=False)
    console.print(Text.from_ansi(output.rstrip()))
    picture = console.export_svg(title="schedmate analyze", unique_id="analyze")
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    return re.sub(r"[ \t]+$", "", picture, flags=re.MULTILINE)


if __name__ == "__main__":
    main()

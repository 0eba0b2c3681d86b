"""Where the interpreters are: any Python for the plain cases, one virtual environment with the frameworks for the others."""

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
TORCH = Path(os.environ.get("FAILURES_TORCH", PROJECT / ".cache" / "corpus" / "failures"))
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
HOW = f"Make it with: python -m venv {TORCH} && {TORCH}/bin/pip install -r {REQUIREMENTS.relative_to(PROJECT)}"


def python(environment: str) -> Path:
    """Return the interpreter of `environment`.

    Raises:
        FileNotFoundError: It is not there; the message says how to make it.
    """
    if environment != "torch":
        return Path(sys.executable)
    found = TORCH / "bin" / "python"
    if not found.exists():
        raise FileNotFoundError(f"no environment with the frameworks at {TORCH}. {HOW}")
    return found

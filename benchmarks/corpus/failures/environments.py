"""Where the interpreters are: any Python for plain cases, environments with the frameworks, and beside a GPU, for the others."""

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
TORCH = Path(os.environ.get("FAILURES_TORCH", PROJECT / ".cache" / "corpus" / "failures"))
CUDA = Path(os.environ.get("FAILURES_CUDA", PROJECT / ".cache" / "corpus" / "cuda"))
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
HOW = f"Make it with: python -m venv {TORCH} && {TORCH}/bin/pip install -r {REQUIREMENTS.relative_to(PROJECT)}"


def python(environment: str) -> Path:
    """Return the interpreter of `environment`.

    Raises:
        FileNotFoundError: It is not there; the message says how to make it.
    """
    if environment not in ("torch", "cuda"):
        return Path(sys.executable)
    found = (TORCH if environment == "torch" else CUDA) / "bin" / "python"
    if not found.exists():
        how = (
            f"the frameworks at {TORCH}. {HOW}"
            if environment == "torch"
            else f"PyTorch beside a GPU at {CUDA}: name it in FAILURES_CUDA"
        )
        raise FileNotFoundError(f"no environment with {how}")
    return found

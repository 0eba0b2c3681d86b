"""Builds `schedmate-pipe.pyz`: `python -m streams.producers.build_pyz [FILE]`.

It holds the modules whose docstrings name it, and nothing else. All of them must be Python 3.8 without a dependency.
"""

import argparse
import py_compile
import tempfile
import zipapp
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules() -> list[Path]:
    """Return the files that go into the archive, from the root of the packages on."""
    packages = [Path("streams/__init__.py"), Path("streams/producers/__init__.py")]
    found = sorted((ROOT / "streams").rglob("*.py"))
    marked = (file for file in found if "\nPart of `schedmate-pipe.pyz`:" in file.read_text(encoding="utf-8"))
    return [*packages, *(file.relative_to(ROOT) for file in marked)]


def build(file: Path) -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        for module in modules():
            inside = folder / module
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.write_bytes((ROOT / module).read_bytes())
            # Nodes with this version of Python need not compile it at each start; others take the source.
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(inside), f"{inside}c", str(module), doraise=True, invalidation_mode=mode)
        file.parent.mkdir(parents=True, exist_ok=True)
        main_function = "streams.producers.standalone_pipe:main"
        zipapp.create_archive(folder, file, interpreter="/usr/bin/env python3", main=main_function)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file that `arguments`, those of the command line where none are given, name."""
    parser = argparse.ArgumentParser(
        prog="python -m streams.producers.build_pyz", description="Build the pipe as one file."
    )
    parser.add_argument("file", nargs="?", type=Path, default=Path("dist/schedmate-pipe.pyz"))
    build(parser.parse_args(arguments).file)


if __name__ == "__main__":
    main()

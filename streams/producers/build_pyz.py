"""Builds `schedmate-pipe.pyz`: `python -m streams.producers.build_pyz [FILE]`.

It holds what `standalone_pipe` imports, directly or not, and nothing else. All of that must be Python 3.8 without a dependency.
"""

import argparse
import ast
import py_compile
import sys
import tempfile
import zipapp
from collections.abc import Iterator, Sequence
from importlib.util import find_spec, resolve_name
from pathlib import Path

ENTRY = "streams.producers.standalone_pipe"
VERSION = (3, 8)
"""The oldest Python that must run it."""


class NotStandalone(Exception):
    """A module that cannot be part of the file; the message states which, and why."""


def modules() -> dict[str, Path]:
    """Return the modules of the file, by name. Raises `NotStandalone`."""
    found: dict[str, Path] = {}
    wanted = [ENTRY]
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        found[name] = Path(spec.origin)
        package = name if spec.submodule_search_locations else name.rpartition(".")[0]
        try:
            tree = ast.parse(found[name].read_text(), feature_version=VERSION)
        except SyntaxError as error:
            raise NotStandalone(f"expected Python {VERSION[0]}.{VERSION[1]} in {name}, got {error}") from error
        for imported in _imports(tree, package):
            if imported.partition(".")[0] == "streams":
                wanted.append(imported)
            elif imported.partition(".")[0] not in sys.stdlib_module_names:
                raise NotStandalone(f"expected nothing but the standard library in {name}, got {imported}")
        if "." in name:
            wanted.append(name.rpartition(".")[0])
    return found


def build(file: Path) -> None:
    """Write the file. Raises `NotStandalone`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, source in modules().items():
            parts = name.split(".")
            inside = Path(folder, *parts, "__init__.py") if source.name == "__init__.py" else Path(folder, *parts)
            inside = inside if inside.suffix else inside.with_suffix(".py")
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.write_bytes(source.read_bytes())
            # Nodes with this version of Python need not compile it at each start; others take the source.
            py_compile.compile(
                str(inside),
                str(inside.with_suffix(".pyc")),
                name,
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        zipapp.create_archive(folder, file, interpreter="/usr/bin/env python3", main=f"{ENTRY}:main")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file that `arguments`, those of the command line where none are given, name."""
    parser = argparse.ArgumentParser(
        prog="python -m streams.producers.build_pyz", description="Build the pipe as one file."
    )
    parser.add_argument("file", nargs="?", type=Path, default=Path("dist/schedmate-pipe.pyz"))
    build(parser.parse_args(arguments).file)


def _imports(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the modules that `node` imports when it runs: imports under `TYPE_CHECKING` are for type checkers."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        for each in node.orelse:
            yield from _imports(each, package)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
        names = [f"{module}.{alias.name}" for alias in node.names] if module.startswith("streams") else []
        submodules = [name for name in names if find_spec(name) is not None] if module in _packages() else []
        yield from submodules or [module]
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, package)


def _packages() -> frozenset[str]:
    return frozenset({"streams", "streams.producers"})


if __name__ == "__main__":
    main()

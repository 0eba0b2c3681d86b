"""What is read off the text is what a parser reads."""

import ast
from collections.abc import Iterator
from pathlib import Path

import tests.imported as under_test
from tests.imported import Import, imports

ROOT = Path(__file__).resolve().parents[1]


def parsed(file: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (Import(0, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield Import(node.level, node.module or "", tuple(each.name for each in node.names))


def test_every_form_is_read(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text(
        "import os, a.b\nimport numpy as np  # fast\nfrom . import x\nfrom ..y.z import (\n    one as first,  # why\n    two,\n)\n"
        "def f():\n    import lazy\n    from c import d as e, g  # noqa\n"
    )
    assert sorted(imports(file)) == sorted(parsed(file))


def test_real_files_are_read_alike() -> None:
    for file in [Path(under_test.__file__), *(ROOT / "schedmate").glob("*.py"), *(ROOT / "processors").glob("*.py")]:
        assert sorted(imports(file)) == sorted(parsed(file)), file

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_documentation_lists_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+)` \|", listed, re.MULTILINE)
    assert [name for name in rows if name not in project["project"]["optional-dependencies"]] == []
    assert [name for name in project["project"]["optional-dependencies"] if f"| `{name}` |" not in listed] == []

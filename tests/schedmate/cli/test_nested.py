"""Files whose values are nested 100,000 deep: one line on standard error and exit code 2."""

import gzip
from pathlib import Path

import pytest

from schedmate.pipe import read_settings
from tests.schedmate.forked import run_forked

from .test_errors import one_line

DEEP = 100_000
BRACKETS = "[" * DEEP
TABLES = "{a=" * DEEP
DOTTED = ".".join(["a"] * 5000)
"""Reading such a key takes a time that grows with the square of its parts."""
VARIABLE = 20_000
"""A variable or an argument holds 128 KiB."""

SETTINGS = {
    "array": f"[kafka]\nbrokers = {BRACKETS}",
    "closed array": f"[kafka]\nbrokers = {BRACKETS}{']' * DEEP}",
    "inline tables": f"[producer]\ndirectory = {TABLES}",
    "dotted key": f"[producer]\nspool_mb.{DOTTED} = 1",
    "dotted section": f"[slurm.clusters.{DOTTED}]",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_settings_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(SETTINGS[name])
    line = one_line(run_forked("--config", file, "config"))
    assert str(file) in line
    assert len(line) < 1000
    faults: list[str] = []
    read_settings({"SCHEDMATE_CONFIG": str(file)}, faults)
    assert all(fault.startswith("expected") for fault in faults)
    assert faults or "slurm.clusters" in SETTINGS[name]


@pytest.mark.parametrize("value", ["[" * VARIABLE, '{"a":' * VARIABLE], ids=["array", "object"])
def test_a_variable(value: str) -> None:
    for name in ("SCHEDMATE_BRIDGE__MODES", "SCHEDMATE_PROCESSORS"):
        done = run_forked("config", env={name: value})
        assert done.returncode == 2
        assert done.stderr.startswith(b"schedmate: environment: ")
        assert b"Traceback" not in done.stderr
        assert len(done.stderr) < 2000


def test_a_flag() -> None:
    done = run_forked("--set", f"bridge.modes={'[' * VARIABLE}", "config")
    assert done.returncode == 2
    assert done.stderr.startswith(b"schedmate: flag: ")
    assert len(done.stderr) < 2000


@pytest.mark.parametrize(
    "content",
    [
        f"[[signature]]\nname = {BRACKETS}",
        f"[[signature]]\n{DOTTED} = 1",
        f"[[signature.{DOTTED}]]",
        f"[[signature]]\nname = 'x'\npattern = '{'(' * DEEP}'",
    ],
    ids=["array", "dotted key", "dotted section", "pattern"],
)
def test_a_catalogue_of_signatures(content: str, tmp_path: Path) -> None:
    file = tmp_path / "signatures.toml"
    file.write_text(content)
    line = one_line(run_forked("--set", f"processors.signatures={file}", "signatures", "list"))
    assert "signatures.toml" in line
    assert len(line) < 1000


def test_other_files_that_a_command_names(tmp_path: Path) -> None:
    for name, content in {"deep.json": BRACKETS, "deep.yaml": "{a: " * DEEP}.items():
        (tmp_path / name).write_text(content)
        line = one_line(run_forked("watch-scheduler", "kubernetes", "--kubeconfig", tmp_path / name))
        assert len(line) < 1000
        assert "recording" in one_line(run_forked("gpu-agent", "--replay", tmp_path / name))
    with gzip.open(tmp_path / "pairs.json.gz", "wt") as out:
        out.write('{"v100": {"x": ' * DEEP)

"""Imports between the packages of the product go one way, and are relative within a package."""

import ast
from pathlib import Path

import pytest

from tests.imported import circle, imports, modules, packages

ROOT = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "schedmate_records": set(),
    "processors": {"schedmate_records"},
    "sinks": {"schedmate_records"},
    "streams": {"schedmate_records", "processors"},
    "scheduler_bridge": {"schedmate_records", "processors", "streams"},
    "schedmate": {"schedmate_records", "processors", "streams", "sinks", "scheduler_bridge"},
}


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_a_package_imports_only_packages_below_it(package: str) -> None:
    found = {
        (str(file.relative_to(ROOT)), name)
        for file in (ROOT / package).rglob("*.py")
        for name in packages(file)
        if name in MAY_IMPORT.keys() - {package} - MAY_IMPORT[package]
    }
    assert not found


def test_processors_use_no_disk_and_no_network() -> None:
    for file in (ROOT / "processors").rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        used = {each.module.partition(".")[0] for each in imports(file)} & {
            "subprocess",
            "socket",
            "tempfile",
            "shutil",
        }
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        used |= called & {
            "open",
            "io.open",
            "os.fork",
            "os.listdir",
            "os.open",
            "os.scandir",
            "os.walk",
            "Path.cwd",
            "Path.home",
        }
        assert not used, file


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_imports_within_a_package_are_relative(package: str) -> None:
    found = {
        (str(file.relative_to(ROOT)), each.module)
        for file in (ROOT / package).rglob("*.py")
        for each in imports(file)
        if each.names and not each.level and each.module.partition(".")[0] == package
    }
    assert not found


def test_tests_and_benchmarks_share_only_servers() -> None:
    tests = [file for file in (ROOT / "tests").rglob("*.py") if "benchmarks" not in file.relative_to(ROOT).parts]
    found = {str(file.relative_to(ROOT)) for file in tests if "benchmarks" in packages(file)}
    for file in (ROOT / "benchmarks").rglob("*.py"):
        if any(
            each.module.startswith("tests.") and not each.module.startswith("tests.servers") for each in imports(file)
        ):
            found.add(str(file.relative_to(ROOT)))
    assert not found


def test_no_module_imports_itself_through_others() -> None:
    graph = modules(ROOT, MAY_IMPORT)
    assert {"schedmate_records", "processors.stage"} <= graph["processors.job"], "the imports were read"
    assert circle(graph) == []


def test_a_circle_would_be_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]

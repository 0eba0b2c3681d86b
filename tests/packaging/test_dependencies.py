"""What the code imports is declared, in the base or in the extra that the errors name."""

import functools
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions

from schedmate.cli.extras import EXTRA_OF, missing_extra
from tests.imported import packages

from .conftest import ROOMS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
UNLISTED = {"FlagEmbedding": {"flagembedding"}, "chdb": {"chdb"}, "faust": {"faust-streaming"}, "vllm": {"vllm"}}
"""Distributions of modules that may be absent here, or whose module is another distribution's."""
NOT_IMPORTED = {
    "crc32c": "kafka-python and aiokafka use it where it is there",
    "lz4": "kafka-python compresses with it",
    "zstandard": "kafka-python decompresses with it where a broker compresses with zstd",
    "cramjam": "aiokafka compresses with it",
    "huggingface-hub": "bounds what tokenizers brings",
    "chdb": "clickhouse-connect opens it",
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(requirements: list[str]) -> Iterator[str]:
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        assert name
        if name.group() == "schedmate":
            for extra in re.findall(r"[\w]+", requirement.partition("[")[2]):
                yield from declared(PROJECT["optional-dependencies"][extra])
        else:
            yield normal(name.group())


BASE = set(declared(PROJECT["dependencies"]))
EXTRAS = {name: set(declared(wanted)) for name, wanted in PROJECT["optional-dependencies"].items()}


@functools.cache
def foreign_modules() -> set[str]:
    found = {module for room in ROOMS for file in (ROOT / room).rglob("*.py") for module in packages(file)}
    return found - set(sys.stdlib_module_names) - set(ROOMS)


@functools.cache
def installed() -> Mapping[str, list[str]]:
    return packages_distributions()


def distributions(module: str) -> set[str]:
    return UNLISTED.get(module) or {normal(name) for name in installed().get(module, ())}


def test_an_imported_module_is_declared_where_its_error_says() -> None:
    for module in sorted(foreign_modules()):
        expected = EXTRAS[EXTRA_OF[module]] if module in EXTRA_OF else BASE
        assert distributions(module) & expected, f"{module} is imported, but pyproject.toml does not declare it there"


def test_what_is_declared_is_used() -> None:
    used = {name for module in foreign_modules() for name in distributions(module)}
    assert BASE.union(*EXTRAS.values()) - used - set(NOT_IMPORTED) == set()


def test_the_base_and_the_extras_do_not_overlap() -> None:
    for name, wanted in EXTRAS.items():
        assert not wanted & BASE, name


def test_all_is_everything_but_the_gpu() -> None:
    assert EXTRAS["all"] == set().union(*(wanted for name, wanted in EXTRAS.items() if name not in ("all", "gpu")))


def test_a_missing_module_of_an_extra_is_found_behind_other_errors() -> None:
    behind = ImportError("something else")
    behind.__cause__ = ModuleNotFoundError("No module named 'chdb.session'", name="chdb.session")
    assert "'.[embedded]'" in str(missing_extra(behind))


def test_a_missing_module_of_nobody_is_left_alone() -> None:
    assert missing_extra(ModuleNotFoundError("No module named 'colour'", name="colour")) is None

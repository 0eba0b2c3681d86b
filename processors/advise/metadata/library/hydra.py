"""Hydra: `@hydra.main` composes a configuration from groups and the command line, and `instantiate` makes the object that it names.

Source: Hydra's documentation, "The Defaults List" and "Basic Override syntax" (1.3).
"""

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from ..program.values import UNKNOWN, Config, Handler, Module, Program, Value
from .configurations import interpolated, merged, overrides
from .parsing import parse_yaml, scalar

DEEPEST = 10
"""Levels of defaults lists that include each other. A limit against lists that include themselves."""


class Composition:
    """Composes one configuration.

    Args:
        program: Program that composes it.
        directory: Directory of the configurations, relative to the tree.
        words: Overrides of the command line.
    """

    def __init__(self, program: Program, directory: str, words: list[str]) -> None:
        self._program, self._directory = program, directory
        pairs = [(key.lstrip("+~"), equals, value) for key, equals, value in (word.partition("=") for word in words)]
        chosen = [(key, value) for key, _, value in pairs if self._is_group(key)]
        self._given = dict(chosen)
        self._groups = {**self._overridden(posixpath.join(*each) for each in chosen), **self._given}
        self._values = [
            f"{key.partition('@')[0]}={value}" for key, equals, value in pairs if equals and not self._is_group(key)
        ]

    def compose(self, name: str) -> Value:
        """Return the configuration `name` with the overrides applied."""
        result = self._load(name, "", 0)
        for group in self._given.keys() & self._groups.keys():  # groups that no defaults list names: `+experiment=x`
            result = merged(result, self._load(posixpath.join(group, self._groups[group]), group.replace("/", "."), 1))
        result = merged(result, overrides(self._values))
        result = interpolated(result, result)
        self._program.trace.settings.append(("command line", result))
        return result

    def _is_group(self, key: str) -> bool:
        path = self._program.tree.relative(key.partition("@")[0], self._directory)
        return "." not in key and bool(self._program.tree.is_directory(path))

    def _parsed(self, name: str) -> tuple[Value, str]:
        """Return a configuration of the tree or one that the program stored, and the text of its file."""
        file = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
        text = self._program.tree.read(self._program.tree.relative(file, self._directory))
        found = parse_yaml(text or "")
        return found if isinstance(found, dict) else Config(), text or ""

    def _overridden(self, names: Iterator[str]) -> dict[str, str]:
        """Return the groups that configurations override in their defaults lists."""
        lists = [self._parsed(name)[0].get("defaults") for name in names]
        entries = [entry for each in lists if isinstance(each, list) for entry in each if isinstance(entry, dict)]
        pairs = [(str(key), str(value)) for entry in entries for key, value in entry.items()]
        return {key.removeprefix("override ").strip("/ "): value for key, value in pairs if key.startswith("override ")}

    def _load(self, name: str, package: str, depth: int) -> Value:
        """Return one configuration with its defaults, under its package."""
        own, text = self._parsed(name)
        for line in text.splitlines()[:5]:
            if line.startswith("#") and "@package" in line:
                named = line.partition("@package")[2].strip()
                package = {"_global_": "", "_group_": package, "": package}.get(named, named)
        defaults = own.pop("defaults", None)
        entries = defaults if isinstance(defaults, list) and depth < DEEPEST else []
        self._groups = {**self._overridden(iter([name])), **self._groups} if entries else self._groups
        for key in reversed(package.split(".") if package else []):
            own = Config({key: own})
        result: Value = Config()
        for entry in entries if "_self_" in entries else [*entries, "_self_"]:
            if entry == "_self_":
                result = merged(result, own)
            for each, inner in self._entry(entry, posixpath.dirname(name)) if entry != "_self_" else ():
                result = merged(result, self._load(each, inner, depth + 1))
        return result

    def _entry(self, entry: Value, here: str) -> Iterator[tuple[str, str]]:
        """Yield the configurations that an entry of a defaults list names, each with its package."""
        for key, value in entry.items() if isinstance(entry, dict) else [(str(entry), None)]:
            named, _, package = str(key).removeprefix("optional ").strip().partition("@")
            path = named.lstrip("/") if named.startswith("/") else posixpath.join(here, named)
            group = path if isinstance(entry, dict) else posixpath.dirname(path)
            package = "" if package == "_global_" else package or group.replace("/", ".")
            chosen = (
                self._groups.pop(path, self._groups.pop(named, None))
                if isinstance(entry, dict)
                else posixpath.basename(path)
            )
            chosen = value if chosen is None else scalar(chosen) if isinstance(entry, dict) else chosen
            for each in (chosen if isinstance(chosen, list) else [chosen]) if not named.startswith("override ") else ():
                if isinstance(each, str):
                    yield posixpath.join(group, each), package


def _main(program: Program, config_path: Value = None, config_name: Value = None, **keywords: Value) -> Value:
    def enter(function: Value, more: tuple[Value, ...]) -> Value:
        base = posixpath.dirname(function.scope.module.file)
        asked = _option(program.words, "--config-path", "-cp", "--config-dir", "-cd")
        places = (
            [(asked, base), (asked, program.directory)]
            if asked
            else [(config_path if isinstance(config_path, str) else ".", base)]
        )
        found = [program.tree.relative(*each) for each in places]
        directory = next((each for each in found if program.tree.is_directory(each)), ".")
        named = _option(program.words, "--config-name", "-cn") or (
            config_name if isinstance(config_name, str) else "config"
        )
        return program.call(function, (Composition(program, directory, program.words).compose(named), *more))

    return Handler("hydra.main", lambda program, inner: Handler("main", lambda program, *more: enter(inner, more)))


def _option(words: list[str], *names: str) -> str | None:
    for word, following in zip(words, [*words[1:], None], strict=True):
        option, equals, value = word.partition("=")
        if option in names:
            return value if equals else following
    return None


def _instantiate(program: Program, value: Value, *arguments: Value, **keywords: Value) -> Value:
    """`hydra.utils.instantiate`: make the object that `_target_` names, and those inside."""
    if isinstance(value, list):
        return [_instantiate(program, each) for each in value[:32]]
    if not isinstance(value, dict) or not isinstance(value.get("_target_"), str):
        return value
    given = {key: _instantiate(program, each) for key, each in value.items() if str(key)[:1] != "_"} | keywords
    called = _locate(program, value["_target_"])
    if value.get("_partial_") is True:
        return program.call(program.external("functools.partial"), (called,), given)
    return program.call(called, arguments, given)


def _locate(program: Program, path: str) -> Value:
    """Return the value that a dotted path names: of the tree, or of a library."""
    owner, _, last = path.rpartition(".")
    module = program.import_module(owner) if owner else None
    return module.names.get(last, UNKNOWN) if isinstance(module, Module) else program.external(path)


HANDLERS: Mapping[str, Any] = {
    "hydra.main": _main,
    "hydra.utils.instantiate hydra.utils.call": _instantiate,
    "hydra.utils.get_class hydra.utils.get_method hydra.utils.get_object": _locate,
    "hydra.utils.to_absolute_path": lambda program, path: path,
    "hydra.utils.get_original_cwd": lambda program: ".",
}
METHODS: Mapping[str, Any] = {}

"""Hydra: `@hydra.main` composes a configuration from groups and the command line; `instantiate` makes what it names.

Source: Hydra's documentation, "The Defaults List" and "Basic Override syntax" (1.3).
"""

import posixpath
from collections.abc import Mapping
from typing import Any

from ..values import UNKNOWN, Class, Config, Function, Model, Module, Term, Value
from .configurations import structured
from .merging import interpolated, merged, set_path
from .namespaces import as_config
from .parsing import parse_yaml, scalar
from .standard_library import copied

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

DEEPEST = 10


def compose(program: Program, directory: str, name: str, words: list[str], stored: Mapping[str, Value]) -> Config:
    """Return the configuration `name` of `directory` (relative to the tree) with overrides applied.

    Args:
        program: Whose tree it is.
        directory: Directory of the configurations.
        name: Name of the primary one.
        words: Words of the command line.
        stored: Configurations that the program registered, by name.
    """
    groups: dict[str, str] = {}
    values: list[tuple[str, str]] = []
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            continue
        plain = key.lstrip("+~")
        program.trace.knows([plain])
        if program.tree.is_directory(_place(program, directory, plain.partition("@")[0])) and "." not in plain:
            groups[plain] = value
        else:
            values.append((plain.partition("@")[0] if "@" in plain else plain, value))
    given = set(groups)
    for group, value in list(groups.items()):  # an experiment's overrides hold for groups that are loaded before it
        for each, chosen in _overrides_of(program, directory, posixpath.join(group, value)).items():
            groups.setdefault(each, chosen)
    result = _load(program, directory, name, "", groups, stored, 0)
    for group in given & groups.keys():  # those that no list of defaults names: `+experiment=x`
        result = merged(
            result,
            _load(program, directory, posixpath.join(group, groups[group]), group.replace("/", "."), groups, stored, 1),
        )
    for key, value in values:
        set_path(result, key, as_config(scalar(value)))
    result = as_config(interpolated(result))
    program.trace.settings.append(("command line", result))
    return result  # type: ignore[no-any-return]


def _overrides_of(program: Program, directory: str, name: str) -> dict[str, str]:
    parsed = parse_yaml(program.tree.read(_place(program, directory, f"{name}.yaml")) or "")
    defaults = parsed.get("defaults") if isinstance(parsed, dict) else None
    return _overridden(defaults) if isinstance(defaults, list) else {}


def _place(program: Program, directory: str, name: str) -> str | None:
    found = program.tree.relative(name, directory)
    return found if found is None or isinstance(found, str) else None


def _load(  # noqa: PLR0917  # all of them by name or place
    program: Program,
    directory: str,
    name: str,
    package: str,
    groups: dict[str, str],
    stored: Mapping[str, Value],
    depth: int,
) -> Value:
    """Return one configuration with its defaults, under its package."""
    text = program.tree.read(_place(program, directory, name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"))
    if text is None:
        found = structured(stored.get(name, stored.get(posixpath.basename(name), Config())))
        return _packaged(found, package)
    parsed = parse_yaml(text)
    own = as_config(parsed) if isinstance(parsed, dict) else Config()
    for line in text.splitlines()[:5]:
        if line.startswith("#") and "@package" in line:
            named = line.partition("@package")[2].strip()
            package = {"_global_": "", "_group_": package, "": package}.get(named, named)
    defaults = own.pop("defaults", None)
    if not isinstance(defaults, list) or depth > DEEPEST:
        return _packaged(own, package)
    here = posixpath.dirname(name)
    result: Value = Config()
    placed = False
    replaced = _overridden(defaults)
    for group, value in replaced.items():
        groups.setdefault(group, value)
    for entry in defaults:
        if entry == "_self_":
            result, placed = merged(result, _packaged(own, package)), True
            continue
        wanted = _entry(entry, here, groups)
        for each, inner_package in wanted:
            result = merged(result, _load(program, directory, each, inner_package, groups, stored, depth + 1))
    if not placed:
        result = merged(result, _packaged(own, package))
    return result


def _overridden(defaults: list[Value]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in defaults:
        if isinstance(entry, dict):
            for key, value in entry.items():
                if isinstance(key, str) and key.startswith("override "):
                    found[key.removeprefix("override ").strip().lstrip("/")] = str(value)
    return found


def _entry(entry: Value, here: str, groups: dict[str, str]) -> list[tuple[str, str]]:
    """Return the names of configurations that an entry of a defaults list stands for, each with its package."""
    if isinstance(entry, str):
        name, _, package = entry.partition("@")
        path = name.lstrip("/") if name.startswith("/") else posixpath.join(here, name)
        return [(path, package if package not in {"", "_here_"} else posixpath.dirname(path).replace("/", "."))]
    found: list[tuple[str, str]] = []
    for key, value in entry.items() if isinstance(entry, dict) else []:
        if not isinstance(key, str) or key.startswith("override "):
            continue
        named = key.removeprefix("optional ").strip()
        group, _, package = named.partition("@")
        group = group.lstrip("/") if group.startswith("/") else posixpath.join(here, group)
        chosen = groups.pop(group, groups.pop(named, None))
        chosen = value if chosen is None else scalar(chosen)
        if package in {"", "_here_"}:
            package = group.replace("/", ".")
        elif package == "_global_":
            package = ""
        names = chosen if isinstance(chosen, list) else [chosen]
        found += [(posixpath.join(group, each), package) for each in names if isinstance(each, str) and each != "null"]
    return found


def _packaged(value: Value, package: str) -> Value:
    if not package:
        return value
    result = Config()
    node = result
    *way, last = package.split(".")
    for key in way:
        node[key] = Config()
        node = node[key]
    node[last] = value
    return result


def _main(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    path = keywords.get("config_path", arguments[0] if arguments else None)
    name = keywords.get("config_name", arguments[1] if len(arguments) > 1 else None)

    def decorated(program: Program, inner: Arguments, given: Keywords) -> Value:
        function = inner[0] if inner else UNKNOWN
        if not isinstance(function, Function):
            return function

        def entered(program: Program, more: Arguments, rest: Keywords) -> Value:
            return program.call_function(function, (_configuration(program, function, path, name), *more), rest)

        return Model(function.name, entered)

    return Model("hydra.main", decorated)


def _configuration(program: Program, function: Function, path: Value, name: Value) -> Value:
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    named = _option(words, "--config-name", "-cn") or (name if isinstance(name, str) else "config")
    base = posixpath.dirname(function.scope.module.file)
    asked = _option(words, "--config-path", "-cp") or _option(words, "--config-dir", "-cd")
    directory = program.tree.relative(asked or (path if isinstance(path, str) else "."), base) or "."
    if asked and not program.tree.is_directory(directory):
        directory = program.tree.relative(asked, program.directory) or "."
    return compose(program, directory, named, words, getattr(program, "stored", {}))


def _option(words: list[str], *names: str) -> str | None:
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in names:
            return value if equals else (words[place + 1] if place + 1 < len(words) else None)
    return None


def _instantiate(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else keywords.get("config", UNKNOWN)
    if isinstance(value, list):
        return [_instantiate(program, (each,), {}) for each in value[:32]]
    if not isinstance(value, dict):
        return value
    target = value.get("_target_") or value.get("class_path")
    if not isinstance(target, str):
        return value
    given = {
        key: _inner(program, each) for key, each in value.items() if isinstance(key, str) and not key.startswith("_")
    }
    if "class_path" in value:
        inside = value.get("init_args", {})
        given = {key: _inner(program, each) for key, each in inside.items()} if isinstance(inside, dict) else {}
    called = locate(program, target)
    if value.get("_partial_") is True:
        return program.call(program.external("functools.partial"), (called,), {**given, **keywords}, None)
    return program.call(called, arguments[1:], {**given, **keywords}, None)


def _inner(program: Program, value: Value) -> Value:
    if isinstance(value, dict) and ("_target_" in value or "class_path" in value):
        return _instantiate(program, (value,), {})
    if isinstance(value, list):
        return [_inner(program, each) for each in value[:64]]
    return value


def locate(program: Program, target: str) -> Value:
    """Return what a dotted path names: something of the tree, or of a library."""
    owner, _, last = target.rpartition(".")
    if not owner:
        return Term("external", target)
    module = program.import_module(owner)
    if isinstance(module, Module):
        return module.names.get(last, Term("external", target))
    outer, _, name = owner.rpartition(".")
    around = program.import_module(outer) if outer else UNKNOWN
    if isinstance(around, Module) and isinstance(around.names.get(name), Class):
        return program.attribute(around.names[name], last)
    return program.external(target)


def _store(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not (isinstance(owner, Term) and owner.name == "hydra.ConfigStore"):
        return NotImplemented
    name, node = keywords.get("name", UNKNOWN), keywords.get("node", UNKNOWN)
    if isinstance(name, str):
        if isinstance(node, Class):
            node = program.call(node, (), {}, None)
        program.stored[name] = copied(node)
    return None


def _compose(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    name = keywords.get("config_name", arguments[0] if arguments else UNKNOWN)
    words = keywords.get("overrides", [])
    return (
        compose(program, program.directory, name, [each for each in words if isinstance(each, str)], {})
        if isinstance(name, str)
        else UNKNOWN
    )


def _path(arguments: Arguments, keywords: Keywords) -> Value:
    """Return what these functions call `path`, by place or by name."""
    return arguments[0] if arguments else keywords.get("path", UNKNOWN)


def _located(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    path = _path(arguments, keywords)
    return locate(program, path) if isinstance(path, str) else UNKNOWN


EXTERNALS: Mapping[str, Any] = {
    "hydra.main": _main,
    "nemo.core.config.hydra_runner": _main,
    "hydra.core.config_store.ConfigStore.instance": lambda program, arguments, keywords: Term(
        "external", "hydra.ConfigStore"
    ),
    "hydra.compose": _compose,
    "hydra.utils.instantiate": _instantiate,
    "hydra.utils.call": _instantiate,
    "hydra.utils.to_absolute_path": lambda program, arguments, keywords: _path(arguments, keywords),
    "hydra.utils.get_original_cwd": lambda program, arguments, keywords: program.absolute(program.directory),
    **dict.fromkeys(("hydra.utils.get_class", "hydra.utils.get_method", "hydra.utils.get_object"), _located),
}
METHODS: Mapping[str, Any] = {"store": _store}

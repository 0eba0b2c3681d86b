"""Functions whose parameters a command line fills: click, typer, fire."""

import ast
from collections.abc import Mapping
from typing import Any

from ..values import UNKNOWN, Class, Config, Function, Instance, OpenFile, Term, Value, dotted
from .argument_parsers import Option, Parser
from .merging import set_path
from .parsing import split_words
from .standard_library import literal

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


_CONTEXT = "\0click"
"""Where click's context is kept."""


def is_command(function: Function) -> bool:
    """Whether click's or typer's decorators make a function a command, or a group of commands."""
    names = [dotted(each.parts[0]) for each in function.decorators if isinstance(each, Term) and each.kind == "call"]
    return any(name.endswith(_COMMANDS) for name in names)


def _commands_of(program: Program, owner: Value) -> dict[str, Function]:
    """Return the commands of a click group or a typer application, by the name that a user writes."""
    found: dict[str, Function] = {}
    for call in program.trace.calls:
        maker = call.called.parts[0] if isinstance(call.called, Term) and call.called.kind == "call" else call.called
        if not isinstance(maker, Term) or maker.kind != "attribute" or maker.name not in {"command", "add_command"}:
            continue
        inner = call.arguments[0] if call.arguments else None
        if isinstance(inner, Function) and _same_group(maker.parts[0], owner):
            named = call.called.parts[1:2] if call.called is not maker else ()
            name = named[0] if named and isinstance(named[0], str) else inner.name.replace("_", "-")
            found[name] = inner
    return found


def _same_group(left: Value, right: Value) -> bool:
    if isinstance(left, Function) and isinstance(right, Function):
        return left.node is right.node
    return left is right


def call_group(program: Program, owner: Value) -> Value:
    """Call the command that the command line names, of a click group or a typer application."""
    commands = _commands_of(program, owner)
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    place = next((place for place, each in enumerate(words) if each in commands), None)
    if place is None:
        chosen, rest = (next(iter(commands.values())), words) if len(commands) == 1 else (None, words)
    else:
        chosen, rest = commands[words[place]], words[place + 1 :]
    if chosen is None:
        return UNKNOWN
    if place is not None and isinstance(owner, Function):
        _enter_group(program, owner, words[:place])
    before, program.argv = program.argv, [program.argv[0], *rest]
    try:
        return call_command(program, chosen, (), {})
    finally:
        program.argv = before


def _enter_group(program: Program, group: Function, words: list[str]) -> None:
    """Call a click group with the options before its command; what it leaves in `ctx.obj` is its commands'."""
    found, _ = _parser_of(program, group).read(program, words)
    program.trace.settings.append(("command line", found))
    program.call_function(group, _context(program, group), dict(found))


def _context(program: Program, function: Function) -> Arguments:
    """Return what `@click.pass_context` and `@click.pass_obj` hand a command."""
    context = program.stored.setdefault(_CONTEXT, Config(obj=None))
    handed = {"pass_context": context, "pass_obj": context["obj"]}
    names = [dotted(each).rpartition(".")[2] for each in function.decorators]
    return tuple(handed[name] for name in names if name in handed)


def _parser_of(program: Program, function: Function) -> Parser:
    """Return the parser of the options and arguments that click's decorators declare."""
    parser = Parser(program)
    for each in reversed(function.decorators):
        if not isinstance(each, Term) or each.kind != "call":
            continue
        kind = dotted(each.parts[0]).rpartition(".")[2]
        names = [part for part in each.parts[1:] if isinstance(part, str)]
        if kind in {"option", "argument"} and names:
            parser.options.append(_click_option(kind, names, each.keywords))
    return parser


def call_command(program: Program, function: Function, arguments: Arguments, keywords: Keywords) -> Value:
    """Call a function that click's or typer's decorators make a command: its options come from the command line."""
    commands = _commands_of(program, function)
    if commands and not arguments:
        return call_group(program, function)
    if arguments or (keywords and set(keywords) - {"standalone_mode", "obj", "args"}):
        return program.call_function(function, arguments, keywords)
    parser = _parser_of(program, function)
    if not parser.options:
        return call_signature(program, function, program.argv[1:])
    found, _ = parser.read(program, [each for each in program.argv[1:] if isinstance(each, str)])
    program.trace.settings.append(("command line", found))
    return program.call_function(function, _context(program, function), dict(found))


def _click_option(kind: str, names: list[str], keywords: Keywords) -> Option:
    given = {key: each for key, each in keywords.items() if key in {"default", "type", "nargs"}}
    plain = [each for each in names if not each.startswith("-")]
    options = [part for each in names if each.startswith("-") for part in each.split("/")[:1]]
    if kind == "argument":
        return Option([plain[0].replace("-", "_")], {**given, "dest": UNKNOWN})
    if plain:
        given["dest"] = plain[0]
    if keywords.get("is_flag") is True or any("/" in each for each in names):
        given.pop("type", None)
        given["action"] = "store_true"
    if (
        "type" not in given
        and isinstance(given.get("default"), (int, float))
        and not isinstance(given.get("default"), bool)
    ):
        given["type"] = Term("external", type(given["default"]).__name__)
    if keywords.get("multiple") is True:
        given["action"] = "append"
    return Option(options or [f"--{plain[0]}"], given)


def call_signature(program: Program, function: Function, words: list[str]) -> Value:
    """Call a function with the words of a command line as fire and typer do: by name, by place, as literals."""
    spec = function.node.args
    names = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    if function.this is not None:
        names = names[1:]
    defaults = dict(
        zip(names[len(names) - len(function.defaults) - len(spec.kwonlyargs) :], function.defaults, strict=False)
    )
    defaults.update(function.keyword_defaults)
    given: dict[str, Value] = {name: _option_default(each) for name, each in defaults.items()}
    short = {option: f"--{name}" for name, each in defaults.items() for option in _declared(each)}
    named, places = split_words([short.get(word, word) for word in words])
    given.update({key: each for key, each in named.items() if key in names or spec.kwarg})
    program.trace.knows([*names, *short, *(named if spec.kwarg else ())])
    for key, each in named.items():
        owner, dot, inner = key.partition(".")
        if dot and isinstance(given.get(owner), (Instance, dict)):
            set_path(given[owner], inner, each)
    free = [name for name in names if name not in named]
    given.update({name: literal(word) for name, word in zip(free, places, strict=False)})
    for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        value = given.get(parameter.arg)
        if isinstance(value, str) and _is_of(parameter.annotation, "Path"):
            given[parameter.arg] = Term("call", "Path", (Term("external", "pathlib.Path"), value))
        elif isinstance(value, str) and _is_of(parameter.annotation, "FileText", "FileBinaryRead", "TextIO"):
            given[parameter.arg] = OpenFile(value)
    program.trace.settings.append(("command line", Config(given)))
    return program.call_function(function, (), given)


def _is_of(annotation: ast.expr | None, *kinds: str) -> bool:
    """Whether typer makes a parameter one of `kinds`: `Path`, `pathlib.Path`, `Annotated[Path, …]`, `Path | None`."""
    found = ast.walk(annotation) if annotation is not None else ()
    return any({getattr(each, "id", ""), getattr(each, "attr", "")} & set(kinds) for each in found)


def _declared(value: Value) -> list[str]:
    """Return the options that `typer.Option(default, "--epochs", "-e")` names."""
    option = isinstance(value, Term) and value.kind == "call" and value.name == "Option"
    return [each for each in value.parts[2:] if isinstance(each, str) and each.startswith("-")] if option else []


def _option_default(value: Value) -> Value:
    """Return the default of `typer.Option(default, …)`."""
    if isinstance(value, Term) and value.kind == "call" and value.name in {"Option", "Argument"}:
        return value.parts[1] if len(value.parts) > 1 else value.keywords.get("default", UNKNOWN)
    return value


def _fire(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    component = arguments[0] if arguments else keywords.get("component", UNKNOWN)
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    if isinstance(component, dict) and words and words[0] in component:
        component, words = component[words[0]], words[1:]
    if isinstance(component, Class):
        made, words = _constructor_words(component, words)
        component = program.call(component, (), made, None)
    if isinstance(component, Instance) and words:
        component, words = program.attribute(component, words[0].replace("-", "_")), words[1:]
    if component in (UNKNOWN, None) and words:
        module = program.trace.settings[0][1]
        component, words = module.get(words[0], UNKNOWN), words[1:]
    return call_signature(program, component, words) if isinstance(component, Function) else UNKNOWN


def _constructor_words(cls: Class, words: list[str]) -> tuple[dict[str, Value], list[str]]:
    """Return what the options before a command say to the class that it is of, and the words from the command on."""
    place = next((at for at, each in enumerate(words) if isinstance(cls.find(each.replace("-", "_")), Function)), 0)
    return split_words(words[:place])[0], words[place:]


def _typer_run(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    return call_signature(program, arguments[0], words) if arguments and isinstance(arguments[0], Function) else UNKNOWN


_COMMANDS = (
    "click.command",
    "click.option",
    "click.argument",
    "click.group",
    "app.command",
    "Typer().command",
    ".command",
    ".group",
)
EXTERNALS: Mapping[str, Any] = {"fire.Fire": _fire, "typer.run": _typer_run}
__all__ = ["EXTERNALS", "call_command", "call_group", "call_signature", "is_command"]

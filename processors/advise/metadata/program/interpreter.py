"""Follows a program of the tree: which value reaches which call. Nothing is run.

If a condition is unknown, both branches are followed and their results joined. The body of a loop is followed once, or once for each
element of a known list. Steps, depth and iterations are bounded.
"""

from collections.abc import Mapping

from ...source_tree import SourceTree
from . import calls, expressions, statements
from .modules import Modules, parse
from .trace import Loop, Trace
from .values import UNKNOWN, Function, Handler, Module, Scope, Term, Value


class Interpreter:
    """Follows one program.

    Args:
        tree: Source tree.
        directory: Working directory, relative to the tree.
        search: Directories, relative to the tree, in which modules are searched.
        argv: Words of the command line, the program's own name first.
        environment: Environment variables that are known.
        handlers: Functions of libraries whose results are known, by dotted name; a `property` gives the value of a name.
        methods: Methods whose results are known, by name; called as `call(program, owner, *arguments, **keywords)`.
    """

    attribute = calls.attribute
    block = statements.block
    call = calls.call
    call_method = calls.call_method
    evaluate = expressions.evaluate
    record = calls.record
    set_attribute = calls.set_attribute

    def __init__(  # noqa: PLR0917  all of them by name or place
        self,
        tree: SourceTree,
        directory: str,
        search: list[str],
        argv: list[str],
        environment: dict[str, str],
        handlers: Mapping[str, Value],
        methods: Mapping[str, Value],
    ) -> None:
        self.tree, self.directory, self.argv, self.environment = tree, directory, argv, environment
        self.handlers, self.methods = handlers, methods
        self.modules = Modules(tree, search)
        self.trace = Trace(argv[1:])
        self.loops: list[Loop] = []
        self.calls: list[Function] = []
        self.stored: dict[str, Value] = {}
        self.depth = 0
        self.unsure = 0

    @property
    def words(self) -> list[str]:
        """Return the words of the command line behind the program's name."""
        return [each for each in self.argv[1:] if isinstance(each, str)]

    def run(self, text: str | None, file: str = "", as_name: str = "__main__") -> Module | None:
        """Follow a program's text; return null if it is no Python."""
        parsed = parse(text)
        if parsed is None:
            return None
        module = Module(as_name, file, package=False, names={"__name__": as_name, "__file__": f"/source/{file}"})
        if as_name == "__main__":
            self.trace.entry = file
            self.trace.settings.append(("constants", module.names))
        self.block(parsed.body, Scope(module.names, None, module))
        return module

    def import_module(self, name: str) -> Value:
        """Return a module of the tree, followed once, or the name of a library's module."""
        module, parsed = self.modules.find(name)
        if module is None:
            self.trace.imports.add(name.partition(".")[0])
            return self.external(name)
        if parsed is not None:
            loops, self.loops = self.loops, []
            self.block(parsed.body, Scope(module.names, None, module))
            self.loops = loops
            parent, _, last = name.rpartition(".")
            around = self.import_module(parent) if parent else None
            if isinstance(around, Module):
                around.names.setdefault(last, module)
        return module

    def member(self, module: Value, name: str, member: str) -> Value:
        """Return `member` of the module `name`, which may be a module itself."""
        if not isinstance(module, Module):
            return self.external(f"{name}.{member}")
        inner = module.names[member] if member in module.names else self.import_module(f"{name}.{member}")
        return (
            Term("external", f"{name}.{member}") if isinstance(inner, Handler) and member not in module.names else inner
        )

    def external(self, name: str) -> Value:
        """Return a name of a library, or its value or handler if it is known."""
        known = self.handlers.get(name)
        if isinstance(known, property):
            return known.fget(self) if known.fget else UNKNOWN
        return Handler(name, known) if known is not None else Term("external", name)

"""An abstract interpreter: follows which value reaches which call, and never runs anything.

Where a condition is not known both branches are followed and what they leave is joined. A loop's body is followed once, that over a
known list once an element. A function is followed at each call. Steps, depth and iterations are bounded.
"""

import ast
from collections.abc import Mapping

from .budget import step
from .enumerations import is_enumeration, member_of
from .library.dataclass_commands import SUBCLASSED
from .library.environment_settings import is_settings, read_environment
from .library.gin import bound_parameters
from .library.structures import nested
from .mappings import extends_mapping, inherited
from .modules import Modules
from .statements import Statements
from .trace import Call, Loop, Trace
from .tree import ROOT, SourceTree
from .values import UNKNOWN, Class, Function, Instance, Module, Scope, Term, Value, choice, dotted

DEEPEST_CALL = 28
MOST_NESTED = 4
"""Calls of one function inside itself that are followed."""


class Interpreter(Statements):
    """Follows one program of a tree.

    Args:
        tree: The tree.
        directory: Working directory, relative to the tree.
        search: Directories, relative to the tree, in which modules are looked for.
        argv: Words of the command line, the program's own name first.
        environment: Environment variables that are known.
        processes: Processes of the job.
        devices: Devices of one node.
    """

    def __init__(  # noqa: PLR0917  # all of them by name or place
        self,
        tree: SourceTree,
        directory: str,
        search: list[str],
        argv: list[str],
        environment: Mapping[str, str],
        processes: int,
        devices: int,
    ) -> None:
        self.tree, self.directory, self.argv = tree, directory, argv
        self.environment, self.processes, self.devices = dict(environment), processes, devices
        self.trace = Trace()
        self.modules = Modules(tree, search)
        self.loops: list[Loop] = []
        self.calls: list[Function] = []
        self.stored: dict[str, Value] = {}

    def run_file(self, name: str, as_name: str = "__main__") -> Module | None:
        """Follow a file of the tree as the program; null where it cannot be read."""
        parsed = self.modules.parse(name)
        if parsed is None:
            return None
        module = Module(as_name, name, package=False, names={"__name__": as_name, "__file__": self.absolute(name)})
        self.trace.entry = self.trace.entry or name
        if as_name == "__main__":
            self.trace.settings.append(("constants", module.names))
        self.execute_module(module, parsed)
        return module

    def absolute(self, name: str) -> str:
        """Return a name in the tree as the path that the program sees."""
        return f"{ROOT}/{name}"

    def execute_module(self, module: Module, parsed: ast.Module) -> None:
        """Follow a module's statements."""
        self.trace.files.append(module.file)
        scope = Scope(module.names, None, module)
        self.block(parsed.body, scope)

    # Calls of functions and the making of objects.

    def call_function(self, function: Function, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Follow a function of the tree; return what it returns."""
        node = function.node
        same = sum(each.node is node for each in self.calls)
        if len(self.calls) >= DEEPEST_CALL or same >= MOST_NESTED:
            return Term("call", function.name, (function, *arguments), keywords)
        if function.this is not None:
            arguments = (function.this, *arguments)
        arguments = (*function.bound_arguments, *arguments)
        keywords = {**function.bound_keywords, **keywords}
        names = self.parameters(function, arguments, keywords)
        scope = Scope(names, function.scope, function.scope.module, owner=function.owner, this=function.this)
        self.calls.append(function)
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, scope)
            self.block(node.body, scope)
        finally:
            self.calls.pop()
        if not scope.returned:
            return UNKNOWN if _yields(node) else None
        return choice(*scope.returned)

    def parameters(
        self, function: Function, arguments: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> dict[str, Value]:
        """Return what each parameter of a function is in a call."""
        spec = function.node.args
        places = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        names: dict[str, Value] = dict(
            zip(places[len(places) - len(function.defaults) :], function.defaults, strict=False)
        )
        names.update(function.keyword_defaults)
        names.update({key: each for key, each in bound_parameters(self, function).items() if key in _parameters(spec)})
        rest = dict(keywords)
        if "**" in rest:
            names.update(
                {name: Term("item", parts=(rest["**"], name)) for name in names}
            )  # any default may be replaced
        names.update(zip(places, arguments, strict=False))
        for name in [*places, *(each.arg for each in spec.kwonlyargs)]:
            if name in rest:
                names[name] = rest.pop(name)
            names.setdefault(name, UNKNOWN)
        if spec.vararg:
            names[spec.vararg.arg] = tuple(arguments[len(places) :])
        if spec.kwarg:
            names[spec.kwarg.arg] = rest
        return names

    def instantiate(self, cls: Class, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Make an object of a class of the tree: its fields, then its `__init__`; of an enumeration the member of that value."""
        if is_enumeration(cls) and len(arguments) == 1:
            return member_of(cls, arguments[0]) or UNKNOWN
        step(10)  # what it takes to look through the class
        instance = Instance(cls, {}, arguments, dict(keywords))
        lineage = list(cls.ancestry())
        if any(
            dotted(each).endswith(("dataclass", "define", "frozen", "struct.dataclass", "chz"))
            or "dataclass" in dotted(each)
            for one in lineage
            for each in one.decorators
        ) or any(
            base.endswith(
                (
                    "NamedTuple",
                    "BaseModel",
                    "BaseSettings",
                    "Struct",
                    "TypedDict",
                    "PretrainedConfig",
                    "TrainingArguments",
                    "Config",
                )
            )
            for base in cls.external_bases()
        ):
            self._fields(instance, lineage, arguments, keywords)
        if any(base.endswith("BaseModel") for base in cls.external_bases()):
            instance.names.update(
                nested(self, cls, {key: instance.names[key] for key in keywords if key in instance.names})
            )
        if is_settings(cls):
            read_environment(self, instance)
        init = cls.find("__init__")
        if isinstance(init, Function):
            self.call_function(self.bind(init, instance, cls), arguments, keywords)
        elif extends_mapping(instance):
            inherited(instance, "update", arguments, keywords)
        for base in cls.external_bases():
            if base in SUBCLASSED:
                made = SUBCLASSED[base](self, arguments, keywords)
                instance.names.update(made if isinstance(made, dict) else {})
        post = cls.find("__post_init__")
        if isinstance(post, Function):
            self.call_function(self.bind(post, instance, cls), (), {})
        return instance

    def _fields(
        self, instance: Instance, lineage: list[Class], arguments: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> None:
        names: list[str] = []
        for cls in reversed(lineage):
            for node in cls.node.body:
                step()
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    name = node.target.id
                    if name not in names:
                        names.append(name)
                    instance.names[name] = self.default_of(cls.names.get(name, UNKNOWN))
        if "**" in keywords:  # any field may be set by what is not known
            instance.names.update({name: Term("item", parts=(keywords["**"], name)) for name in names})
        for name, value in zip(names, arguments, strict=False):
            instance.names[name] = value
        instance.names.update({name: value for name, value in keywords.items() if name in names})

    def default_of(self, value: Value) -> Value:
        """Return the default that `field(default=…)` or `Field(…)` stands for."""
        if not (
            isinstance(value, Term) and value.kind == "call" and dotted(value.parts[0]).rpartition(".")[2] in _FIELDS
        ):
            return value
        if "default" in value.keywords:
            default = value.keywords["default"]
            options = value.parts[1] if len(value.parts) > 1 else None
            if isinstance(options, dict) and isinstance(default, str) and default in options:  # `subgroups` of classes
                default = options[default]
                return self.call(default, (), {}, None) if isinstance(default, Class) else default
            return default
        factory = value.keywords.get("default_factory", UNKNOWN)
        if factory is not UNKNOWN:
            return self.call(factory, (), {}, None)
        return value.parts[1] if len(value.parts) > 1 else UNKNOWN

    def record(
        self, called: Value, arguments: tuple[Value, ...], keywords: Mapping[str, Value], result: Value, line: int
    ) -> None:
        """Take a call up in the trace."""
        if self.trace.full:
            return
        bases = tuple(called.external_bases()) if isinstance(called, Class) else ()
        file = self.calls[-1].scope.module.file if self.calls else self.trace.entry
        functions = tuple(each.name for each in self.calls)
        self.trace.add(
            Call(dotted(called), called, arguments, keywords, result, tuple(self.loops), functions, bases, file, line)
        )

    def import_module(self, name: str) -> Value:
        """Return a module of the tree, followed once, or the name of a library's."""
        module, parsed = self.modules.find(name)
        if module is None:
            self.trace.imports.add(name.partition(".")[0])
            return self.external(name)
        if parsed is not None:
            loops, self.loops = self.loops, []
            try:
                self.execute_module(module, parsed)
            finally:
                self.loops = loops
            parent, _, last = name.rpartition(".")
            around = self.import_module(parent) if parent else None
            if isinstance(around, Module):
                around.names.setdefault(last, module)
        return module


_FIELDS = {"field", "Field", "ib", "attrib", "HfArg", "list_field", "dict_field", "choice", "flag", "arg", "subgroups"}


def _parameters(spec: ast.arguments) -> set[str]:
    return {each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}


def _yields(node: ast.AST) -> bool:
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(node))

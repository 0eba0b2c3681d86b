"""Statements of a shell script, in the order in which it reaches them: conditions, functions, loops (their first round), `cd`, `source`.

The syntax comes from tree-sitter's Bash grammar. Nothing is run. What a substitution `$(…)` would print is known of a few commands that
tell paths or repeat their words, and empty otherwise. Where a condition is not known, its first branch stands for it.
"""

import fnmatch
import re

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from ..registry import listed
from .arithmetic import evaluate
from .conditions import holds
from .state import MOST_ITEMS, Shell, ShellCommand
from .words import Words, printed

LONGEST_SCRIPT = 200_000
"""Characters; what comes after is not read."""
MOST_ROUNDS = 64
"""Rounds of a `while` whose condition is known."""

_PARSER = Parser(Language(tree_sitter_bash.language()))
_PLAIN = frozenset(
    listed("set mkdir rm ls sleep module ulimit cat cp mv touch trap wait type which true false : hash umask")
)
NEXT, BREAK, EXIT = "next", "break", "exit"


def _as_latin(text: str) -> bytes:
    """Return `text` for the parser, each of its UTF-8 bytes as a character of its own.

    The scanner of the grammar hands characters to `isalpha` of C, which reads outside its table above 255: that may end the process.
    """
    return text.encode(errors="replace").decode("latin-1").encode()


def _from_latin(parsed: bytes) -> str:
    """Return the text of what the parser was given."""
    return parsed.decode().encode("latin-1").decode(errors="replace")


class ShellStatements:
    """Follows statements in a shell's state."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._words = Words(shell, self._substitute)

    def run(self, text: str) -> str:
        """Follow a script's statements; return how it ends."""
        if self._shell.exhausted:
            return NEXT
        return self._block(_PARSER.parse(_as_latin(text[:LONGEST_SCRIPT])).root_node)

    def _block(self, node: Node) -> str:
        for each in node.named_children:
            signal = self._statement(each)
            if signal != NEXT:
                return signal
        return NEXT

    def _statement(self, node: Node) -> str:
        shell = self._shell
        shell.steps += 1
        if shell.exhausted:
            return EXIT
        handler = getattr(self, f"_{node.type}", None) if node.type in _STATEMENTS else None
        shell.depth += 1
        try:
            if handler is not None:
                found: str = handler(node)
                return found
            return self._block(node) if node.type in _BLOCKS else NEXT
        finally:
            shell.depth -= 1

    # Values.

    def _source(self, node: Node | None) -> str:
        return _from_latin(node.text or b"") if node is not None else ""

    def _substitute(self, shell: Shell, text: str) -> str:
        """Return what `$(text)` prints, as far as its commands tell."""
        if shell.exhausted:
            return ""
        inner = Shell(
            shell.tree,
            shell.directory,
            dict(shell.variables),
            list(shell.arguments),
            shell.script,
            shell.functions,
            steps=shell.steps,
            depth=shell.depth + 1,
        )
        ShellStatements(inner).run(text)
        shell.steps = inner.steps + 1
        if any(each.words[:1] == ["bc"] for each in inner.found):
            value = evaluate(inner, " ".join(inner.printed))
            return "" if value is None else str(value)
        return "" if inner.found else " ".join(inner.printed)

    def _condition(self, node: Node) -> bool | None:  # noqa: PLR0911  # a list of cases
        """Return whether a statement succeeds, where that is known."""
        if node.type == "test_command":
            opening = self._source(node.child(0))
            inside = node.named_children
            if opening == "((":
                value = evaluate(self._shell, self._words.text(self._source(node)[2:-2]))
                return None if value is None else bool(value)
            return holds(self._shell, [part for each in inside for part in self._test_words(each)])
        if node.type == "list":
            left, right = node.named_children[0], node.named_children[-1]
            first = self._condition(left)
            either = any(self._source(each) == "||" for each in node.children)
            if first is either:
                return first
            second = self._condition(right)
            return second if first is not None or second is either else None
        if node.type == "negated_command":
            inner = self._condition(node.named_children[0]) if node.named_children else None
            return None if inner is None else not inner
        if node.type == "command":
            words = self._command_words(node)
            if words[:1] == ["test"]:
                return holds(self._shell, words[1:])
            return {"true": True, ":": True, "false": False}.get(words[0]) if words else None
        if node.type == "compound_statement" and self._source(node).startswith("(("):
            value = evaluate(self._shell, self._words.text(self._source(node)[2:-2]))
            return None if value is None else bool(value)
        return None

    def _test_words(self, node: Node) -> list[str]:
        """Return the words of a test: operators as they stand, each operand one word."""
        if node.type in {"unary_expression", "binary_expression", "parenthesized_expression"}:
            operands = [each for each in node.children if self._source(each) not in {"(", ")"}]
            return [part for each in operands for part in self._test_words(each)]
        text = self._source(node)
        return (
            [text] if node.type in {"test_operator", "&&", "||", "!"} or not node.is_named else [self._words.text(text)]
        )

    # Statements.

    def _if_statement(self, node: Node) -> str:
        """Follow the branch that is taken; the first one that may be."""
        conditions = node.children_by_field_name("condition")
        known = self._condition(conditions[0]) if conditions else None
        body = [each for each in node.named_children if each not in conditions and each.type not in _BRANCHES]
        others = [each for each in node.named_children if each.type in _BRANCHES]
        if known is not False:
            signal = self._each(body)
            return NEXT if known is None and signal == EXIT else signal
        for branch in others:
            if branch.type == "else_clause":
                return self._block(branch)
            test, *rest = branch.named_children
            if self._condition(test) is not False:
                return self._each(rest)
        return NEXT

    def _each(self, nodes: list[Node]) -> str:
        for node in nodes:
            signal = self._statement(node)
            if signal != NEXT:
                return signal
        return NEXT

    def _case_statement(self, node: Node) -> str:
        value = self._words.text(self._source(node.child_by_field_name("value")))
        for item in (each for each in node.named_children if each.type == "case_item"):
            patterns = item.children_by_field_name("value")
            for pattern in patterns:
                wanted = self._words.text(self._source(pattern))
                if wanted.count("*") <= 4 and len(value) < 500 and fnmatch.fnmatchcase(value, wanted):
                    return self._each([each for each in item.named_children if each not in patterns])
        return NEXT

    def _for_statement(self, node: Node) -> str:
        name = self._source(node.child_by_field_name("variable"))
        values = [part for each in node.children_by_field_name("value") for part in self._items(self._source(each))]
        if not node.children_by_field_name("value"):
            values = list(self._shell.arguments)
        body = node.child_by_field_name("body")
        signal, before = NEXT, len(self._shell.found)
        for value in values[:MOST_ROUNDS] or [""]:
            self._shell.set(name, value)
            signal = self._block(body) if body is not None else NEXT
            if signal != NEXT or len(self._shell.found) > before:
                break  # one round tells what the others run; those that only set variables all count
        return NEXT if signal == BREAK else signal

    def _items(self, text: str) -> list[str]:
        """Return the fields of a word of a loop's list, `{1..3}` and `{a,b}` by their first item."""
        braced = re.fullmatch(r"(.*?)\{([^{},.]+)(?:,|\.\.)[^{}]*\}(.*)", text, re.DOTALL)
        return self._words.fields(f"{braced[1]}{braced[2]}{braced[3]}" if braced else text)

    def _c_style_for_statement(self, node: Node) -> str:
        first = node.child_by_field_name("initializer")
        if first is not None:
            evaluate(self._shell, self._source(first))
        body = node.child_by_field_name("body")
        signal = self._block(body) if body is not None else NEXT
        return NEXT if signal == BREAK else signal

    def _while_statement(self, node: Node) -> str:
        conditions = node.children_by_field_name("condition")
        body = node.child_by_field_name("body")
        for _ in range(MOST_ROUNDS):
            known = self._condition(conditions[0]) if conditions else None
            if self._source(node.child(0)) == "until" and known is not None:
                known = not known
            if known is False or body is None:
                break
            tested = conditions[0].type == "test_command"
            signal = self._block(body)
            if signal == EXIT:
                return signal
            if signal == BREAK or known is None or not tested:
                break
        return NEXT

    def _list(self, node: Node) -> str:
        """Follow `a && b` and `a || b`; what is not known to fail succeeds."""
        left, right = node.named_children[0], node.named_children[-1]
        either = any(self._source(each) == "||" for each in node.children)
        first = self._condition(left)
        if left.type not in _TESTS:
            signal = self._statement(left)
            if signal != NEXT:
                return signal
        succeeded = first if first is not None else True
        if left.type in _TESTS and first is None:
            succeeded = True
        return self._statement(right) if succeeded is not either else NEXT

    def _subshell(self, node: Node) -> str:
        shell = self._shell
        directory, variables = shell.directory, dict(shell.variables)
        signal = self._block(node)
        shell.directory, shell.variables = directory, variables
        return NEXT if signal == EXIT and not shell.exhausted else signal

    def _compound_statement(self, node: Node) -> str:
        if self._source(node).startswith("(("):
            evaluate(self._shell, self._words.text(self._source(node)[2:-2]))
            return NEXT
        return self._block(node)

    def _function_definition(self, node: Node) -> str:
        self._shell.functions[self._source(node.child_by_field_name("name"))] = node.child_by_field_name("body")
        return NEXT

    def _redirected_statement(self, node: Node) -> str:
        body = node.child_by_field_name("body")
        return self._statement(body) if body is not None else NEXT

    def _declaration_command(self, node: Node) -> str:
        for each in node.named_children:
            if each.type == "variable_assignment":
                self._variable_assignment(each)
            elif each.type in {"string", "concatenation", "simple_expansion"}:  # `export "$pair"`
                for word in self._words.fields(self._source(each)):
                    name, equals, value = word.partition("=")
                    if equals and name.isidentifier():
                        self._shell.set(name, value)
        return NEXT

    def _variable_assignment(self, node: Node) -> str:
        shell = self._shell
        target = node.child_by_field_name("name")
        name = self._source(target)
        value = node.child_by_field_name("value")
        added = any(self._source(each) == "+=" for each in node.children)
        if target is not None and target.type == "subscript":
            name, _, index = name.rstrip("]").partition("[")
            place, items = evaluate(shell, self._words.text(index)), shell.items(name)
            if place is not None and 0 <= place < MOST_ITEMS:
                items = [*items, *[""] * (place + 1 - len(items))]
                items[place] = self._words.text(self._source(value))
                shell.set(name, items)
            return NEXT
        if value is not None and value.type == "array":
            items = [part for each in value.named_children for part in self._words.fields(self._source(each))]
            shell.set(name, [*(shell.items(name) if added else []), *items])
            return NEXT
        text = self._words.text(self._source(value))
        if added and isinstance(shell.variables.get(name), list):
            shell.set(name, [f"{shell.text(name)}{text}", *shell.items(name)[1:]])
        else:
            shell.set(name, f"{shell.text(name) if added else ''}{text}")
        return NEXT

    def _variable_assignments(self, node: Node) -> str:
        return self._block(node)

    def _command_words(self, node: Node) -> list[str]:
        parts = [
            each for each in node.named_children if each.type != "variable_assignment" and "redirect" not in each.type
        ]
        return [part for each in parts for part in self._words.fields(self._source(each))]

    def _command(self, node: Node) -> str:
        shell = self._shell
        outside = dict(shell.variables)
        for each in node.named_children:
            if each.type == "variable_assignment":
                self._variable_assignment(each)
        inside, shell.variables = shell.variables, outside
        words = self._command_words(node)
        return self._called(words, {**inside}) if words else NEXT

    def _called(self, words: list[str], variables: dict[str, str | list[str]]) -> str:  # noqa: C901, PLR0912  # a list of cases
        shell = self._shell
        name, rest = words[0], words[1:]
        if name in shell.functions:
            return self._function(name, rest)
        if name in {"exit", "return", "break", "continue"}:
            return EXIT if name in {"exit", "return"} else BREAK
        if name in {"cd", "pushd"}:
            if rest:
                shell.directory = shell.tree.relative(rest[-1], shell.directory) or shell.directory
        elif name in {"source", "."} and rest:
            script = shell.tree.read(shell.tree.relative(rest[0], shell.directory))
            return self._sourced(script, rest) if script is not None else NEXT
        elif name == "eval":
            return self.run(" ".join(rest))
        elif name == "shift":
            del shell.arguments[: int(rest[0]) if rest and rest[0].isdigit() else 1]
        elif name == "set" and rest[:1] == ["--"]:
            shell.arguments = rest[1:]
        elif name == "let":
            for each in rest:
                evaluate(shell, each)
        elif name == "unset":
            for each in rest:
                shell.variables.pop(each, None)
        elif name in _PRINTING:
            shell.printed.append(printed(shell, words))
        elif name not in _PLAIN:
            texts = {key: value for key, value in variables.items() if isinstance(value, str)}
            shell.found.append(ShellCommand(words, shell.directory, texts))
        return NEXT

    def _sourced(self, script: str, words: list[str]) -> str:
        shell = self._shell
        before = shell.arguments
        shell.arguments = words[1:] or before
        shell.depth += 4
        try:
            self.run(script)
        finally:
            shell.depth -= 4
            shell.arguments = before
        return NEXT

    def _function(self, name: str, arguments: list[str]) -> str:
        shell = self._shell
        before, shell.arguments = shell.arguments, arguments
        shell.depth += 2
        try:
            self._statement(shell.functions[name])
        finally:
            shell.depth -= 2
            shell.arguments = before
        return NEXT


_STATEMENTS = frozenset(
    each[1:]
    for each in vars(ShellStatements)
    if each.endswith(("_statement", "_command", "_definition", "_assignment", "_assignments"))
) | {
    "list",
    "subshell",
    "command",
}
_BLOCKS = frozenset({"program", "pipeline", "do_group", "else_clause", "elif_clause", "ERROR", "negated_command"})
_BRANCHES = frozenset({"elif_clause", "else_clause"})
_TESTS = frozenset({"test_command", "negated_command"})
_PRINTING = frozenset({"echo", "printf", "pwd", "dirname", "basename", "realpath", "readlink", "expr"})

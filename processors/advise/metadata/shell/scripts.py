"""Scripts as lists of commands."""

import posixpath
import re
from collections.abc import Mapping

from ..tree import SourceTree
from .state import Shell, ShellCommand
from .statements import LONGEST_SCRIPT, ShellStatements

_ARRAY_JOB = re.compile(r"^#SBATCH\s+(?:--array[= ]|-a\s*)(\d+)", re.MULTILINE)


def commands(  # noqa: PLR0917  # all of them by name or place
    text: str,
    tree: SourceTree,
    directory: str,
    environment: Mapping[str, str],
    arguments: list[str],
    script: str = "",
) -> list[ShellCommand]:
    """Return the commands of a script in the order in which it reaches them.

    Args:
        text: The script.
        tree: Tree that it is part of.
        directory: Working directory, relative to the tree.
        environment: Variables that are known.
        arguments: What `$1`, `$2`, … are.
        script: What `$0` is.
    """
    shell = Shell(tree, directory, dict(environment), list(arguments), script)
    task = _ARRAY_JOB.search(text[:LONGEST_SCRIPT])
    if task:
        shell.variables.setdefault("SLURM_ARRAY_TASK_ID", task[1])
    ShellStatements(shell).run(_prepared(text))
    return shell.found


def _prepared(text: str) -> str:
    """Return a script without carriage returns, and without comments that stand inside a continued command.

    Bash ends the command there; whoever writes such a comment means the options below it too.
    """
    kept: list[str] = []
    for line in text[:LONGEST_SCRIPT].replace("\r\n", "\n").split("\n"):
        continued = bool(kept) and kept[-1].endswith("\\") and not kept[-1].lstrip().startswith("#")
        if not (continued and line.lstrip().startswith("#")):
            kept.append(line)
    return "\n".join(kept)


def is_script(name: str) -> bool:
    """Whether a file is a shell script by its name."""
    return posixpath.splitext(name)[1] in {".sh", ".bash", ".slurm", ".sbatch", ".job", ".zsh"}

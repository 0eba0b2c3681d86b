"""From the line that a user submits to the program that trains: its file, its words, its surroundings.

Launchers and wrappers are taken off: schedulers (`srun`, `sbatch`, `mpirun`), environments (`env`, `uv run`, `conda run`), launchers of
processes (`torchrun`, `accelerate launch`, `deepspeed`, `python -m torch.distributed.launch`, `horovodrun`), scripts, and `make` targets.
"""

import itertools
import posixpath
import re
from dataclasses import dataclass

from .makefile import Makefile
from .registry import listed
from .shell import ShellCommand, commands, is_script
from .tree import ROOT, SourceTree

DEEPEST = 8
MOST_PROGRAMS = 8

_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[0-9.]*(?:-u)?")
_COMMAND_FOLLOWS = re.compile(r"-[a-z]*c")
"""`bash -c`, `bash -lc`."""
_LAUNCHERS = frozenset(
    {
        "torchrun",
        "deepspeed",
        "colossalai",
        "paddle.distributed.launch",
        "horovodrun",
        "composer",
        "mosaic",
    }
)
_LAUNCH_MODULES = frozenset(
    {
        "torch.distributed.launch",
        "torch.distributed.run",
        "accelerate.commands.launch",
        "deepspeed.launcher.runner",
        "paddle.distributed.launch",
        "torch_xla.distributed.xla_dist",
        "bagua.distributed.launch",
        "colossalai.launch",
        "composer.cli.launcher",
    }
)
_SCHEDULERS = frozenset({"srun", "mpirun", "mpiexec", "sbatch", "salloc", "bsub", "qsub", "mpiexec.hydra"})
_WRAPPERS = frozenset(
    listed(
        """
    env nohup time nice exec numactl taskset xvfb-run stdbuf timeout sudo uv poetry pipenv conda mamba micromamba
    pixi hatch pdm rye nsys ncu py-spy singularity apptainer setsid unbuffer run run_ ionice chrt
    """
    )
)
_CONTAINERS = {"docker", "podman", "nerdctl"}
_SETS_VARIABLE = {"-e", "--env"}
_SWITCHES = frozenset(
    listed(
        """
    --standalone --no_python --no-python --multi_gpu --multi-gpu --use_deepspeed --use_fsdp --cpu --tpu --mps -u -O
    -B --use_env --use-env --no_local_rank --debug --same_network --oversubscribe --allow-run-as-root --exclusive
    --mpi --pty -l --verbose -v --quiet -m --module --no_ssh --force_multi --save_pid --enable_each_rank_log
    --use_megatron_lm --label --unbuffered --wait --parsable --nv --no-capture-output --live-stream --bind-to-core
    -s --frozen --no-sync --overlap --kill-on-bad-exit --dynamo_use_dynamic --fp16 --preserve-env -n1 --quiet-launch
    --isolated --active
    """
    )
)
_MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Program:
    """A Python program that the job runs.

    Attributes:
        file: Its file, relative to the tree; empty where it is `code`.
        argv: Its words, the program's own name first.
        directory: Working directory, relative to the tree.
        environment: Variables that its script sets.
        module: Whether it was started as a module (`python -m`).
        code: Source given on the command line (`python -c`).
        tool: Name of an installed command that is not in the tree (`lightning`, `trl`, …); `argv` are its words.
    """

    file: str
    argv: tuple[str, ...]
    directory: str
    environment: dict[str, str]
    module: bool = False
    code: str = ""
    tool: str = ""


def programs(tree: SourceTree, directory: str, command: str, environment: dict[str, str]) -> list[Program]:
    """Return the Python programs that a command starts, in their order, at most `MOST_PROGRAMS`."""
    found: list[Program] = []
    for each in commands(command, tree, directory, environment, []):
        found += _resolve(tree, each, 0)
        if len(found) >= MOST_PROGRAMS:
            break
    return found[:MOST_PROGRAMS]


def _resolve(tree: SourceTree, command: ShellCommand, depth: int) -> list[Program]:  # noqa: C901, PLR0911  # a list of cases
    words = command.words
    while words and depth <= DEEPEST:
        name = posixpath.basename(words[0])
        if _PYTHON.fullmatch(words[0]):
            return _python(tree, command, words[1:], depth)
        if name in _LAUNCHERS:
            return _after_options(tree, command, words[1:], depth)
        if name in {"accelerate", "ray", "bagua"}:
            words = words[2:] if name == "accelerate" else words[1:]
            return (
                _after_options(tree, command, words, depth)
                if name == "accelerate"
                else _scan(tree, command, words, depth)
            )
        if name in _CONTAINERS:
            given = dict(_assigned(value) for option, value in itertools.pairwise(words) if option in _SETS_VARIABLE)
            command = ShellCommand(words, command.directory, {**command.environment, **given})
            return _scan(tree, command, words[2:], depth)  # behind `run` or `exec`
        if name in _SCHEDULERS:
            return _scan(tree, command, words[1:], depth)
        if name in _WRAPPERS:
            words, given = _without_wrappers(words)
            command = ShellCommand(words, command.directory, {**command.environment, **given})
            continue
        if name in {"bash", "sh", "zsh"} or is_script(name):
            return _script(tree, command, words if is_script(name) else words[1:], depth)
        if name == "make":
            return _make(tree, command, words[1:], depth)
        if name.endswith(".py"):
            return _file(tree, command, words)
        return _other(tree, command, words, depth)
    return []


def _without_wrappers(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """Take a wrapper and its options off; return the words behind it and the variables that it sets."""
    rest = words[1:]
    given: dict[str, str] = {}
    if posixpath.basename(words[0]) in {"timeout", "taskset"} and rest and not rest[0].startswith("-"):
        return rest[1:], given
    while rest and (
        rest[0].startswith("-") or re.match(r"[A-Za-z_]\w*=", rest[0]) or rest[0] in {"run", "exec", "profile", "shell"}
    ):
        takes = (
            rest[0] in {"-n", "--name", "-p", "-c", "--extra", "--with", "--group", "-t", "-o", "--env"}
            and len(rest) > 1
        )
        given |= dict(_assigned(each) for each in rest[: 1 + takes] if "=" in each)
        rest = rest[2:] if takes else rest[1:]
    return rest, given


def _assigned(word: str) -> tuple[str, str]:
    """Return the name and the value of `NAME=VALUE`, `--env=NAME=VALUE`."""
    name, _, value = word.removeprefix("--env=").partition("=")
    return name, value


def _after_options(tree: SourceTree, command: ShellCommand, words: list[str], depth: int) -> list[Program]:
    """Return the program after a launcher's own options."""
    place, module = 0, False
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        module = module or word in {"-m", "--module"}
        if word in {"-m", "--module"} and place + 1 < len(words):
            place += 1
            break
        place += 1 if "=" in word or word in _SWITCHES or _is_entry(tree, command, words, place + 1) else 2
    rest = words[place:]
    if not rest:
        return []
    if module:
        return _module(tree, command, rest)
    if rest[0].endswith(".py") or tree.is_file(tree.relative(rest[0], command.directory)):
        return _file(tree, command, rest)
    return _resolve(tree, ShellCommand(rest, command.directory, command.environment), depth + 1)


def _is_entry(tree: SourceTree, command: ShellCommand, words: list[str], place: int) -> bool:
    return (
        place < len(words)
        and words[place].endswith(".py")
        and tree.is_file(tree.relative(words[place], command.directory))
    )


def _scan(tree: SourceTree, command: ShellCommand, words: list[str], depth: int) -> list[Program]:
    """Return the program behind a scheduler's options: the first word that is one."""
    for place, word in enumerate(words):
        name = posixpath.basename(word)
        wrapped = word.removeprefix("--wrap=") if word.startswith("--wrap") else ""
        if wrapped and wrapped != word:
            inner = commands(wrapped, tree, command.directory, command.environment, [])
            return [each for one in inner for each in _resolve(tree, one, depth + 1)]
        known = _PYTHON.fullmatch(word) or name in _LAUNCHERS | _WRAPPERS | _SCHEDULERS | {"bash", "sh", "accelerate"}
        if known or name.endswith(".py") or (is_script(name) and not word.startswith("-")):
            return _resolve(tree, ShellCommand(words[place:], command.directory, command.environment), depth + 1)
    return []


def _python(tree: SourceTree, command: ShellCommand, words: list[str], depth: int) -> list[Program]:
    place = 0
    while place < len(words):
        word = words[place]
        if word == "-c" and place + 1 < len(words):
            return [
                Program("", ("-c", *words[place + 2 :]), command.directory, command.environment, code=words[place + 1])
            ]
        if word == "-m" and place + 1 < len(words):
            if words[place + 1] in _LAUNCH_MODULES:
                return _after_options(tree, command, words[place + 2 :], depth)
            return _module(tree, command, words[place + 1 :])
        if word in {"-W", "-X"}:
            place += 1
        elif not word.startswith("-"):
            return _file(tree, command, words[place:])
        place += 1
    return []


def _file(tree: SourceTree, command: ShellCommand, words: list[str]) -> list[Program]:
    name = tree.relative(words[0], command.directory)
    if name is not None and tree.is_directory(name):
        name = posixpath.join(name, "__main__.py")
    if name is None or not tree.is_file(name):
        return []
    return [Program(name, tuple(words), command.directory, command.environment)]


def _module(tree: SourceTree, command: ShellCommand, words: list[str]) -> list[Program]:
    path = words[0].replace(".", "/")
    for base in (command.directory, ".", "src"):
        for ending in (f"{path}.py", f"{path}/__main__.py"):
            name = tree.relative(ending, base)
            if name is not None and tree.is_file(name):
                return [Program(name, tuple(words), command.directory, command.environment, module=True)]
    return [Program("", tuple(words), command.directory, command.environment, tool=words[0])]


def _script(tree: SourceTree, command: ShellCommand, words: list[str], depth: int) -> list[Program]:
    options = list(itertools.takewhile(lambda word: word.startswith("-"), words))
    place = next((place for place, each in enumerate(options) if _COMMAND_FOLLOWS.fullmatch(each)), None)
    if place is not None:
        text = words[place + 1] if place + 1 < len(words) else ""
        base, rest, file = command.directory, words[place + 2 :], "bash"
    else:
        words = words[len(options) :]
        name = tree.relative(words[0], command.directory) if words else None
        text = (tree.read(name) if name is not None else None) or ""
        base, rest, file = command.directory, words[1:], words[0] if words else ""
    if depth >= DEEPEST:
        return []
    found: list[Program] = []
    for each in commands(text, tree, base, command.environment, rest, file):
        found += _resolve(tree, each, depth + 1)
    return found


def _make(tree: SourceTree, command: ShellCommand, words: list[str], depth: int) -> list[Program]:
    base = command.directory
    given: dict[str, str] = {}
    targets: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        if word == "-C" and place + 1 < len(words):
            base = tree.relative(words[place + 1], base) or base
            place += 1
        elif "=" in word and not word.startswith("-"):
            name, _, value = word.partition("=")
            given[name] = value
        elif not word.startswith("-"):
            targets.append(word)
        place += 1
    text = next(
        filter(None, (tree.read(tree.relative(each, base)) for each in ("Makefile", "makefile", "GNUmakefile"))), ""
    )
    makefile = Makefile(_with_includes(tree, base, text), given, {"CURDIR": f"{ROOT}/{base}", **command.environment})
    environment = {**command.environment, **makefile.environment()}
    found: list[Program] = []
    for line in makefile.lines(targets) if depth < DEEPEST else []:
        for each in commands(line, tree, base, environment, []):  # each line has a shell of its own
            found += _resolve(tree, each, depth + 1)
    return found


def _with_includes(tree: SourceTree, base: str, text: str) -> str:
    """Return a makefile with the files that it includes in place of the lines that say so."""
    lines: list[str] = []
    for line in text.splitlines():
        names = line.split()[1:] if line.split()[:1] in (["include"], ["-include"], ["sinclude"]) else None
        lines += [line] if names is None else [tree.read(tree.relative(each, base)) or "" for each in names]
    return "\n".join(lines)


def _other(tree: SourceTree, command: ShellCommand, words: list[str], depth: int) -> list[Program]:
    """Return an installed command's program where the tree declares it, or the command by name."""
    name = tree.relative(words[0], command.directory)
    text = tree.read(name) if name is not None and tree.is_file(name) else None
    if text is not None:
        if text.startswith("#!") and "python" in text.partition("\n")[0]:
            return _file(tree, command, words)
        return _script(tree, command, words, depth)
    entry = _console_script(tree, posixpath.basename(words[0]))
    if entry:
        module, _, function = entry.partition(":")
        code = f"from {module} import {function}\n{function}()"
        return [Program("", tuple(words), command.directory, command.environment, code=code)]
    for place, word in enumerate(words):  # a launcher that is not known: `tune run recipe.py`, `run.pl LOG train.py`
        found = _installed(tree, command, word) if place and word.endswith(".py") else None
        if found is not None:
            return [Program(found, tuple(words[place:]), command.directory, command.environment)]
    recipe = _named_recipe(tree, words)
    if recipe is not None:
        return [Program(recipe[0], recipe[1:], command.directory, command.environment)]
    return [Program("", tuple(words), command.directory, command.environment, tool=posixpath.basename(words[0]))]


def _installed(tree: SourceTree, command: ShellCommand, word: str) -> str | None:
    """Return the file that a program's name means: beside the command, on its `PATH`, or the only one of this name."""
    places = [command.directory, *command.environment.get("PATH", "").split(":")]
    files = [tree.relative(posixpath.join(place, word), command.directory) for place in places if place]
    same = [each for each in tree.files() if posixpath.basename(each) == word]
    named = same if len(same) == 1 and "/" not in word else []
    return next((each for each in [*files, *named] if each is not None and tree.is_file(each)), None)


def _named_recipe(tree: SourceTree, words: list[str]) -> tuple[str, ...] | None:
    """Return the file and words of a program that a command names without its directory and ending; null without one.

    `tune run lora_single_device --config llama/8B` runs `recipes/lora_single_device.py` with `recipes/configs/llama/8B.yaml`.
    """
    files = tree.files()
    for place, word in enumerate(words):
        found = [each for each in files if posixpath.basename(each) == f"{word}.py"] if place else []
        if len(found) == 1 and "__main__" in (tree.read(found[0]) or ""):
            rest = words[place + 1 :]
            named = [[each for each in files if each.endswith(f"/{part}.yaml")] if "/" in part else [] for part in rest]
            return (
                found[0],
                found[0],
                *(hit[0] if len(hit) == 1 else part for part, hit in zip(rest, named, strict=True)),
            )
    return None


def _console_script(tree: SourceTree, name: str) -> str:
    """Return `module:function` of a command that the tree's package installs; empty where it installs none of this name."""
    for file in ("pyproject.toml", "setup.py", "setup.cfg"):
        text = tree.read(file) or ""
        for line in text.splitlines()[:_MOST_LINES]:
            left, equals, right = (part.strip(" \t\"',[]()") for part in line.partition("="))
            if equals and left == name and ":" in right and right.replace(":", "").replace(".", "").isidentifier():
                return right
    return ""

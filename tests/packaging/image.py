"""Carries out a Dockerfile without an engine: each stage in a root directory with this machine's programs and Python, and nothing else.

Only what our Dockerfile uses is known. A stage's base image is replaced by this machine: /usr and Python, mounted read-only.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

PYTHON = Path(sys.base_prefix)
ETC = ("passwd", "group", "shadow", "gshadow", "login.defs", "nsswitch.conf", "hosts", "resolv.conf", "ssl", "pip.conf")
LINKED = ("bin", "sbin", "lib", "lib64")
SHOW = """
set -e
for place in /usr {python}; do
  mount --bind "$place" "{root}$place"
  mount -o remount,bind,ro "{root}$place"
done
mount --rbind /dev {root}/dev
mount -t proc proc {root}/proc
exec chroot --userspec={user} {root} env -i {environment} sh -c {command}
"""


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile: each with what stands behind it, continued lines joined, comments gone."""
    joined = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in joined.splitlines() if line.strip()]


@dataclass
class Stage:
    """One stage as it stands so far."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    directory: str = "/"
    user: str = "0:0"

    @classmethod
    def begun(cls, root: Path) -> "Stage":
        for name in ("usr", "dev", "proc", "tmp", "etc", "var/lib", "opt", str(PYTHON).lstrip("/")):
            (root / name).mkdir(parents=True)
        (root / "tmp").chmod(0o1777)
        for ancestor in [Path(*PYTHON.parts[1:]), *Path(*PYTHON.parts[1:]).parents]:
            (root / ancestor).chmod(0o755)
        for name in filter(lambda name: Path("/", name).is_symlink(), LINKED):
            (root / name).symlink_to(Path("/", name).readlink())
        for name in filter(lambda name: Path("/etc", name).exists(), ETC):
            copy = shutil.copytree if Path("/etc", name).is_dir() else shutil.copy
            copy(Path("/etc", name), root / "etc" / name)
        return cls(root, {"PATH": f"{PYTHON}/bin:/usr/sbin:/usr/bin:/sbin:/bin", **_of_pip()})

    def run(self, command: str, changes: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        named = self.arguments | self.environment | dict(changes or {})
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in named.items())
        script = SHOW.format(
            root=self.root,
            python=PYTHON,
            user=self.user,
            environment=given,
            command=shlex.quote(f"cd {self.directory} && {command}"),
        )
        return subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


def _of_pip() -> dict[str, str]:
    """How this machine reaches its packages."""
    return {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "SSL_CERT_FILE"}


def build(context: Path, directory: Path) -> tuple[Stage, dict[str, str]]:
    """Carry out `context`/Dockerfile below `directory`; return its last stage, and the last of each instruction."""
    stages: dict[str, Stage] = {}
    stage, last = Stage(directory), {}
    for word, rest in instructions((context / "Dockerfile").read_text()):
        text = rest if word in ("RUN", "CMD", "HEALTHCHECK") else Template(rest).safe_substitute(stage.environment)
        last[word] = text
        if word == "FROM":
            stage = Stage.begun(directory / str(len(stages)))
            stages[text.partition(" AS ")[2] or "last"] = stage
        elif word == "ARG":
            name, _, value = text.partition("=")
            stage.arguments[name] = value.strip('"')
        elif word == "ENV":
            stage.environment |= dict(pair.split("=", 1) for pair in shlex.split(text))
        elif word == "WORKDIR":
            stage.directory = text
            _inside(stage, text).mkdir(parents=True, exist_ok=True)
        elif word == "USER":
            stage.user = text
        elif word == "COPY":
            _copy(context, stages, stage, text.split())
        elif word == "RUN":
            done = stage.run(text)
            assert done.returncode == 0, f"RUN {text}\n{done.stdout}{done.stderr}"
    return stage, last


def _inside(stage: Stage, place: str) -> Path:
    return stage.root / os.path.normpath(os.path.join(stage.directory, place)).lstrip("/")  # noqa: PTH118


def _copy(context: Path, stages: Mapping[str, Stage], stage: Stage, words: list[str]) -> None:
    *sources, target = [word for word in words if not word.startswith("--")]
    named = [word.removeprefix("--from=") for word in words if word.startswith("--from=")]
    beginning = stages[named[0]].root if named else context
    for source in sources:
        found, place = beginning / source.lstrip("/"), _inside(stage, target)
        if found.is_dir():
            shutil.copytree(
                found, place, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(found, place)

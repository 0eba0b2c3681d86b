"""Makes the corpus again: `python -m benchmarks.corpus.generate [FRAMEWORK[/SETUP] …]`, all of it without arguments."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

from . import capture, label
from .plan import ENVIRONMENTS, HERE, PROJECT, Framework, load
from .scrub import Scrubber

LIMIT = 240.0
"""Seconds that one run may take."""

_KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "SSL_CERT_FILE")


def environment(group: str, steps: list[list[str]], root: Path) -> Path:
    """Make the virtual environment of a group, where there is none, and return its interpreter.

    Several groups share large packages: uv links them from its cache instead of copying them.
    """
    folder = root / group
    python = folder / "bin" / "python"
    done = folder / ".installed"
    if done.exists():
        return python
    uv = root / "uv" / "bin" / "uv"
    if not uv.exists():
        subprocess.run([sys.executable, "-m", "venv", root / "uv"], check=True)
        subprocess.run([root / "uv" / "bin" / "pip", "install", "--quiet", "uv"], check=True)
    settings = os.environ | {"UV_CACHE_DIR": str(root / "uv-cache"), "UV_HTTP_TIMEOUT": "180"}
    if not python.exists():
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True, env=settings)
    for packages in steps:
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *packages], check=True, env=settings)
    done.touch()
    return python


def versions(python: Path, packages: list[str]) -> dict[str, str]:
    """Return the installed versions of `packages` and of Python."""
    site = next((python.parent.parent / "lib").glob("python3*")) / "site-packages"
    installed = {_normal(each.metadata["Name"]): each.version for each in distributions(path=[str(site)])}
    asked = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    return {"python": asked} | {name: installed[_normal(name)] for name in packages}


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def generate(framework: Framework, setup: str, python: Path, root: Path) -> bool:
    """Run one set-up and keep its log, arrival times, truth and versions. Return whether that went well."""
    folder = framework.logs / setup
    with tempfile.TemporaryDirectory(prefix="corpus-") as scratch:
        directory = Path(scratch)
        truth = directory / "truth.json"
        home = directory / "home"
        home.mkdir()
        variables = {name: os.environ[name] for name in _KEPT if name in os.environ}
        variables |= {
            "PATH": f"{python.parent}:{variables.get('PATH', '')}",
            "HOME": str(home),
            "USER": "user",
            "LOGNAME": "user",
            "PYTHONPATH": str(HERE),
            "PYTHONSAFEPATH": "1",  # a program named after its framework must not hide it
            "PYTHONUNBUFFERED": "1",
            "CORPUS_TRUTH": str(truth),
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "TORCH_EXTENSIONS_DIR": str(root / "extensions"),  # what a framework compiles, it compiles once
            "CUDA_VISIBLE_DEVICES": "",
            "TERM": "xterm-256color" if setup in framework.terminal else "dumb",
            "COLUMNS": "120",
        }
        ranks = framework.ranks.get(setup, 0)
        launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"] if ranks else []
        command = [str(python), *launch, str(framework.program), setup]
        captured = capture.run(command, variables, home, LIMIT, setup in framework.terminal)
        scrubber = Scrubber(
            {
                home: "/home/user/run",
                directory: "/home/user",
                HERE / "runs": "/home/user/project",
                python.parent.parent: "/opt/venv",
                root: "/opt",
                PROJECT: "/home/user/project",
                Path(sys.base_prefix): "/opt/python",
                Path.home(): "/home/user",
            }
        )
        if captured.code or not truth.exists():
            tail = b"".join(piece for piece, _ in captured.pieces[-30:]).decode(errors="replace")
            print(f"{framework.name}/{setup}: exit code {captured.code}\n{tail}", file=sys.stderr)
            return False
        captured.pieces = scrubber.scrub_all(captured.pieces)
        folder.mkdir(parents=True, exist_ok=True)
        capture.write(folder, captured)
        known = {"framework": framework.name, "setup": setup}
        (folder / "truth.json").write_text(json.dumps(known | json.loads(truth.read_text()), indent=None) + "\n")
        noted = versions(python, framework.packages)
        (folder / "versions.json").write_text(json.dumps(noted, indent=1) + "\n")
        label.write(folder, label.load_rules())
    return True


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus.generate", description=__doc__)
    parser.add_argument(
        "--environments", type=Path, default=ENVIRONMENTS, help="where the virtual environments are kept"
    )
    parser.add_argument("names", nargs="*", metavar="FRAMEWORK[/SETUP]")
    options = parser.parse_args()
    groups, frameworks = load()
    failed = []
    for name in options.names or frameworks:
        framework = frameworks[name.split("/")[0]]
        python = environment(framework.group, groups[framework.group], options.environments.resolve())
        for setup in framework.setups if "/" not in name else [name.split("/")[1]]:
            print(f"{framework.name}/{setup}", flush=True)
            if not generate(framework, setup, python, options.environments.resolve()):
                failed.append(f"{framework.name}/{setup}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()

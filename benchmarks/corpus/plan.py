"""What there is to run: groups of packages, frameworks and their set-ups, as environments.toml says."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
LOGS = HERE / "logs"
BLIND_LOGS = HERE / "blind" / "logs"
"""Apart from the others, so that nothing that is made of those (exemplars, weights) is made of these."""
BLIND = "blind"
SPLITS = ("development", "held-out", BLIND)
PROJECT = HERE.parent.parent
ENVIRONMENTS = PROJECT / ".cache" / "corpus"


@dataclass(frozen=True)
class Framework:
    """One framework or loop, and how to run it.

    Attributes:
        name: Its name: the program is runs/NAME.py.
        group: The group of packages that it needs.
        split: `development` (its formats may be looked at while the tracker is made), `held-out` (they were not meant to be; a hash of
            the name chose) or `blind` (nobody changed code after looking at them).
        packages: The packages whose versions are noted beside the logs.
        setups: The names of its logging set-ups, arguments of the program.
        ranks: Processes that torchrun starts, by set-up; 0 where the program is started plainly.
        terminal: Set-ups that run on a (pseudo) terminal, for bars that are drawn nowhere else.
    """

    name: str
    group: str
    split: str
    packages: list[str]
    setups: list[str]
    ranks: dict[str, int] = field(default_factory=dict)
    terminal: list[str] = field(default_factory=list)

    @property
    def program(self) -> Path:
        """The program that trains."""
        return HERE / "runs" / f"{self.name}.py"

    @property
    def logs(self) -> Path:
        """The folder of its logs, one folder in it a set-up."""
        return (BLIND_LOGS if self.split == BLIND else LOGS) / self.name


def load() -> tuple[dict[str, list[list[str]]], dict[str, Framework]]:
    """Return the groups, each a list of what is installed in one go, and the frameworks."""
    content = tomllib.loads((HERE / "environments.toml").read_text())
    groups = {name: group["install"] for name, group in content["groups"].items()}
    frameworks = {name: Framework(name=name, **entry) for name, entry in content["frameworks"].items()}
    return groups, frameworks

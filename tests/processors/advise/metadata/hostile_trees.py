"""Source trees that make a reader work without end: each is its files and its command."""

TRAINING = """
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
loader = DataLoader(CIFAR10("data"), batch_size=64)
for epoch in range(7):
    for x, y in loader:
        model(x).sum().backward()
        optimizer.step()
"""
"""A loop whose length, batch size and learning rate are known."""

Tree = tuple[dict[str, str], str]


def program(source: str, command: str = "python x.py", **files: str) -> Tree:
    """A program that does something hostile and then trains."""
    return {"x.py": f"{source}\n{TRAINING}", **{name.replace("__", "."): text for name, text in files.items()}}, command


def doubled(line: str, levels: int, copies: int = 9) -> str:
    """Lines `line` of `levels` levels, each with many copies of the level before it: `{n}` is the level, `{each}` the copies."""
    return "\n".join(
        line.format(n=level, each=", ".join(f"x{level - 1}" for _ in range(copies))) for level in range(1, levels)
    )


def dataclasses_in_one_another(default: str, levels: int = 25) -> str:
    """Data classes that each hold nine of the class before."""
    fields = [
        "".join(f"    f{each}: C{level - 1} = {default.format(level - 1)}\n" for each in range(9))
        for level in range(1, levels)
    ]
    classes = "".join(f"@dataclasses.dataclass\nclass C{level}:\n{each}" for level, each in enumerate(fields, 1))
    return f"import dataclasses\n@dataclasses.dataclass\nclass C0:\n    x: int = 1\n{classes}"


_YAML = "import argparse, yaml\np = argparse.ArgumentParser()\np.add_argument('--config')\nc = yaml.safe_load(open(p.parse_args().config))"
_WITH_FILE = "python x.py --config c.yaml"
_MERGES = "x0: &x0 {k: 1}\n" + "\n".join(f"x{n}: &x{n} {{<<: [{', '.join([f'*x{n - 1}'] * 9)}]}}" for n in range(1, 30))
_ALIASES = "x0: &x0 [a]\n" + "\n".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 30))
_REFERENCES = "".join(f"a{n}: [{', '.join([f'${{a{n + 1}}}'] * 900)}]\n" for n in range(8)) + "a8: 1\n"
_HYDRA = "import hydra\n@hydra.main(config_path='.', config_name='c')\ndef main(cfg):\n    pass\nmain()"
_DEFAULTS = "defaults:\n" + "".join(f"  - g{each}\n" for each in range(9))

TREES: dict[str, Tree] = {
    "shared data classes": program(
        f"{dataclasses_in_one_another('None')}\nx0 = C0()\n{doubled('x{n} = C{n}({each})', 25)}",
        "python x.py --thing [1,2]",
    ),
    "data classes made again for each field": program(
        f"{dataclasses_in_one_another('dataclasses.field(default_factory=C{})')}\nc = C24()"
    ),
    "shared lists": program(f"x0 = [1]\n{doubled('x{n} = [{each}]', 40)}", "python x.py --thing a"),
    "shared calls": program(
        f"import lib\nx0 = lib.f()\n{doubled('x{n} = lib.g({each})', 90)}", "python x.py --thing a"
    ),
    "shared dictionaries": program(
        "x0 = dict(a=1)\n"
        + "\n".join(f"x{n} = dict({', '.join(f'k{k}=x{n - 1}' for k in range(9))})" for n in range(1, 40))
    ),
    "yaml aliases": program(_YAML, _WITH_FILE, c__yaml=_ALIASES),
    "yaml merges": program(_YAML, _WITH_FILE, c__yaml=_MERGES),
    "yaml of 340,000 nodes": program(_YAML, _WITH_FILE, c__yaml=f"a: [{'{},' * 340_000}]"),
    "references to references": program(
        "from omegaconf import OmegaConf\nc = OmegaConf.load('c.yaml')", c__yaml=_REFERENCES
    ),
    "defaults of defaults": program(_HYDRA, c__yaml=_DEFAULTS, **{f"g{each}__yaml": _DEFAULTS for each in range(9)}),
    "deep json": program("import json\nc = json.load(open('c.json'))", c__json="[" * 400_000),
    "deep toml": program("", "python x.py --config c.toml", c__toml="a = " + "[" * 500_000),
    "a list of 500,000 numbers": program(f"x = [{'0,' * 500_000}]"),
    "a sum of 500,000 numbers": program(f"x = 1{'+1' * 500_000}"),
    "300 modules of large lists": program(
        "\n".join(f"import m{n}" for n in range(300)), **{f"m{n}__py": f"x = [{'0,' * 20_000}]" for n in range(300)}
    ),
    "functions that call two others": program(
        "\n".join(f"def f{n}(): return f{n + 1}() + f{n + 1}()" for n in range(27)) + "\nf0()"
    ),
    "functions of functions": program("f = lambda x: x\n" + "f = (lambda g: lambda x: g(g(g(x))))(f)\n" * 30 + "f(1)"),
    "loops that keep texts": program(
        "x = []\nfor i in [1] * 250:\n    for j in [1] * 250:\n        x.append(('a' * 9000) + ('b' * 9000))"
    ),
    "a list that doubles": program("x = [1]\n" + "x = [*x, *x]\n" * 60),
    "a text that doubles": program("x = 'ab'\nfor i in [1] * 250:\n    x = f'{x}{x}'[:90000]\n    y = (x, x.upper())"),
    "numbers of many digits": program(f"x = 7\nfor i in [1] * 250:\n    x = x * x\nepochs = {'9' * 4000}"),
    "8,000 options": program(
        "import argparse\np = argparse.ArgumentParser()\n"
        + "".join(f"p.add_argument('--a{n}', default={n})\n" for n in range(8000))
        + "a = p.parse_args()",
        f"python x.py {' '.join(f'--a{n} 3' for n in range(400))}",
    ),
    "comparisons of shared lists": program(
        f"x0 = [1]\n{doubled('x{n} = [{each}]', 40)}\ny0 = [1]\n{doubled('x{n} = [{each}]', 40).replace('x', 'y')}\n"
        "if x39 == y39: pass\nz = x39 in [y39]\n[x39].index(y39)\n[x39].remove(y39)\nif x39 < y39: pass"
    ),
    "hashes of shared tuples": program(
        f"x0 = (1,)\n{doubled('x{n} = ({each})', 40)}\nd = {{'a': 1}}\nd[x39]\nd.get(x39)\nset([x39])\n{{1}}.union([x39])\nd[x39] = 1"
    ),
    "configurations of shared data classes": program(
        f"{dataclasses_in_one_another('None')}\nx0 = C0()\n{doubled('x{n} = C{n}({each})', 25)}\n"
        "from omegaconf import OmegaConf\nc = OmegaConf.structured(x24)\nimport dataclasses\nd = dataclasses.asdict(x24)\ne = f'{x24}'"
    ),
    "9,000 words": ({"x.py": TRAINING}, f"python x.py {' '.join(f'--b{n}=[[[[{n}]]]]' for n in range(9000))}"),
    "a script of loops": (
        {
            "x.sh": "for i in {1..99999}; do for j in {1..99999}; do python y.py; done; done\npython x.py\n",
            "x.py": TRAINING,
        },
        "bash x.sh",
    ),
    "6,000 files": (
        {
            **{f"d{n % 40}/{'e/' * (n % 9)}f{n}.py": "x = 1\n" for n in range(6000)},
            "x.py": f"import d0, d1, d2\n{TRAINING}",
        },
        "python x.py",
    ),
}
CUT = {
    "loops that keep texts",
    "a list of 500,000 numbers",
    "a sum of 500,000 numbers",
    "300 modules of large lists",
    "8,000 options",
    "9,000 words",
    "a script of loops",
}
"""Trees of which the training is not read: what comes before it takes all that there is."""

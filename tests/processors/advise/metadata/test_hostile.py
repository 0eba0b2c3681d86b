"""Whatever a tree holds, reading it is bounded and never fails, and runs nothing."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.advise.metadata import Job
from processors.advise.metadata.library.parsing import parse_json, parse_toml, parse_yaml
from processors.advise.metadata.reading import workload as read
from processors.advise.metadata.shell import commands
from scheduler_bridge.sources.tree import DirectoryTree

from .trees import workload

BOMBS = {
    "power": "x = 10 ** 10 ** 10\ny = 'a' * 10 ** 12\n",
    "format": "x = '{:>999999999}'.format(1)\ny = '%999999999d' % 1\n",
    "doubling": "x = 'a'\n" + "x = x + x\n" * 60,
    "replace": "x = 'a' * 9000\ny = x.replace('a', x).replace('a', x)\n",
    "join": "x = ('b' * 9000).join(['a' * 9000] * 9000)\n",
    "deep": "x = " + "(" * 5000 + ")" * 5000,
    "nested": "x = " + "-" * 3000 + "1",
    "recursion": "def f(n):\n    return f(n + 1) + f(n + 2)\nf(0)\n",
    "loops": "\n".join("    " * i + f"for a{i} in [1] * 5000:" for i in range(8)) + "\n" + "    " * 8 + "f(a0)\n",
    "mutual": "class A:\n    def __init__(self):\n        self.b = B()\nclass B:\n    def __init__(self):\n        self.a = A()\nA()\n",
    "growing": "x = []\nfor i in [1] * 60:\n    x.extend(x + [1])\n",
    "listing": "import os, glob\nfor a in [1] * 250:\n    for b in [1] * 250:\n        os.listdir('.')\n        glob.glob('*' * 90)\n",
    "missing": "from collections import defaultdict\nx = defaultdict(lambda: x[len(x)])\nx[0]\n",
    "members": "import enum\nclass E(enum.Enum):\n    a = 1\nfor e in E:\n    E(e)\n    E[e]\n    {e: e}[e].value.value\n",
    "cycle": "x = {}\nx['x'] = x\nimport copy\ncopy.deepcopy(x)\nimport torch\ntorch.optim.SGD(x, lr=1)\n",
    "inherit": "class A(A):\n    pass\nclass B(B, A): pass\nB()\n",
    "exec": 'exec(\'exec("x = 1" * 1)\')\neval(\'__import__("os").system("touch ran")\')\n',
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_program_that_would_never_end(kind: str, tmp_path: Path) -> None:
    workload(tmp_path, {"x.py": BOMBS[kind]}, "python x.py")


def test_nothing_runs(tmp_path: Path) -> None:
    source = "import os\nos.system('touch ran')\nopen('written', 'w').write('x')\n__import__('subprocess').run(['touch', 'ran'])\n"
    workload(
        tmp_path,
        {"x.py": source, "x.sh": "touch ran\n$(touch ran)\npython x.py `touch ran`\n"},
        "bash x.sh $(touch ran)",
    )
    assert sorted(each.name for each in tmp_path.iterdir()) == ["x.py", "x.sh"]


def test_aliases_that_repeat_without_end() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert parse_yaml("\n".join(lines)) is None


@pytest.mark.parametrize("text", ["/*" * 500_000, '"' + '\\\\"' * 500_000, ", " * 500_000])
def test_comments_and_texts_without_an_end(text: str) -> None:
    assert parse_json(text) is None


def test_tags_of_yaml_make_no_objects() -> None:
    assert parse_yaml("x: !!python/object/apply:os.system ['touch ran']") == {"x": ["touch ran"]}


def test_configurations_that_include_each_other(tmp_path: Path) -> None:
    files = {
        "a.py": "_base_ = ['b.py']\n",
        "b.py": "_base_ = ['a.py']\n",
        "x.py": "from mmengine.config import Config\nConfig.fromfile('a.py')\n",
        "y.yaml": "defaults:\n  - y\na: ${a}\nb: ${c}\nc: ${b}${b}${b}\n",
        "y.py": "import hydra\n@hydra.main(config_path='.', config_name='y')\ndef main(cfg):\n    pass\nmain()\n",
    }
    workload(tmp_path, files, "python x.py; python y.py")


@given(st.text(max_size=200))
def test_any_script_is_read(text: str) -> None:
    for words, _, environment in commands(text, ".", {}, ["1"]):
        assert all(isinstance(each, str) for each in (*words, *environment.values()))


@given(st.text(max_size=200))
def test_any_document_is_read_or_null(text: str) -> None:
    for parse in (parse_yaml, parse_json, parse_toml):
        parse(text)


_NAMES = st.sampled_from(
    ["torch", "model", "args", "x", "cfg", "self", "open", "range", "getattr", "dict", "zip", "type"]
)
_EXPRESSIONS = st.recursive(
    _NAMES | st.integers(-5, 10**6).map(str) | st.sampled_from(["'a'", "None", "[]", "{}", "()"]),
    lambda inner: (
        st.tuples(inner, inner).map(lambda two: f"{two[0]}({two[1]})")
        | st.tuples(inner, _NAMES).map(lambda two: f"({two[0]}).{two[1]}")
        | st.tuples(inner, inner).map(lambda two: f"({two[0]})[{two[1]}]")
        | st.tuples(inner, st.sampled_from(["+", "*", "/", "%", "<", "in", "and", "**"]), inner).map(" ".join)
    ),
    max_leaves=8,
)
_STATEMENTS = st.lists(
    _EXPRESSIONS.map(lambda each: f"x = {each}")
    | _EXPRESSIONS.map(lambda each: f"for model in {each}:\n    x = model\n    loss.backward()")
    | _EXPRESSIONS.map(lambda each: f"if {each}:\n    cfg = x\nelse:\n    args = 1")
    | _EXPRESSIONS.map(lambda each: f"args.{'x'} = {each}"),
    max_size=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_STATEMENTS)
def test_any_program_is_read(tmp_path: Path, lines: list[str]) -> None:
    (tmp_path / "x.py").write_text("import torch\n" + "\n".join(lines))
    found = read(DirectoryTree(tmp_path), Job(tmp_path, tmp_path, "python x.py"))
    json.dumps({name: getattr(found, name) for name in found.__struct_fields__})

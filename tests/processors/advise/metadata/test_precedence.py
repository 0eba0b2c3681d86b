"""Which of several values holds: what the user wrote, one entry of a table, or none where alternatives differ."""

from pathlib import Path

import pytest

from .trees import LOOP, NETS, workload


def test_a_number_with_two_alternatives_is_null(tmp_path: Path) -> None:
    source = LOOP.replace(
        "    model = TinyNet",
        "    if torch.cuda.get_device_name() == 'x':\n        args.epochs = 3\n    model = TinyNet",
    )
    assert workload(tmp_path, {"x.py": source, "nets.py": NETS}, "python x.py").iters is None


def test_one_alternative_of_equal_ones_holds(tmp_path: Path) -> None:
    source = LOOP.replace(
        "    model = TinyNet",
        "    if torch.cuda.get_device_name() == 'x':\n        args.epochs = 10\n    model = TinyNet",
    )
    assert workload(tmp_path, {"x.py": source, "nets.py": NETS}, "python x.py").iters == 10


TABLE = """
import sys, yaml, some_library
settings = yaml.safe_load(open("table.yaml"))
some_library.fit(settings, sys.argv)
"""
ENTRIES = """
small: {learning_rate: 0.1, batch_size: 8, depth: 1}
middle: {learning_rate: 0.2, batch_size: 16, depth: 2}
large: {learning_rate: 0.3, batch_size: 32, depth: 3}
"""


def test_the_entry_that_the_command_names_counts(tmp_path: Path) -> None:
    found = workload(tmp_path, {"x.py": TABLE, "table.yaml": ENTRIES}, "python x.py --size middle")
    assert (found.lr, found.batch_size) == (0.2, 16)


def test_no_entry_counts_where_the_command_names_none(tmp_path: Path) -> None:
    found = workload(tmp_path, {"x.py": TABLE, "table.yaml": ENTRIES}, "python x.py")
    assert (found.lr, found.batch_size) == (None, None)


def test_the_environment_goes_before_its_default(tmp_path: Path) -> None:
    source = LOOP.replace("default=10)", 'default=int(os.environ.get("EPOCHS", 10)))').replace(
        "import torch", "import os, torch", 1
    )
    script = {"run.sh": "export EPOCHS=${EPOCHS:-7}\npython x.py $@\n", "x.py": source, "nets.py": NETS}
    assert workload(tmp_path, script, "bash run.sh").iters == 7
    assert workload(tmp_path, script, "EPOCHS=8 bash run.sh").iters == 8
    assert workload(tmp_path, script, "EPOCHS=8 bash run.sh --epochs 9").iters == 9


def test_a_script_knows_its_allocation(tmp_path: Path) -> None:
    script = {"run.sh": "python x.py --epochs $((2 * SLURM_NNODES))\n", "x.py": LOOP, "nets.py": NETS}
    assert workload(tmp_path, script, "sbatch run.sh", nodes=3).iters == 6


@pytest.mark.parametrize(
    ("option", "command", "rates"),
    [
        ('action="append", type=float', "--rate 0.5 --rate 0.2", [0.5, 0.2]),
        ('action="append", type=float, default=[0.3]', "--rate 0.5", [0.3, 0.5]),
        ('action="append", type=float, default=[0.3]', "", [0.3]),
        ('action="extend", nargs="+", type=float', "--rate 0.5 0.2", [0.5, 0.2]),
    ],
)
def test_repeated_options_add_up(tmp_path: Path, option: str, command: str, rates: list[float]) -> None:
    source = LOOP.replace(
        '"--lr", type=float, default=0.1)',
        f'"--rate", {option})\n    parser.add_argument("-v", action="count", default=0)',
    )
    source = source.replace("lr=args.lr", "lr=args.rate[-1]").replace("epochs)", "epochs + len(args.rate))", 1)
    found = workload(tmp_path, {"x.py": source, "nets.py": NETS}, f"python x.py -vv --epochs 7 {command}")
    assert (found.lr, found.iters) == (rates[-1], 7 + len(rates))

import pytest

from processors.advise.metadata.makefile import Makefile

TEXT = """
# a comment
MODEL ?= small
RATE = $(BASE)e-4   # of the optimizer
BASE := 3
FLAGS = --model $(MODEL) \\
        --lr $(RATE)
export SEED = 7
ifeq ($(MODEL),huge)
BATCH = 8
else ifneq ($(strip $(FAST)),)
BATCH = 64
else
BATCH = 16
endif
FLAGS += --batch $(BATCH)

.PHONY: train large
train: data
	@echo start
	-python train.py $(FLAGS) --root $$HOME

data:
	python prepare.py

large: MODEL = huge
large: RATE = 1e-5
large: train

train-%: data ; python train.py --set $* --out $@

again: ; $(MAKE) train
"""


@pytest.mark.parametrize(
    ("targets", "given", "environment", "last"),
    [
        ([], {}, {}, "python train.py --model small --lr 3e-4 --batch 16 --root $HOME"),
        (["train"], {"MODEL": "tiny"}, {}, "python train.py --model tiny --lr 3e-4 --batch 16 --root $HOME"),
        (
            ["train"],
            {},
            {"MODEL": "tiny", "BASE": "9"},
            "python train.py --model tiny --lr 3e-4 --batch 16 --root $HOME",
        ),
        (["train"], {"FAST": "1"}, {}, "python train.py --model small --lr 3e-4 --batch 64 --root $HOME"),
        (["large"], {}, {}, "python train.py --model huge --lr 1e-5 --batch 16 --root $HOME"),
        (["large"], {"MODEL": "tiny"}, {}, "python train.py --model tiny --lr 1e-5 --batch 16 --root $HOME"),
        (["train-coco"], {}, {}, "python train.py --set coco --out train-coco"),
        (["again"], {"MODEL": "tiny"}, {}, "make MODEL=tiny train"),
    ],
)
def test_the_line_that_trains(
    targets: list[str], given: dict[str, str], environment: dict[str, str], last: str
) -> None:
    assert Makefile(TEXT, given, environment).lines(targets)[-1] == last


def test_prerequisites_run_first_and_once() -> None:
    lines = Makefile(TEXT, {}, {}).lines(["data", "train"])
    assert [each.split()[:2] for each in lines] == [["python", "prepare.py"], ["echo", "start"], ["python", "train.py"]]


def test_only_exported_variables_reach_the_commands() -> None:
    assert Makefile(TEXT, {"FAST": "1"}, {}).environment() == {"SEED": "7", "FAST": "1"}
    assert Makefile(f"export\n{TEXT}", {}, {}).environment()["BATCH"] == "16"


def test_a_target_that_needs_itself_ends() -> None:
    assert Makefile("a: b\n\techo a\nb: a\n\techo b\nX = $(Y)\nY = $(X)x\n", {}, {}).lines(["a"]) == [
        "echo b",
        "echo a",
    ]

"""Lines as frameworks print them, and what they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.classify import ClassifyContext, LineClassifier
from tests.metric_values import value

PROGRESS = [
    "step 40 | loss: 2.4471 | dt: 12.5ms | tok/sec: 81,920",
    "Epoch [3/20] Step [150/400] Loss: 0.7312",
    "Epoch: [4][ 20/312]\tTime  0.201 ( 0.215)\tData  0.003 ( 0.010)\tLoss 1.91e+00 (1.95e+00)",
    " 33%|███▎      | 132/400 [00:12<00:25, 10.41it/s, loss=0.512]",
    "{'loss': 1.8421, 'grad_norm': 0.91, 'learning_rate': 4.2e-05, 'epoch': 0.35}",
    '{"step": 900, "loss": 0.311, "samples_per_second": 410.2}',
    " iteration      120/    5000 | elapsed time per iteration (ms): 412.7 | lm loss: 6.120110E+00 | loss scale: 4096.0 |",
    "120/400 ━━━━━━━━━━━━━━━━━━━━ 9s 31ms/step - accuracy: 0.4410 - loss: 1.6712",
    "2031-02-03 04:05:06,789 - trainer - INFO - Iter [50/9000] lr: 1.0e-03, eta: 1:02:03, time: 0.413, loss: 0.92",
    "I0203 04:05:06.789012  812 solver.cpp:228] Iteration 300, loss = 0.61",
    "[rank2]: step 7 loss 3.25 grad_norm 1.10",
    "(RayTrainWorker pid=4242, ip=10.1.2.3) step 7 loss 3.25",
    "[1,3]<stdout>:step 7 loss 3.25",
    "  0: step 7 loss 3.25",
    "\x1b[32mstep 7 loss 3.25\x1b[0m",
    ':::MLLOG {"namespace": "", "time_ms": 1700000001234, "event_type": "POINT_IN_TIME", "key": "train_loss", "value": 0.52, "metadata": {"step_num": 30}}',  # noqa: E501
    "step 9 | loss: nan | dt: 5.01ms",
    "Epoch[3]\tSpeed: 812.50 samples/sec",
    "Iteration:   0%|          | 0/40 [00:00<?, ?it/s]",
    "  Train - CE: 0.25, KL: 0.5, acc: 81.5%",
    "training error: step 12 loss 0.4",
][:-1]

ERRORS = [
    "Traceback (most recent call last):",
    '  File "train.py", line 12, in main',
    "ValueError: shapes (3,4) and (5,6) not aligned",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "[rank1]: RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error",
    "slurmstepd: error: *** JOB 77 ON n3 CANCELLED AT 2031-02-03T04:05:06 DUE TO TIME LIMIT ***",
    "2031-02-03 04:05:06,789 - trainer - ERROR - cannot reach the store",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=812, GPU has fallen off the bus.",
    "Segmentation fault (core dumped)",
    "bash: trainer: command not found",
    "OSError: [Errno 28] No space left on device",
    "E0203 04:05:06.789012 812 api.py:8] failed",
    "srun: error: n3: task 0: Exited with exit code 1",
]

WARNINGS = [
    "NVRM: Xid (PCI:0018:01:00): 149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 03 (0x00086226 0x0)",
    "amdgpu 0000:83:00.0: amdgpu: 4 correctable hardware errors detected in umc block",
    "train.py:8: UserWarning: the scheduler was stepped before the optimizer",
    "WARNING: no seed was given",
    "2031-02-03 04:05:06,789 - trainer - WARNING - slow loader, error rate unknown",
    "W0203 04:05:06.789012 812 run.py:8] OMP_NUM_THREADS is 1",
    "WARNING:root:falling back to the CPU",
]

OTHERS = [
    "accuracy: 0.81 (0.02)",
    "    LOSS_GAMMA: 2.0",
    "epochs: 50",
    "batch_size=64, lr=0.001, loss_scale=128",
    "Validation: loss 0.51, accuracy 0.88",
    "{'eval_loss': 1.12, 'eval_samples_per_second': 210.0, 'epoch': 1.0}",
    "Saving checkpoint at step 400 to out/step_400",
    "Loading checkpoint shards: 100%|██████████| 4/4 [00:02<00:00,  1.90it/s]",
    "0:14:48 - Epoch 12 Validation | AUC: 0.9790, LogLoss: 0.2891",
    "EVAL ep=2 it=5 loss=0.6207",
    "Evaluation Total time: 0:01:02 (3.8610 s / it)",
    "Saving dict for global step 3200: global_step = 3200, loss = 1.25",
    "trainer: lr=0.1, dropout=0.1, batch=4, cache=False, epochs=3, patience=100",
    "n3:812:990 [1] NCCL INFO Channel 04 : 1[3b000] -> 2[5e000] via P2P/IPC",
    "  tag_validation_fail: False",
    "0 errors, 0 warnings",
    "number of parameters: 124439808",
    "process 3 exited with exit code 0",
    "Downloading data:  40%|████      | 4.1M/10M [00:01<00:01, 3.9MB/s]",
    ':::MLLOG {"namespace": "", "time_ms": 1700000001234, "event_type": "INTERVAL_END", "key": "eval_stop", "value": null, "metadata": {"epoch_num": 3}}',  # noqa: E501
    '2031-02-03 04:05:06,789 - httpx - INFO - HTTP Request: GET http://hub/x "HTTP/1.1 404 Not Found"',
]

LOG = [
    "epoch,step,loss",
    "1,10,0.52",
    "1,20,0.48",
    "done.",
    "lib.py:3: FutureWarning: will change",
    "  value = lib.call(x)",
    "  indented, and on its own",
    *PROGRESS,
    "Traceback (most recent call last):",
    '  File "train.py", line 9, in <module>',
    "    loss = step(batch)",
    "[rank1]: another rank prints in between",
    "           ^^^^^^^^^^^",
    "KeyError: 'x'",
    "    which goes on over an indented line",
    "all is well",
    "7,8",
    *WARNINGS,
    *OTHERS,
    "",
    "process 3 exited with exit code 3",
]


def letters(*lines: str) -> str:
    return LineClassifier().classify(lines, ClassifyContext())


@pytest.mark.parametrize("line", PROGRESS)
def test_reports_of_the_training_are_progress(line: str) -> None:
    assert letters(line) == "p"


@pytest.mark.parametrize("line", ERRORS)
def test_failures_are_errors(line: str) -> None:
    assert letters(line) == "e"


@pytest.mark.parametrize("line", WARNINGS)
def test_warnings(line: str) -> None:
    assert letters(line) == "w"


@pytest.mark.parametrize("line", OTHERS)
def test_configuration_evaluation_and_bookkeeping_are_other(line: str) -> None:
    assert letters(line) == "o"


def test_context_gives_meaning_to_lines_that_have_none_alone() -> None:
    assert letters("epoch,step,loss", "1,10,0.52", "1,2") == "opo"
    assert letters("1,10,0.52") == "o"
    assert letters("a.py:3: FutureWarning: x", "  y = f(x)", "  z = f(y)") == "wwo"
    assert (
        letters("Traceback (most recent call last):", '  File "a.py", line 1, in f', "    g()", "KeyError: 1", "go on")
        == "eeeeo"
    )


def test_a_traceback_survives_lines_of_other_ranks_and_ends() -> None:
    lines = ["Traceback (most recent call last):", "hello", "    g()", "my.Oops: 1", "hello"]
    assert letters(*lines) == "eoeeo"
    forgotten = ["Traceback (most recent call last):", *["hello"] * 40, "    indented"]
    assert letters(*forgotten)[-1] == "o"


def test_digits_settle_exit_codes_and_nothing_else() -> None:
    classifier, context = LineClassifier(), ClassifyContext()
    for code, letter in (("0", "o"), ("1", "e"), ("0", "o"), ("7", "e")):
        assert classifier.classify([f"task exited with exit code {code}"], context) == letter


@given(st.lists(st.integers(1, len(LOG)), max_size=12), st.randoms())
def test_classes_do_not_depend_on_the_cut(cuts: list[int], random: object) -> None:
    whole = letters(*LOG)
    for sizes in (cuts, [1] * len(LOG)):
        classifier, context, parts, place = LineClassifier(cache_size=5), ClassifyContext(), "", 0
        for size in [*sizes, len(LOG)]:
            parts += classifier.classify(LOG[place : place + size], context)
            place += size
        assert parts == whole


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=12))
def test_any_text_has_one_letter_a_line(lines: list[str]) -> None:
    found = letters(*lines)
    assert len(found) == len(lines)
    assert set(found) <= set("ewpo")


@pytest.mark.parametrize(
    "piece", ["(a)", "1 2 ", "a.b: ", "[0] ", "/x", "|  ", "1,", "\t", "error ", "é=1,", "{'a': 1, ", "- 3:3"]
)
def test_long_and_strange_lines_come_to_an_end(piece: str) -> None:
    assert len(letters(piece * 12_000, piece * 11 + "!", "\0" + piece + "\0")) == 3


def test_memory_is_bounded() -> None:
    classifier, context = LineClassifier(cache_size=50), ClassifyContext()
    for number in range(300):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        classifier.classify([f"nothing known about {word}"], context)
    assert classifier.remembered <= 100
    assert value(classifier.metrics.templates) == 300


def test_a_redrawn_bar_is_read_by_what_it_shows() -> None:
    assert letters("\r 5%|▌  | 5/100 [00:01<00:19, 5.0it/s]\r", "step 1 loss 2.0\r") == "pp"


class Oracle:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def classify(self, templates: list[str]) -> str:
        self.asked += templates
        return "e" * len(templates)


def test_the_fallback_is_asked_once_a_template_and_only_for_the_unknown() -> None:
    oracle = Oracle()
    classifier, context = LineClassifier(fallback=oracle), ClassifyContext()
    assert (
        classifier.classify(["the kraken took node 3", "step 1 loss 2.0", "the kraken took node 4"], context) == "epe"
    )
    assert classifier.classify(["the kraken took node 5"], context) == "e"
    assert oracle.asked == ["the kraken took node 1"]
    assert value(classifier.metrics.asked) == 1


class Always:
    def __init__(self, letter: str) -> None:
        self._letter = letter

    def classify(self, templates: list[str]) -> str:
        return self._letter * len(templates)


def test_names_of_columns_stay_such_whatever_a_model_takes_them_for() -> None:
    lines = ["number of the epoch, loss on the train part, its accuracy", "1,2.5,0.25", "2,2.25,0.5"]
    for letter, found in (("p", "opp"), ("o", "opp"), ("e", "eoo")):
        assert LineClassifier(fallback=Always(letter)).classify(lines, ClassifyContext()) == found
    prose = ["round 3 of the game is over, 12 points"]
    assert LineClassifier(fallback=Always("p")).classify(prose, ClassifyContext()) == "p"


def test_what_is_known_to_be_the_keeping_of_books_is_asked_nobody() -> None:
    lines = ["Total training time: 1:35:02 (0.1426 s / it)", "checkpoint of step 300 written in 1.5 s"]
    assert LineClassifier(fallback=Always("p")).classify(lines, ClassifyContext()) == "oo"


def test_the_message_of_an_exception_that_quotes_a_source_ends() -> None:
    quoted = [f"  q{chr(97 + number // 26)}{chr(97 + number % 26)} = next(stream);" for number in range(200)]
    found = letters("RuntimeError:", *quoted)
    assert found[0] == "e"
    assert 20 < found.count("e") < 100
    assert found[-1] == "o"

"""A Python program that ends by its own fault: its code, its configuration, its arguments, its data."""

from typing import Any

from benchmarks.corpus.failures.case import Case, raised, user_script

_HEAD = "from loop import train\n\n"


def _at(step: int, *body: str) -> str:
    """Return a program that trains and runs `body` at `step`."""
    return (
        _HEAD + "for step in train():\n" + f"    if step == {step}:\n" + "".join(f"        {line}\n" for line in body)
    )


def _case(name: str, program: str, message: str, why: str, *, style: str = "plain", **truth: Any) -> Case:
    marks: dict[str, Any] = raised(message) | truth
    run = f"STYLE={style} python train.py" if style != "plain" else "python train.py"
    return Case(name, run, user_script(why=why, **marks), {"train.py": program}, style=style)


CASES = [
    _case(
        "key_error_config",
        _HEAD
        + 'config = {"model": {"width": 64}}\n\n\ndef evaluate(config):\n    return config["model"]["num_heads"] * 2\n\n\n'
        "for step in train():\n    if step == 5020:\n        evaluate(config)\n",
        r"^KeyError: 'num_heads'",
        "the configuration lacks a key that only evaluation reads",
    ),
    _case(
        "none_arithmetic",
        _at(5017, "schedule = {'warmup': None}", "rate = 0.1 * schedule['warmup']"),
        r"^TypeError: unsupported operand type",
        "an unset option is used as a number",
        style="logging",
    ),
    _case(
        "attribute_error",
        "from loop import train\n\n\nclass Trainer:\n    def __init__(self):\n"
        "        self.best = None\n\n    def save_best(self):\n"
        "        return self.best_metric\n\n\ntrainer = Trainer()\nfor step in train():\n"
        "    if step == 5019:\n        trainer.save_best()\n",
        r"^AttributeError: 'Trainer' object has no attribute 'best_metric'",
        "a misspelt attribute",
    ),
    _case(
        "index_error_dataset",
        "from loop import train\n\nsamples = list(range(100))\n\n\ndef fetch(index):\n"
        "    return samples[index]\n\n\n"
        "for step in train():\n    fetch((step - 5000) * 6)\n",
        r"^IndexError: list index out of range",
        "the data set is shorter than the sampler believes",
    ),
    _case(
        "zero_division",
        _at(5022, "hits = []", "accuracy = sum(hits) / len(hits)"),
        r"^ZeroDivisionError",
        "an average over an empty validation set",
    ),
    _case(
        "assertion_shape",
        _at(
            5009,
            "logits, labels = (64, 10), (32,)",
            "assert logits[0] == labels[0], f'batch of logits {logits} and of labels {labels} differ'",
        ),
        r"^AssertionError: batch of logits",
        "an assertion on shapes fails",
        style="logging",
    ),
    _case(
        "unpack",
        _at(5004, "batch = ('x', 'y', 'mask')", "inputs, targets = batch"),
        r"^ValueError: too many values to unpack",
        "the loader yields three",
    ),
    _case(
        "name_error",
        _at(5024, "path = os.path.join('runs', 'last.json')"),
        r"^NameError: name 'os' is not defined",
        "a missing import",
    ),
    _case(
        "missing_module",
        "import json\n\nimport flash_attention_kernels\nfrom loop import train\n",
        r"^ModuleNotFoundError: No module named 'flash_attention_kernels'",
        "a package that was never installed",
        also_types=("framework",),
    ),
    Case(
        "syntax_error",
        "python train.py",
        user_script(r"^SyntaxError|^IndentationError", "a syntax error in a module", begin=r"Traceback|^  File "),
        {
            "train.py": "from loop import train\nimport model\n",
            "model.py": "class Model:\n    def forward(self, x)\n        return x\n",
        },
    ),
    _case(
        "recursion",
        "from loop import train\n\n\ndef flatten(tree):\n"
        "    return [leaf for branch in tree for leaf in flatten([branch])]\n\n\n"
        "for step in train():\n    if step == 5010:\n        flatten([1])\n",
        r"^RecursionError",
        "endless recursion",
    ),
    _case(
        "unicode_data",
        _at(
            5006,
            "open('labels.txt', 'wb').write(b'caf\\xe9\\n')",
            "labels = open('labels.txt', encoding='utf-8').read()",
        ),
        r"^UnicodeDecodeError",
        "a data file in another encoding",
    ),
    _case(
        "bad_json_line",
        _at(5014, "import json", 'line = \'{"text": "hello", "label": \'', "sample = json.loads(line)"),
        r"^json\.decoder\.JSONDecodeError",
        "a cut line in the data set",
        also_types=("infrastructure",),
    ),
    Case(
        "unknown_argument",
        "python train.py --batch-sise 64",
        user_script(r"error: unrecognized arguments: --batch-sise", "a misspelt argument", begin=r"^usage:"),
        {
            "train.py": "import argparse\n\nfrom loop import train\n\nparser = argparse.ArgumentParser()\n"
            "parser.add_argument('--batch-size', type=int)\nparser.parse_args()\n"
        },
    ),
    Case(
        "invalid_choice",
        'echo "Loading configuration base.ini"\npython train.py --precision bf32',
        user_script(r"error: argument --precision: invalid choice", "a value that does not exist", begin=r"^usage:"),
        {
            "train.py": "import argparse\n\nparser = argparse.ArgumentParser()\n"
            "parser.add_argument('--precision', choices=['fp32', 'bf16'])\nparser.parse_args()\n"
        },
    ),
    _case(
        "chained_during_handling",
        _at(
            5013,
            "metrics = {'loss': 0.1}",
            "try:",
            "    best = metrics['accuracy']",
            "except KeyError as error:",
            "    print('metric missing:' + error.code)",
        ),
        r"^KeyError: 'accuracy'",
        "a metric is missing; the handler of that error fails, too",
        end=r"^AttributeError: 'KeyError' object has no attribute 'code'",
    ),
    _case(
        "chained_direct_cause",
        _at(
            5011,
            "try:",
            "    rate = float('1e-4x')",
            "except ValueError as error:",
            "    raise RuntimeError('the schedule could not be built') from error",
        ),
        r"^ValueError: could not convert string to float",
        "a learning rate that is no number",
        end=r"^RuntimeError: the schedule could not be built",
        style="logging",
    ),
    _case(
        "nan_stop",
        _at(
            5018,
            "loss = float('inf') - float('inf')",
            "if loss != loss:",
            "    raise FloatingPointError(f'loss is {loss} at step {step}, stopping')",
        ),
        r"^FloatingPointError: loss is nan",
        "the loss became NaN and the program stops",
    ),
    _case(
        "nan_exit",
        _at(
            5018,
            "import sys",
            "print(f'step {step}/20000 | loss nan | lr 1.9e-02', flush=True)",
            "print('ERROR: loss is NaN for 1 consecutive steps, aborting the run', flush=True)",
            "sys.exit(3)",
        ),
        r"ERROR: loss is NaN",
        "the loss became NaN and the program exits with a message",
        begin=r"loss nan",
    ),
    _case(
        "pool_worker",
        "from concurrent.futures import ProcessPoolExecutor\n\nfrom loop import train\n\n\n"
        "def tokenize(text):\n    return text.split()[7]\n\n\n"
        "if __name__ == '__main__':\n    for step in train(8):\n        pass\n"
        "    with ProcessPoolExecutor(2) as pool:\n"
        "        print(list(pool.map(tokenize, ['a b c'] * 4)))\n",
        r"^IndexError: list index out of range",
        "a worker of a process pool fails; the parent raises its exception again",
        end=r"^IndexError: list index out of range$",
        repeated=True,
    ),
    _case(
        "thread_then_timeout",
        "import queue\nimport threading\n\nfrom loop import train\n\nbatches = queue.Queue()\n\n\n"
        "def prefetch():\n    for index in range(6):\n"
        "        batches.put({'tokens': index} if index < 5 else {}['tokens'])\n\n\n"
        "threading.Thread(target=prefetch, daemon=True).start()\n"
        "for step in train():\n    batches.get(timeout=1.5)\n",
        r"^KeyError: 'tokens'",
        "the prefetching thread dies of a key error; the loop then waits for a batch in vain",
        begin=r"^Exception in thread",
    ),
    _case(
        "toml_error",
        "import tomllib\n\nfrom loop import train\n\nconfig = tomllib.loads('batch = 64\\n"
        "lr = 1e-4 # ok\\nmodel = base\\n')\n",
        r"^tomllib\.TOMLDecodeError",
        "a configuration file with a bare word",
    ),
    _case(
        "atexit_noise_after",
        "import atexit\n\nfrom loop import train\n\n\nclass Writer:\n    def __del__(self):\n"
        "        raise RuntimeError('writer was never closed')\n\n\n"
        "writer = Writer()\natexit.register(lambda: {}['flush'])\nfor step in train():\n    if step == 5021:\n"
        "        int('12 tokens')\n",
        r"^ValueError: invalid literal for int",
        "a parse error; the handlers at exit complain afterwards",
    ),
    _case(
        "never_retrieved",
        "import asyncio\n\nfrom loop import train\n\n\nasync def upload():\n"
        "    raise ConnectionAbortedError('upload of metrics was dropped')\n\n\n"
        "async def main():\n    task = asyncio.create_task(upload())\n    for step in train():\n"
        "        await asyncio.sleep(0)\n        if step == 5016:\n"
        "            assert step % 5 == 0, 'the evaluation must start at a multiple of five'\n\n\n"
        "asyncio.run(main())\n",
        r"^AssertionError: the evaluation must start",
        "an assertion; that a background upload failed is told later and was harmless",
    ),
    _case(
        "wrong_call",
        "from loop import train\n\n\ndef step_fn(state, batch):\n    return state\n\n\n"
        "for step in train():\n    if step == 5008:\n"
        "        step_fn(state={}, batch=[], rng=3)\n",
        r"^TypeError: step_fn\(\) got an unexpected keyword argument",
        "a call with an argument that the function does not have",
    ),
    _case(
        "logged_then_exit",
        "import logging\nimport sys\n\nfrom loop import train\n\nlog = logging.getLogger('trainer')\n"
        "for step in train():\n    if step == 5015:\n"
        "        try:\n            [][3]\n        except IndexError:\n"
        "            log.exception('evaluation failed')\n            sys.exit(1)\n",
        r"^IndexError: list index out of range",
        "the program logs its own traceback and exits",
        begin=r"ERROR trainer: evaluation failed",
        style="logging",
    ),
]

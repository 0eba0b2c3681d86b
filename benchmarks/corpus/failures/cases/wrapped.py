"""Plain failures in another dress: what stands around an error decides whether it is found."""

from benchmarks.corpus.failures.case import TRACEBACK, Case, user_script

_BUG = """from loop import train

config = {"width": 64}
for step in train():
    if step == 5020:
        config["heads"]
"""

_JSON = """import json
import logging

from loop import train


class Lines(logging.Formatter):
    def format(self, record):
        told = {"level": record.levelname, "message": record.getMessage()}
        if record.exc_info:
            told["exc_info"] = self.formatException(record.exc_info)
        return json.dumps(told)


handler = logging.StreamHandler()
handler.setFormatter(Lines())
logging.basicConfig(handlers=[handler], level="INFO")
try:
    for step in train():
        if step == 5013:
            int("sixty-four")
except ValueError:
    logging.exception("the trainer gave up")
    raise SystemExit(1)
"""

_WORDS = """import sys

from loop import train

for step in train():
    if step == 5016:
        print("ERROR: the schedule has no entry for step 5016", file=sys.stderr, flush=True)
        sys.exit(4)
"""

_WRITE = """from pathlib import Path

from loop import train

for step in train():
    if step == 5011:
        Path("/proc/best.pt").mkdir()
"""

_COLLECTED = """{ python train.py 2>&1; echo $? > code; } | while IFS= read -r line; do
    n=$(( (n + 1) % 10 ))
    printf '2031-02-03T04:05:0%d [pool/ab7-%d trainer] %s\\n' $n $n "$line"
done
exit $(cat code)
"""

CASES = [
    Case(
        "collected",
        _COLLECTED,
        user_script(r"KeyError: 'heads'", "a wrong key, behind the prefix of a log collector", begin=TRACEBACK),
        {"train.py": _BUG},
    ),
    Case(
        "structured",
        "python train.py",
        user_script(r"the trainer gave up", "a text where a number should stand; the traceback is one line of JSON"),
        {"train.py": _JSON},
    ),
    Case(
        "last_words",
        "python train.py",
        user_script(r"^ERROR: the schedule", "a program that says why it ends, and raises nothing"),
        {"train.py": _WORDS},
    ),
    Case(
        "script_goes_on",
        "module load cuda\npython train.py",
        user_script(r"^KeyError: 'heads'", "a wrong key, after a line of the job script that failed", begin=TRACEBACK),
        {"train.py": _BUG},
    ),
    Case(
        "helper_killed",
        "sleep 60 &\nkill -KILL $!\nwait $!\npython train.py",
        user_script(
            r"^FileNotFoundError|^PermissionError",
            "a directory that cannot be made, after a helper was killed",
            begin=TRACEBACK,
        ),
        {"train.py": _WRITE},
    ),
]

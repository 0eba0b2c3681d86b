"""The host ends a process: signals, crashes in native code, limits of memory, processes and time, a cgroup's out-of-memory killer."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case, Truth, infrastructure, other, raised, user_script

_OPS = """
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int fused_step(int rows, int columns) {
  assert(columns > 0 && "columns must be positive");
  return rows % columns;
}
int wild(void) { return *(volatile int *)8; }
int divide(int by) { volatile int one = 1; return one / by; }
void free_twice(void) { void *p = malloc(2000), *q = malloc(2000); free(p); free(p); free(q); }
void new_instruction(void) { __builtin_trap(); }
"""
_THROW = """
#include <stdexcept>
extern "C" void parse(int width) {
  if (width > 4) throw std::runtime_error("tokenizer: vocabulary index 65537 out of range");
}
"""
_BUILD = "gcc -shared -fPIC -O0 -w -o libops.so ops.c\n"
_NATIVE = ("user_script", "framework", "infrastructure", "unknown")


def _case(
    name: str,
    program: str,
    truth: Truth | None,
    run: str = "python train.py",
    *,
    style: str = "plain",
    needs: tuple[str, ...] = (),
) -> Case:
    files = {"train.py": dedent(program).lstrip(), "ops.c": _OPS, "throw.cpp": _THROW}
    return Case(name, run, truth, files, style=style, needs=needs)


def _native(
    name: str,
    call: str,
    root: str,
    why: str,
    *,
    begin: str = "",
    end: str = "",
    prefix: str = "",
    also: tuple[str, ...] = _NATIVE,
) -> Case:
    """Return a case in which the script's own C library faults at a step."""
    program = f"""
        import ctypes

        from loop import train

        ops = ctypes.CDLL("./libops.so")
        for step in train():
            if step == 5014:
                {call}
        """
    truth = Truth(
        "user_script", "none", None, root, why, begin=begin, end=end, also_types=also, also_components=("node",)
    )
    return _case(name, program, truth, f"{_BUILD}{prefix}python train.py", needs=("gcc",))


def _signal(step: int, body: str) -> str:
    return f"""
        import os
        import signal
        import time

        from loop import train

        for step in train():
            if step == {step}:
                {body}
                time.sleep(3)
        """


_CGROUP = """
set -e
group=/sys/fs/cgroup/memory/$$-train
mkdir $group
echo {limit} > $group/memory.limit_in_bytes
trap 'rmdir $group' EXIT
set +e
bash -c "echo \\$\\$ > $group/cgroup.procs; python train.py; echo exit code \\$?; exit 1"
"""
_KILLED = other(
    r"\bKilled\b",
    "SIGKILL from somebody; who is not in the log",
    also_types=("infrastructure", "user_script"),
    also_components=("node",),
)

CASES = [
    _native(
        "segfault_shell",
        "ops.wild()",
        r"Segmentation fault",
        "the script's C library reads a wild address",
    ),
    _native(
        "segfault_faulthandler",
        "ops.wild()",
        r"Fatal Python error: Segmentation fault",
        "the script's C library reads a wild address",
        end=r"Segmentation fault *python|line \d+: +\d+ Segmentation fault|in <module>",
        prefix="PYTHONFAULTHANDLER=1 ",
    ),
    _native(
        "assertion_native",
        "ops.fused_step(64, 0)",
        r"Assertion `columns > 0",
        "an assertion of the script's C library",
        end=r"\bAborted\b",
    ),
    _native(
        "double_free",
        "ops.free_twice()",
        r"free\(\): double free detected|double free or corruption",
        "a double free in the script's C library",
        end=r"\bAborted\b",
    ),
    _native(
        "illegal_instruction",
        "ops.new_instruction()",
        r"Illegal instruction",
        "an instruction that the processor does not know",
    ),
    _native(
        "floating_point_exception",
        "ops.divide(0)",
        r"Floating point exception",
        "a division by zero in the script's C library",
    ),
    _case(
        "cpp_exception",
        """
        import ctypes

        from loop import train

        ops = ctypes.CDLL("./libparse.so")
        for step in train():
            ops.parse(step - 5010)
        """,
        Truth(
            "user_script",
            "none",
            False,
            r"what\(\):  tokenizer: vocabulary index 65537 out of range",
            "an exception of C++ that nobody catches",
            begin=r"terminate called after throwing",
            end=r"\bAborted\b",
            also_types=_NATIVE,
        ),
        "g++ -shared -fPIC -o libparse.so throw.cpp\npython train.py",
        needs=("g++",),
    ),
    _case(
        "missing_library",
        'import ctypes\n\nfrom loop import train\n\nprint("loading operators", flush=True)\n'
        'ctypes.CDLL("./libops.so")\n',
        user_script(
            why="a shared library that the operators were linked with is not on this machine",
            also_types=("framework", "infrastructure"),
            also_components=("node",),
            **raised(r"^OSError: libaccel\.so\.12: cannot open shared object file"),
        ),
        "gcc -shared -fPIC -w -Wl,-soname,libaccel.so.12 -o libaccel.so.12 ops.c\n"
        "gcc -shared -fPIC -w -o libops.so ops.c -Wl,--no-as-needed ./libaccel.so.12\n"
        "rm libaccel.so.12\nmv libops.so ops.tmp && mv ops.tmp libops.so\npython train.py",
        needs=("gcc",),
    ),
    _case(
        "memory_limit",
        "from loop import train\n\ncache = []\nfor step in train():\n    cache.append(bytearray(40_000_000))\n",
        infrastructure(
            "node",
            why="the limit on the process's memory is met: the cache grows with every step",
            restartable=False,
            also_types=("user_script",),
            also_components=("none",),
            **raised(r"^MemoryError"),
        ),
        "ulimit -v 600000\npython train.py",
    ),
    _case(
        "cgroup_oom",
        "from loop import train\n\ncache = []\nfor step in train():\n    cache.append(bytearray(30_000_000))\n",
        infrastructure(
            "node",
            r"\bKilled\b",
            "the kernel's out-of-memory killer ends the only process of a cgroup",
            restartable=False,
            also_types=("other", "user_script"),
            also_components=("none",),
        ),
        _CGROUP.format(limit=160_000_000),
    ),
    _case(
        "cgroup_oom_kernel_log",
        "from loop import train\n\ncache = []\nfor step in train():\n    cache.append(bytearray(30_000_000))\n",
        infrastructure(
            "node",
            r"Memory cgroup out of memory: Killed process",
            "the same, and the epilogue prints what the kernel said",
            restartable=False,
            begin=r"\bKilled +python",
            also_types=("user_script",),
        ),
        _CGROUP.format(limit=160_000_000)
        + "echo '--- kernel log of the node'\nsleep 0.5\ndmesg | tail -n 200 | tac | sed '/invoked oom-killer/q' | tac\nexit 1",
        needs=("dmesg",),
    ),
    _case(
        "cgroup_oom_worker",
        """
        from concurrent.futures import ProcessPoolExecutor

        from loop import train


        def load(shard):
            return len(bytearray(60_000_000 * shard))


        if __name__ == "__main__":
            with ProcessPoolExecutor(2) as pool:
                for step in train():
                    pool.submit(load, step - 5000).result()
        """,
        infrastructure(
            "node",
            why="the kernel's out-of-memory killer ends a worker of the pool; its parent only sees it gone",
            restartable=None,
            also_types=("other", "user_script", "unknown"),
            also_components=("none",),
            **raised(r"BrokenProcessPool"),
        ),
        _CGROUP.format(limit=200_000_000),
    ),
    _case("sigkill", _signal(5016, "os.kill(os.getpid(), signal.SIGKILL)"), _KILLED),
    _case(
        "sigterm",
        _signal(5012, "os.kill(os.getpid(), signal.SIGTERM)"),
        other(r"\bTerminated\b", "somebody asks the program to end"),
    ),
    _case(
        "hangup", _signal(5019, "os.kill(os.getpid(), signal.SIGHUP)"), other(r"\bHangup\b", "the terminal went away")
    ),
    _case(
        "ctrl_c",
        _signal(5007, "os.kill(os.getpid(), signal.SIGINT)"),
        other(why="Ctrl-C", **raised(r"^KeyboardInterrupt")),
    ),
    _case(
        "preemption_signal",
        """
        import logging
        import os
        import signal
        import sys

        from loop import train

        log = logging.getLogger("trainer")
        asked = []
        signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
        for step in train():
            if step == 5018:
                os.kill(os.getpid(), signal.SIGUSR1)
            if asked:
                log.warning("received SIGUSR1: preempted, checkpoint written at step %d, exiting", step)
                sys.exit(99)
        """,
        other(r"received SIGUSR1: preempted", "the scheduler's warning signal before preemption"),
        "STYLE=logging python train.py",
        style="logging",
    ),
    _case(
        "cpu_time_limit",
        "from loop import train\n\nfor step in train(18):\n    pass\n"
        "print('evaluating', flush=True)\nwhile True:\n    pass\n",
        other(
            r"CPU time limit exceeded|\bKilled\b",
            "the limit on processor time",
            restartable=None,
            also_types=("user_script",),
        ),
        "ulimit -S -t 1\npython train.py",
    ),
    _case(
        "bus_error_shared_memory",
        """
        import mmap
        import os

        from loop import train

        with open("/dev/shm/batch", "w+b") as out:
            os.ftruncate(out.fileno(), 4_000_000)
            shared = mmap.mmap(out.fileno(), 4_000_000)
        for step in train():
            place = (step - 5000) * 100_000
            shared[place : place + 90_000] = bytes(90_000)
        """,
        infrastructure(
            "node",
            r"\bBus error\b",
            "the shared memory of the node is full",
            restartable=None,
            also_types=("user_script", "unknown"),
            also_components=("storage", "none"),
        ),
        "unshare --map-root-user --mount bash -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm; python train.py; exit $?'",
    ),
    _case(
        "shared_memory_full",
        """
        import os

        from loop import train

        out = os.open("/dev/shm/queue", os.O_RDWR | os.O_CREAT)
        for step in train():
            os.posix_fallocate(out, 0, (step - 5000) * 100_000)
        """,
        infrastructure(
            "node",
            why="the shared memory of the node is full",
            restartable=None,
            also_components=("storage",),
            **raised(r"^OSError: \[Errno 28\] No space left on device"),
        ),
        "unshare --map-root-user --mount bash -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm; python train.py'",
    ),
    _case(
        "no_more_threads",
        "import threading\nimport time\n\nfrom loop import train\n\nfor step in train():\n    for _ in range(4):\n"
        "        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n",
        infrastructure(
            "node",
            why="the limit on processes and threads is met",
            restartable=False,
            also_types=("user_script",),
            also_components=("none",),
            **raised(r"^RuntimeError: can't start new thread"),
        ),
        'if [ "$(id -u)" = 0 ]; then exec prlimit --nproc=40 setpriv --reuid=65533 --regid=65533 '
        "--clear-groups python train.py; fi\n"
        "exec prlimit --nproc=40 python train.py",
    ),
    _case(
        "fork_refused",
        "import os\nimport subprocess\n\nfrom loop import train\n\nkept = []\nfor step in train():\n"
        "    kept.append(subprocess.Popen(['sleep', '20']))\n",
        infrastructure(
            "node",
            why="the limit on processes is met",
            restartable=False,
            also_types=("user_script",),
            also_components=("none",),
            **raised(r"^BlockingIOError: \[Errno 11\] Resource temporarily unavailable"),
        ),
        'if [ "$(id -u)" = 0 ]; then exec prlimit --nproc=12 setpriv --reuid=65532 --regid=65532 '
        "--clear-groups python train.py; fi\n"
        "exec prlimit --nproc=12 python train.py",
    ),
    _case(
        "command_not_found",
        "from loop import train\n\nfor step in train(5):\n    pass\n",
        user_script(r"command not found", "a tool that is not installed", also_types=("framework",)),
        "set -e\npython train.py\nexport_onnx_model --out model.onnx",
    ),
    _case(
        "module_not_loaded",
        "",
        user_script(
            r"nvidia-smi.*(not found|No such file)|nvcc.*not found",
            "no driver tools on this machine",
            also_types=("infrastructure", "framework"),
            also_components=("gpu", "node"),
            restartable=None,
        ),
        "set -e\necho checking GPUs\nnvidia-smi --query-gpu=name --format=csv\npython loop.py",
    ),
]

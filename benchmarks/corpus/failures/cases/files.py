"""Files and file systems: missing, forbidden, truncated and corrupt files; a full, read-only, failing or vanished file system."""

from textwrap import dedent
from typing import Any

from benchmarks.corpus.failures.case import INJECTED, MADE, Case, Truth, infrastructure, raised, user_script

_SAVE = """
import os
import pickle

from loop import train

os.makedirs("ckpt", exist_ok=True)


def save(step, state):
    with open(f"ckpt/step_{step}.pkl", "wb") as out:
        pickle.dump(state, out)
        out.flush()
        os.fsync(out.fileno())


state = {"weights": [0.5] * 40_000}
for step in train():
    if step % 4 == 0:
        save(step, state)
        print(f"saved ckpt/step_{step}.pkl", flush=True)
"""
_READ = """
from loop import train

with open("shards/part-00007.bin", "wb") as out:
    out.write(bytes(600_000))
shard = open("shards/part-00007.bin", "rb", buffering=0)
for step in train():
    tokens = shard.read(4096)
"""
_SMALL = 'unshare --map-root-user --mount bash -c "mkdir -p ckpt; mount -t tmpfs -o size={size} tmpfs ckpt; {command}"'
_SHIM = (
    "gcc -shared -fPIC -o faulty.so faulty.c -ldl\nmkdir -p shards ckpt\n"
    "LD_PRELOAD=./faulty.so FAULT_CALL={call} FAULT_PATH={path} FAULT_AFTER={after} FAULT_ERRNO={number} python train.py"
)
_NOBODY = 'as=""\n[ "$(id -u)" = 0 ] && as="setpriv --reuid=65534 --regid=65534 --clear-groups"\n'


def _case(
    name: str, program: str, truth: Truth, run: str = "python train.py", *, origin: str = MADE, style: str = "plain"
) -> Case:
    needs = ("gcc",) if origin == INJECTED else ()
    return Case(name, run, truth, {"train.py": dedent(program).lstrip()}, origin=origin, needs=needs, style=style)


def _storage(message: str, why: str, *, restartable: bool | None, **more: Any) -> Truth:
    return infrastructure("storage", why=why, restartable=restartable, **(raised(message) | more))


def _injected(
    name: str, call: str, number: int, message: str, *, why: str, restartable: bool | None, after: int = 2
) -> Case:
    """Return a case in which the `after`-th `call` on a checkpoint (or shard) and all later ones fail with error `number`."""
    reads = call == "read"
    run = _SHIM.format(call=call, path="part-" if reads else "step_", after=after, number=number)
    return _case(name, _READ if reads else _SAVE, _storage(message, why, restartable=restartable), run, origin=INJECTED)


CASES = [
    _case(
        "missing_shard",
        "from loop import train\n\nfor step in train():\n    if step == 5013:\n"
        '        open("shards/part-00013.bin", "rb")\n',
        user_script(why="a shard of the data set that is not there", **raised(r"^FileNotFoundError: .*part-00013")),
    ),
    _case(
        "missing_checkpoint",
        "import pickle\n\nfrom loop import train\n\n"
        'print("resuming from ckpt/last.pkl", flush=True)\n'
        'state = pickle.load(open("ckpt/last.pkl", "rb"))\n',
        user_script(why="no checkpoint to resume from", **raised(r"^FileNotFoundError: .*ckpt/last.pkl")),
    ),
    _case(
        "directory_as_file",
        'import os\n\nfrom loop import train\n\nos.makedirs("ckpt")\nfor step in train():\n'
        '    if step == 5003:\n        open("ckpt", "rb")\n',
        user_script(why="a directory is given where a file is expected", **raised(r"^IsADirectoryError")),
    ),
    _case(
        "permission_denied",
        "from loop import train\n\nfor step in train():\n    if step == 5008:\n"
        '        open("shared/model.bin", "wb")\n',
        user_script(
            why="the directory belongs to somebody else",
            also_types=("infrastructure",),
            also_components=("storage",),
            **raised(r"^PermissionError: .*shared/model.bin"),
        ),
        _NOBODY + "mkdir shared\nchmod 555 shared\n$as python train.py",
        style="plain",
    ),
    _case(
        "truncated_gzip",
        """
        import gzip

        from loop import train

        whole = gzip.compress(bytes(range(256)) * 4000)
        with open("part-0.bin.gz", "wb") as out:
            out.write(whole[: len(whole) // 2])
        for step in train():
            if step == 5011:
                gzip.open("part-0.bin.gz").read()
        """,
        user_script(
            why="a shard that was cut off",
            also_types=("infrastructure",),
            also_components=("storage",),
            **raised(r"^EOFError: Compressed file ended"),
        ),
    ),
    _case(
        "truncated_pickle",
        """
        import pickle

        from loop import train

        whole = pickle.dumps({"weights": [0.25] * 5000})
        with open("last.pkl", "wb") as out:
            out.write(whole[:-3000])
        for step in train(6):
            pass
        state = pickle.load(open("last.pkl", "rb"))
        """,
        user_script(
            why="a checkpoint that was cut off",
            also_types=("infrastructure",),
            also_components=("storage",),
            **raised(r"UnpicklingError|^EOFError"),
        ),
    ),
    _case(
        "corrupt_zip",
        """
        import zipfile

        from loop import train

        with open("dataset.zip", "wb") as out:
            out.write(b"<html><title>504 Gateway Time-out</title></html>" * 20)
        for step in train(3):
            pass
        zipfile.ZipFile("dataset.zip")
        """,
        user_script(
            why="an error page was saved in place of the archive",
            also_types=("infrastructure",),
            also_components=("storage", "network"),
            **raised(r"^zipfile\.BadZipFile"),
        ),
    ),
    _case(
        "disk_full_checkpoint",
        _SAVE,
        _storage(
            r"^OSError: \[Errno 28\] No space left on device",
            "the checkpoint directory's file system is full",
            restartable=False,
        ),
        _SMALL.format(size="900k", command="python train.py"),
    ),
    _case(
        "disk_full_copy",
        """
        import shutil

        from loop import train

        with open("base.bin", "wb") as out:
            out.write(bytes(3_000_000))
        for step in train():
            if step == 5010:
                shutil.copy("base.bin", "ckpt/base.bin")
        """,
        _storage(r"^OSError: \[Errno 28\]", "no room for the copy", restartable=False),
        _SMALL.format(size="1m", command="python train.py"),
    ),
    _case(
        "disk_full_shell",
        "from loop import train\n\nfor step in train(9):\n    pass\n",
        infrastructure(
            "storage",
            r"[Nn]o space left on device",
            "tar fails for want of room and ends the script",
            restartable=False,
            end=r"tar: Error|No space left",
        ),
        "set -e\npython train.py\n"
        + _SMALL.format(
            size="400k", command="set -e; head -c 2000000 /dev/urandom > export.bin; tar -cf ckpt/export.tar export.bin"
        ),
    ),
    _case(
        "disk_full_logging",
        """
        import logging
        import os
        import sys

        from loop import train

        handler = logging.FileHandler("ckpt/train.log")
        logging.getLogger().addHandler(handler)
        with open("ckpt/filler", "wb", buffering=0) as out:
            out.write(bytes(os.statvfs("ckpt").f_bavail * os.statvfs("ckpt").f_frsize - 4096))
        for step in train(steps=12):
            logging.getLogger("audit").warning("gradient norms of step %d: %s", step, [round(step / 7, 6)] * 60)
        with open("ckpt/model.bin", "wb") as out:
            out.write(bytes(500_000))
        """,
        _storage(
            r"^OSError: \[Errno 28\]",
            "first the log file cannot be written any more, then the model",
            restartable=False,
            repeated=True,
        ),
        _SMALL.format(size="400k", command="python train.py"),
    ),
    _case(
        "read_only",
        _SAVE,
        _storage(
            r"^OSError: \[Errno 30\] Read-only file system",
            "the checkpoint file system is mounted read-only",
            restartable=None,
        ),
        'unshare --map-root-user --mount bash -c "mkdir -p ckpt; mount -t tmpfs -o ro tmpfs ckpt; python train.py"',
    ),
    _case(
        "sqlite_full",
        """
        import sqlite3

        from loop import train

        base = sqlite3.connect("ckpt/metrics.db")
        base.execute("create table metric (step integer, note text)")
        for step in train():
            base.execute("insert into metric values (?, ?)", (step, "n" * 30_000))
            base.commit()
        """,
        _storage(
            r"^sqlite3\.OperationalError: database or disk is full",
            "the metrics' data base finds no room",
            restartable=False,
        ),
        _SMALL.format(size="256k", command="python train.py"),
    ),
    _case(
        "sqlite_locked",
        """
        import sqlite3

        from loop import train

        other = sqlite3.connect("metrics.db", isolation_level=None)
        other.execute("create table metric (step integer)")
        other.execute("begin exclusive")
        base = sqlite3.connect("metrics.db", timeout=0.5)
        for step in train():
            if step == 5006:
                base.execute("insert into metric values (?)", (step,))
        """,
        user_script(
            why="two writers of one data base",
            restartable=True,
            also_types=("framework", "infrastructure"),
            also_components=("storage",),
            **raised(r"^sqlite3\.OperationalError: database is locked"),
        ),
    ),
    _case(
        "too_many_files",
        'from loop import train\n\nkept = []\nfor step in train():\n    kept += [open("train.py") for _ in range(4)]\n',
        user_script(
            why="files are opened and never closed until the limit is met",
            also_types=("infrastructure",),
            also_components=("node", "storage"),
            **raised(r"^OSError: \[Errno 24\] Too many open files"),
        ),
        "ulimit -n 64\npython train.py",
    ),
    _case(
        "file_size_limit",
        _SAVE,
        user_script(
            why="the shell's limit on the size of files",
            also_types=("infrastructure", "other"),
            also_components=("storage", "node"),
            **raised(r"^OSError: \[Errno 27\] File too large"),
        ),
        "ulimit -f 64\npython train.py",
    ),
    _injected(
        "quota",
        "write",
        122,
        r"^OSError: \[Errno 122\] Disk quota exceeded",
        why="the user's quota is used up",
        restartable=False,
    ),
    _injected(
        "io_error_write",
        "write",
        5,
        r"^OSError: \[Errno 5\] Input/output error",
        why="the disk cannot be written",
        restartable=True,
    ),
    _injected(
        "io_error_read",
        "read",
        5,
        r"^OSError: \[Errno 5\] Input/output error",
        why="the disk cannot be read",
        restartable=True,
        after=9,
    ),
    _injected(
        "stale_handle",
        "read",
        116,
        r"^OSError: \[Errno 116\] Stale file handle",
        why="the NFS server forgot the file",
        restartable=True,
        after=15,
    ),
    _injected(
        "stale_open",
        "open",
        116,
        r"^OSError: \[Errno 116\] Stale file handle",
        why="the NFS export was moved",
        restartable=True,
        after=3,
    ),
    _injected(
        "lustre_evicted",
        "write",
        108,
        r"^(OSError: \[Errno 108\]|BrokenPipeError: \[Errno 108\]).*Cannot send after transport endpoint shutdown",
        why="the Lustre client was evicted",
        restartable=True,
        after=6,
    ),
    _injected(
        "fuse_gone",
        "open",
        107,
        r"^OSError: \[Errno 107\] Transport endpoint is not connected",
        why="the FUSE mount lost its daemon",
        restartable=True,
    ),
    _injected(
        "remote_io",
        "fsync",
        121,
        r"^OSError: \[Errno 121\] Remote I/O error",
        why="the file server failed",
        restartable=True,
        after=1,
    ),
    _injected(
        "nfs_timeout",
        "read",
        110,
        r"^(TimeoutError|OSError): \[Errno 110\] Connection timed out",
        why="a soft NFS mount gave up",
        restartable=True,
        after=12,
    ),
]

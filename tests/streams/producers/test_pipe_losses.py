"""Whatever process of a pipe is stopped or killed: each printed line arrives once, or is counted once."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from streams.producers.left_behind import left_behind
from streams.producers.spool import Entries, orphans

from .pipe_site import ENV, Site, python, shipping_process, site
from .switchable import wait_for

__all__ = ["site"]

LINES = 100_000
PRINT = (
    f"import sys\nfor i in range({LINES}): sys.stdout.write('line %06d\\n' % i)\nsys.stdout.flush()\nsys.stdin.read()"
)
STOPPED_SECONDS = 9.0
"""Longer than a shipping process may go on after the job by default."""


def pieces(site: Site) -> dict[int, str]:
    """Return the pieces of stdout that arrived, by number. A piece that arrived again must be the same."""
    found: dict[int, str] = {}
    for chunk in site.chunks():
        for number, line in enumerate(chunk.lines, chunk.first_piece):
            assert found.setdefault(number, line) == line
    return found


def lost(site: Site) -> int:
    return sum({event.id: event.lines for event in site.events()}.values())


def rest(site: Site) -> list[Path]:
    return list((site.directory / "spool").glob("*"))


def send_what_is_left(site: Site) -> None:
    """Run another pipe until it has sent what earlier ones left. It looks for that at its start, so they must have let go of it."""
    root = site.directory / "spool"

    def let_go_of() -> int:
        found: list[Entries] = [*orphans(root, 1 << 30), *left_behind(root)]
        for each in found:
            each.close()
        return len(found)

    wait_for(lambda: let_go_of() == len(rest(site)))
    left = set(rest(site))
    with subprocess.Popen(site.command(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=ENV) as other:
        assert other.stdin
        wait_for(lambda: not left.intersection(rest(site)))
        other.stdin.close()
    wait_for(lambda: not rest(site))


def printed(site: Site, *, at: Callable[[int, int], None], **env: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a pipe whose command prints `LINES` lines; `at` is called with the ids of its two processes once all are printed."""
    with subprocess.Popen(
        site.command(*python(PRINT), mode=env.pop("mode", "up")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**ENV, "CLOSE": "5", "HOLD": "0.05", **env},
    ) as process:
        assert process.stdin
        assert process.stdout
        out = [process.stdout.readline()]
        wait_for(lambda: Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().count(" ") == 2)
        shipping = shipping_process(process.pid)
        wait_for(lambda: Path(f"/proc/{shipping}/fd/1").readlink() == Path(os.devnull))  # it has let go of the job's
        if env.get("EARLY"):
            at(process.pid, shipping)
        while out[-1] != b"line %06d\n" % (LINES - 1):
            out.append(process.stdout.readline())
        if not env.get("EARLY"):
            at(process.pid, shipping)
        started = time.monotonic()
        rest_of_output, errors = process.communicate()
        assert time.monotonic() - started < 60
    assert out == [b"line %06d\n" % number for number in range(LINES)]
    return subprocess.CompletedProcess([], process.returncode, rest_of_output, errors)


def check_each_line(site: Site) -> None:
    arrived = pieces(site)
    whole = sum(len(line) == len("line 000000") for line in arrived.values())
    torn = len(arrived) - whole
    # A gap may begin and end inside a line, whose parts are pieces of their own.
    assert LINES - torn <= whole + lost(site) <= LINES
    assert len(arrived) + lost(site) - LINES in range(torn + 1)


@pytest.mark.parametrize("early", ["", "1"], ids=["at the end", "at the start"])
@pytest.mark.parametrize("budget", [1 << 20, 1 << 30], ids=["1 MB", "1 GB"])
def test_a_shipping_process_that_stood_still_ships_everything(site: Site, budget: int, early: str) -> None:
    stopped = []

    def stop(_pipe: int, shipping: int) -> None:
        os.kill(shipping, signal.SIGSTOP)
        stopped.append(shipping)

    result = printed(site, at=stop, BUDGET=str(budget), EARLY=early)
    assert result.returncode == 0
    time.sleep(STOPPED_SECONDS)
    os.kill(stopped[0], signal.SIGCONT)
    wait_for(lambda: not rest(site))
    check_each_line(site)
    if budget > 1 << 20:
        assert len(pieces(site)) == LINES
        assert site.lines() == [f"line {number:06d}" for number in range(LINES)]


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.1, 0.3])
@pytest.mark.parametrize("early", ["", "1"], ids=["at the end", "at the start"])
def test_a_shipping_process_that_is_killed_loses_nothing(site: Site, delay: float, early: str) -> None:
    def kill(_pipe: int, shipping: int) -> None:
        time.sleep(delay)
        os.kill(shipping, signal.SIGKILL)

    result = printed(site, at=kill, EARLY=early)
    assert result.returncode == 0
    send_what_is_left(site)
    assert len(pieces(site)) == LINES
    assert lost(site) == 0


def test_a_shipping_process_that_is_killed_after_the_job_leaves_it_to_the_next_pipe(site: Site) -> None:
    stopped = []

    def stop(_pipe: int, shipping: int) -> None:
        os.kill(shipping, signal.SIGSTOP)
        stopped.append(shipping)

    printed(site, at=stop, EARLY="1")
    os.kill(stopped[0], signal.SIGKILL)
    assert rest(site)
    send_what_is_left(site)
    assert len(pieces(site)) == LINES
    assert lost(site) == 0


@pytest.mark.parametrize("budget", [1 << 20, 1 << 18], ids=["1 MB", "256 KB"])
def test_what_the_disk_budget_does_not_hold_is_counted_once(site: Site, budget: int) -> None:
    def kill(_pipe: int, shipping: int) -> None:
        os.kill(shipping, signal.SIGSTOP)

    def end(_pipe: int, shipping: int) -> None:
        kill(_pipe, shipping)
        stopped.append(shipping)

    stopped: list[int] = []
    printed(site, at=end, EARLY="1", BUDGET=str(budget), MEMORY="100000", CLOSE="0.1")
    os.kill(stopped[0], signal.SIGKILL)
    send_what_is_left(site)
    check_each_line(site)
    assert lost(site) > 10_000


@pytest.mark.parametrize("budget", [1 << 20, 1 << 30], ids=["1 MB", "1 GB"])
def test_lines_of_a_pass_through_that_is_killed_are_counted(site: Site, budget: int) -> None:
    def kill(pipe: int, shipping: int) -> None:
        os.kill(shipping, signal.SIGSTOP)
        time.sleep(0.3)  # what passed is stored a moment later
        os.kill(pipe, signal.SIGKILL)
        os.kill(shipping, signal.SIGCONT)

    result = printed(site, at=kill, BUDGET=str(budget))
    assert result.returncode == -signal.SIGKILL
    wait_for(lambda: not rest(site))
    check_each_line(site)


def test_lines_are_counted_where_both_processes_are_killed(site: Site) -> None:
    def kill(pipe: int, shipping: int) -> None:
        os.kill(shipping, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(pipe, signal.SIGKILL)
        os.kill(shipping, signal.SIGKILL)

    printed(site, at=kill, EARLY="")
    send_what_is_left(site)
    # What was acknowledged and not noted yet is counted all the same.
    assert LINES <= len(pieces(site)) + lost(site) <= LINES + LINES // 10


def test_a_shipping_process_that_is_killed_again_and_again_loses_nothing(site: Site, tmp_path: Path) -> None:
    code = (
        "import itertools, os, sys, time\nfor i in itertools.count():\n"
        "    print('line %06d' % i, flush=True); time.sleep(0.001)\n    if os.path.exists(sys.argv[1]): break"
    )
    with subprocess.Popen(
        site.command(*python(code), str(tmp_path / "stop")), stdout=subprocess.PIPE, env={**ENV, "CLOSE": "5"}
    ) as process:
        assert process.stdout
        killed: set[int] = set()
        arrived = 0
        while len(killed) < 3:
            while len(site.lines()) <= arrived:
                last = process.stdout.readline()
                assert last
            killed.add(shipping := shipping_process(process.pid))
            os.kill(shipping, signal.SIGKILL)
            arrived = len(site.lines())
        (tmp_path / "stop").touch()
        while line := process.stdout.readline():
            last = line
        assert process.wait() == 0
    send_what_is_left(site)
    found = pieces(site)
    printed = int(last.split()[1]) + 1
    assert [found[number] for number in sorted(found)] == [f"line {number:06d}" for number in range(printed)]
    assert lost(site) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_on_a_disk_that_is_full_each_line_arrives_or_is_counted(site: Site, killed: bool) -> None:
    spool = site.directory / "spool"
    spool.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(spool)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    stopped: list[int] = []

    def stop(_pipe: int, shipping: int) -> None:
        os.kill(shipping, signal.SIGSTOP)
        stopped.append(shipping)

    try:
        printed(site, at=stop, EARLY="1", MEMORY="100000", CLOSE="0.1")
        os.kill(stopped[0], signal.SIGKILL if killed else signal.SIGCONT)
        if killed:
            send_what_is_left(site)
        wait_for(lambda: not rest(site))
        check_each_line(site)
        assert lost(site) > 10_000
    finally:
        subprocess.run(["umount", "-l", spool], check=True)

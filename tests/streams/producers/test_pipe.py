import os
import pwd
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from schedmate_records import EventKind
from streams.producers.spool import Spool, SpoolBusy, orphans

from .pipe_site import ENV, MODES, NOISE, Site, call, python, shipping_process, site
from .switchable import wait_for

__all__ = ["site"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "data", [b"", NOISE, b"no newline", b"line\n" * 20_000], ids=["empty", "noise", "short", "lines"]
)
def test_the_filter_passes_every_byte_whatever_becomes_of_the_shipping(site: Site, mode: str, data: bytes) -> None:
    result = call(site.command(mode=mode), data, CLOSE="10" if mode == "up" else "0.2")
    assert result.stdout == data
    assert result.returncode == 0
    if mode == "up":
        assert result.stderr == b""


@pytest.mark.parametrize("mode", ["hang", "away"])
@pytest.mark.parametrize("command", [[], ["echo", "x"]], ids=["filter", "command"])
def test_the_end_of_the_job_waits_for_no_broker(site: Site, mode: str, command: list[str]) -> None:
    """The process that goes on in the background holds nothing that somebody may wait for."""
    ours, theirs = os.pipe()
    process = subprocess.Popen(
        site.command(*command, mode=mode),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[theirs],
        env={**ENV, "CLOSE": "20", "HOLD": "0.05"},
    )
    os.close(theirs)
    out, _ = process.communicate(b"" if command else b"x\n")
    assert (process.returncode, out) == (0, b"x\n")
    assert os.read(ours, 1) == b""
    os.close(ours)
    wait_for(site.spools)
    with pytest.raises(SpoolBusy):  # all this while it goes on
        Spool(site.spools()[0].parent, 1 << 20)


@pytest.mark.parametrize("command", [[], ["echo", "x"]], ids=["filter", "command"])
def test_the_end_of_the_job_does_not_wait_for_a_process_that_loads(site: Site, command: list[str]) -> None:
    result = call(site.command(*command, mode="load"), b"" if command else b"x\n", HOLD="600", LOAD="1000")
    assert (result.returncode, result.stdout, result.stderr) == (0, b"x\n", b"")
    site.switch()
    wait_for(lambda: site.lines() == ["x"])
    wait_for(lambda: not list((site.directory / "spool").iterdir()))


def test_what_is_left_at_the_end_is_sent_from_the_background(site: Site) -> None:
    result = call(site.command("echo", "x", mode="away"), CLOSE="300", HOLD="0.05")
    assert (result.returncode, result.stdout) == (0, b"x\n")
    site.switch()
    wait_for(lambda: site.lines() == ["x"])
    wait_for(lambda: not list((site.directory / "spool").iterdir()))


def test_the_background_process_ends_by_itself(site: Site) -> None:
    call(site.command("echo", "x", mode="away"), CLOSE="0.3", HOLD="0.05")
    wait_for(lambda: [spool.close() for spool in orphans(site.directory / "spool", 1 << 20)])
    assert site.spools()


@pytest.mark.slow
def test_what_could_not_even_be_handed_over_is_handed_over_from_the_background(site: Site) -> None:
    code = "import sys\nsys.stdin.read()\nfor i in range(400_000): print('line', i)"
    with subprocess.Popen(
        site.command(*python(code)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**ENV, "CLOSE": "60", "HOLD": "0.05"},
    ) as process:
        assert process.stdin
        assert process.stdout
        wait_for(lambda: Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().count(" ") == 2)
        shipping = shipping_process(process.pid)
        wait_for(lambda: Path(f"/proc/{shipping}/fd/1").readlink() == Path(os.devnull))  # it has let go of the job's
        os.kill(shipping, signal.SIGSTOP)
        try:
            process.stdin.close()
            assert len(process.stdout.read()) > 4_000_000
            assert process.wait(120) == 0
        finally:
            os.kill(shipping, signal.SIGCONT)
    wait_for(lambda: len(site.lines()) == 400_000, 60)
    assert site.lines() == [f"line {i}" for i in range(400_000)]


def test_the_filter_ships_what_passed(site: Site) -> None:
    result = call(site.command(), b"one\ntwo\r\n\xff\n10%\r20%\nlast")
    assert result.returncode == 0
    assert site.lines() == ["one", "two", "\\xff", "10%\r", "20%", "last"]
    (first, *_) = site.chunks()
    assert (first.job, first.attempt, first.node, first.rank, first.first_line, first.first_piece) == (
        "1",
        0,
        "n1",
        3,
        1,
        1,
    )
    assert abs(first.time - time.time()) < 100
    assert not site.spools()


def test_bytes_come_out_at_once(site: Site) -> None:
    with subprocess.Popen(site.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV) as process:
        assert process.stdin
        assert process.stdout
        for block in (b"a", b"\r", b"bc\n", b"\x00"):
            process.stdin.write(block)
            process.stdin.flush()
            assert process.stdout.read(len(block)) == block
        wait_for(lambda: site.lines() == ["a\r", "bc"])  # half a second later, and before the end
        process.stdin.close()
    assert site.lines() == ["a\r", "bc", "\x00"]


def test_streams_stay_apart_and_so_do_their_numbers(site: Site) -> None:
    code = "import sys\nfor i in range(3): print('out', i); print('err', i, file=sys.stderr)"
    result = call(site.command(*python(code)))
    assert result.stdout == b"out 0\nout 1\nout 2\n"
    assert result.stderr == b"err 0\nerr 1\nerr 2\n"
    assert site.lines("stdout") == ["out 0", "out 1", "out 2"]
    assert site.lines("stderr") == ["err 0", "err 1", "err 2"]
    assert site.chunks("stderr")[0].first_line == 1
    assert site.chunks("stderr")[0].producer != site.chunks("stdout")[0].producer


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("print(1)", (0, 0)),
        ("raise SystemExit(3)", (3, 0)),
        ("import os\nos.kill(os.getpid(), 9)", (None, 9)),
    ],
)
def test_a_pipe_tells_when_its_command_began_and_how_it_ended(
    site: Site, code: str, how: tuple[int | None, int]
) -> None:
    before = time.time()
    call(site.command(*python(code)), WHOLE="1")
    started, ended = site.events()
    assert (started.kind, ended.kind) == (EventKind.STARTED, EventKind.ENDED)
    for event in (started, ended):
        assert (event.job, event.attempt, event.scheduler, event.nodes) == ("1", 0, "pipe", ["n1"])
        assert event.command.endswith(f"-c {shlex.quote(code)}")
        assert (event.directory, event.user) == (str(Path.cwd()), pwd.getpwuid(os.geteuid()).pw_name)
    assert before <= started.time <= ended.time <= time.time()
    assert (ended.exit_code, ended.signal, ended.state) == (*how, "")
    assert (started.exit_code, started.signal) == (None, None)
    assert started.id != ended.id


def test_a_command_that_was_not_found_has_ended_too(site: Site) -> None:
    call(site.command("/nowhere/at/all"), WHOLE="1")
    assert [(event.kind, event.exit_code) for event in site.events()] == [("started", None), ("ended", 127)]


def test_the_end_is_told_although_a_daemon_writes_on(site: Site, tmp_path: Path) -> None:
    script = f"(while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo late) & exit 4"
    subprocess.run(
        site.command("bash", "-c", script),
        stdout=subprocess.DEVNULL,
        env={**ENV, "WHOLE": "1"},
        timeout=120,
        check=False,
    )
    wait_for(lambda: [event.exit_code for event in site.events()] == [None, 4])
    assert site.lines() == []
    (tmp_path / "go").touch()
    wait_for(lambda: site.lines() == ["late"])


def test_a_filter_knows_that_the_output_ended_and_not_how(site: Site) -> None:
    call(site.command(), b"x\n", WHOLE="1")
    started, ended = site.events()
    assert (started.kind, started.command) == (EventKind.STARTED, "")
    assert (ended.kind, ended.exit_code, ended.signal) == (EventKind.ENDED, None, None)


def test_a_pipe_that_is_killed_says_nothing_of_an_end(site: Site) -> None:
    with subprocess.Popen(
        site.command(*python("input()")), stdin=subprocess.PIPE, env={**ENV, "WHOLE": "1"}
    ) as process:
        wait_for(lambda: len(site.events()) == 1)
        shipping = shipping_process(process.pid)
        process.kill()
    wait_for(
        lambda: not Path(f"/proc/{shipping}/cmdline").exists() or not Path(f"/proc/{shipping}/cmdline").read_bytes()
    )
    assert [event.kind for event in site.events()] == [EventKind.STARTED]


def test_the_end_is_kept_while_the_broker_is_away(site: Site) -> None:
    call(site.command("false", mode="away"), WHOLE="1", CLOSE="0.1", HOLD="30")
    site.send_orphans()
    assert [(event.kind, event.exit_code) for event in site.events()] == [("started", None), ("ended", 1)]


def test_lines_of_a_job_that_ended_while_the_broker_was_away_are_sent_by_the_next(site: Site) -> None:
    data = b"".join(b"line %d\n" % i for i in range(20_000))
    result = call(site.command(mode="away"), data, CLOSE="0.1", HOLD="30", MEMORY="200000")
    assert result.stdout == data
    assert b"20,000 lines kept in" in result.stderr
    assert site.spools()
    site.send_orphans(b"next\n")
    assert "next" in site.lines()
    old = [chunk for chunk in site.chunks() if chunk.lines != ["next"]]
    assert [line for chunk in old for line in chunk.lines] == data.decode().split("\n")[:-1]
    assert [chunk.seq for chunk in old] == list(range(len(old)))
    assert not site.spools()


def test_a_broker_that_comes_back_gets_every_line_once_in_order(site: Site) -> None:
    with subprocess.Popen(
        site.command(mode="away"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**ENV, "MEMORY": "100000", "CLOSE": "60"},
    ) as process:
        assert process.stdin
        for i in range(30_000):
            process.stdin.write(b"line %d\n" % i)
            if i in (5_000, 15_000, 25_000):
                process.stdin.flush()
                time.sleep(0.3)
                site.switch(i != 15_000)
        process.stdin.close()
        assert process.wait(120) == 0
    wait_for(lambda: len(site.lines()) == 30_000)
    assert site.lines() == [f"line {i}" for i in range(30_000)]


def test_past_the_budget_the_loss_is_counted_and_the_job_goes_on(site: Site) -> None:
    data = b"".join(b"line %06d\n" % i for i in range(100_000))
    result = call(site.command(mode="away"), data, CLOSE="0.1", HOLD="30", MEMORY="100000", BUDGET="400000")
    assert result.stdout == data
    assert result.returncode == 0
    assert result.stderr.count(b"lines not shipped") == 1
    assert sum(path.stat().st_size for path in site.spools()) < 210_000
    site.send_orphans()
    whole = [line for line in site.lines() if len(line) == len("line 000000")]
    numbers = [int(line.split()[1]) for line in whole]
    assert numbers == sorted(set(numbers))
    assert site.lost() > 50_000
    # A gap may fall into the middle of a line: its two ends are shipped as pieces of their own.
    pieces_of_lines = len(site.lines()) - len(whole)
    assert 100_000 - pieces_of_lines <= site.lost() + len(whole) <= 100_000
    for chunk in site.chunks():
        for at, line in enumerate(chunk.lines):
            if len(line) == len("line 000000"):
                assert line == f"line {chunk.first_line + at - 1:06d}"


def test_another_shipping_process_takes_the_place_of_one_that_is_killed(site: Site) -> None:
    code = "import time\nfor i in range(40): print(i, flush=True); time.sleep(0.02)"
    with subprocess.Popen(
        site.command(*python(code)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, env=ENV
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"0\n"
        os.kill(shipping_process(process.pid), signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert out.split() == [b"%d" % i for i in range(1, 40)]
    assert (process.returncode, err) == (0, b"")
    wait_for(lambda: site.lines()[-1:] == ["39"])
    assert site.lines() == [str(i) for i in range(40)]


def test_shipping_that_ends_again_and_again_is_reported_once(site: Site) -> None:
    result = call(site.command("echo", "x", mode="crash"), HOLD="10", CLOSE="10")
    assert (result.returncode, result.stdout) == (0, b"x\n")
    assert (
        result.stderr.count(b"not everything was shipped: the shipping process ended early; what is left is kept") == 1
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_disk_that_is_really_full(site: Site) -> None:
    spool = site.directory / "spool"
    spool.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", spool], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        data = b"".join(b"line %06d\n" % i for i in range(50_000))
        result = call(site.command(mode="away"), data, CLOSE="0.1", HOLD="30", MEMORY="100000")
        assert result.stdout == data
        assert result.returncode == 0
        site.send_orphans()
        # A gap may fall into the middle of a line.
        numbers = [int(line.split()[1]) for line in site.lines() if len(line) == len("line 000000")]
        assert numbers == sorted(set(numbers))
        assert 1000 < len(numbers) < 50_000
        pieces = len(site.lines()) - len(numbers)
        assert 50_000 - pieces <= site.lost() + len(numbers) <= 50_000
    finally:
        subprocess.run(["umount", "-l", spool], check=True)

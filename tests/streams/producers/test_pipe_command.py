"""A pipe is in nobody's way: the exit codes, signals and closed outputs of its command are as without it."""

import fcntl
import os
import pty
import random
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest

from .pipe_site import ENV, MODES, NOISE, Site, call, python, site
from .switchable import wait_for

__all__ = ["site"]


@pytest.mark.parametrize("mode", MODES)
def test_the_exit_code_and_all_bytes_are_kept(site: Site, mode: str) -> None:
    code = f"import os, random\nos.write(1, random.Random(1).randbytes({len(NOISE)}))\nos._exit(37)"
    result = call(site.command(*python(code), mode=mode), CLOSE="0.3")
    assert result.returncode == 37
    assert result.stdout == NOISE


def test_the_environment_of_the_command_is_left_alone(site: Site) -> None:
    show = python("import os; print('PYTHONUNBUFFERED' in os.environ)")
    env = {name: value for name, value in ENV.items() if name != "PYTHONUNBUFFERED"}
    result = subprocess.run(site.command(*show), capture_output=True, env=env, timeout=120, check=False)
    assert result.stdout == b"False\n"
    assert call(site.command(*show), PYTHONUNBUFFERED="1").stdout == b"True\n"


def test_standard_input_goes_to_the_command(site: Site) -> None:
    assert call(site.command("cat"), NOISE).stdout == NOISE


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_cost_neither_the_exit_code_nor_the_copy(site: Site, closed: str) -> None:
    command = site.command("sh", "-c", "echo said; exit 3")
    result = call(["sh", "-c", f'exec "$@" {closed}', "sh", *command])
    assert result.returncode == 3
    wait_for(lambda: site.lines() == ["said"])


def test_ends_of_children_that_are_ignored_are_waited_for_all_the_same(site: Site) -> None:
    """What a parent ignores is inherited, and this way the kernel would tell nobody how the command ended."""
    ignoring = python(
        "import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.execv(sys.argv[1], sys.argv[1:])"
    )
    assert call([*ignoring, *site.command("sh", "-c", "echo said; exit 3")]).returncode == 3
    assert site.lines() == ["said"]


@pytest.mark.parametrize(("command", "code"), [("/nowhere/at/all", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_run(site: Site, command: str, code: int) -> None:
    result = call(site.command(command))
    assert result.returncode == code
    assert command.encode() in result.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGINT])
def test_a_command_killed_by_a_signal_ends_us_the_same_way(site: Site, number: signal.Signals) -> None:
    reset = "" if number == signal.SIGKILL else f"signal.signal({number}, signal.SIG_DFL); "
    code = f"import os, signal; print('last', flush=True); {reset}os.kill(os.getpid(), {number})"
    result = call(site.command(*python(code)))
    assert result.returncode == -number
    assert site.lines() == ["last"]


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT]
)
def test_signals_reach_the_command(site: Site, number: signal.Signals) -> None:
    code = (
        "import os, signal, sys, time\n"
        f"signal.signal({number}, lambda *_: (os.write(1, b'saved\\n'), sys.exit(3)))\n"
        "os.write(1, b'ready\\n')\nwhile True: time.sleep(0.1)"
    )
    with subprocess.Popen(site.command(*python(code)), stdout=subprocess.PIPE, env=ENV) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.stdout.readline() == b"saved\n"
        assert process.wait(120) == 3
    assert site.lines() == ["ready", "saved"]


def test_an_interrupt_from_the_terminal_reaches_the_command_once(site: Site) -> None:
    code = (
        "import signal, time\nseen = []\nsignal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('ready', flush=True)\n"
        "while not seen: time.sleep(0.01)\ntime.sleep(0.5)\nprint('interrupts:', len(seen), flush=True)"
    )
    terminal, ours = pty.openpty()
    with subprocess.Popen(
        site.command(*python(code)),
        stdin=ours,
        stdout=subprocess.PIPE,
        env=ENV,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  (one thread)
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        os.write(terminal, b"\x03")
        assert process.stdout.read() == b"interrupts: 1\n"
    os.close(terminal)
    os.close(ours)
    assert process.returncode == 0


def test_the_filter_outlives_the_signal_that_ends_its_job(site: Site) -> None:
    with subprocess.Popen(site.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"running\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"running\n"
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
        process.stdin.write(b"KeyboardInterrupt\n")
        process.stdin.close()
        assert process.stdout.read() == b"KeyboardInterrupt\n"
        assert process.wait(120) == 0
    assert site.lines() == ["running", "KeyboardInterrupt"]


def test_a_closed_output_ends_the_filter_as_it_ends_cat(site: Site) -> None:
    script = f"yes | ( {' '.join(site.command())}; echo $? >&2 ) | head -c 100000 | wc -c"
    result = subprocess.run(["bash", "-c", script], capture_output=True, env=ENV, timeout=120, check=False)
    assert result.stdout.strip() == b"100000"
    assert result.stderr.splitlines()[-1] == b"141"


def test_a_closed_output_ends_the_command_as_without_us(site: Site) -> None:
    script = f"( {' '.join(site.command('yes'))}; echo $? >&2 ) | head -c 100000 | wc -c"
    result = subprocess.run(["bash", "-c", script], capture_output=True, env=ENV, timeout=120, check=False)
    assert result.stdout.strip() == b"100000"
    assert result.stderr.splitlines()[-1] == b"141"


def test_a_full_output_device_does_not_end_the_job(site: Site) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            site.command(*python("for i in range(3): print(i)\nraise SystemExit(5)")),
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENV,
            timeout=120,
            check=False,
        )
    assert result.returncode == 5
    assert site.lines() == ["0", "1", "2"]


def test_a_slow_reader_gets_everything_before_we_end(site: Site) -> None:
    size = 1_000_000  # fits into the command's pipe: it ends long before its reader has read
    code = f"import os, random\nos.write(1, random.Random(1).randbytes({size}))\nos._exit(3)"
    with subprocess.Popen(site.command(*python(code)), stdout=subprocess.PIPE, env=ENV) as process:
        assert process.stdout
        time.sleep(1.5)  # longer than the command needs to fill every pipe
        assert process.poll() is None
        assert process.stdout.read() == random.Random(1).randbytes(size)
        assert process.wait(120) == 3


def test_a_daemon_left_behind_is_read_on_in_the_background(site: Site, tmp_path: Path) -> None:
    script = (
        f"echo first; (while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo late; touch {tmp_path}/done) & exit 4"
    )
    out = tmp_path / "out"
    with out.open("wb") as stdout:
        result = subprocess.run(site.command("bash", "-c", script), stdout=stdout, env=ENV, timeout=120, check=False)
    assert result.returncode == 4
    assert out.read_bytes() == b"first\n"
    (tmp_path / "go").touch()
    wait_for(lambda: out.read_bytes() == b"first\nlate\n")
    wait_for(lambda: site.lines() == ["first", "late"])

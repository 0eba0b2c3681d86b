"""The page of HTML that `analyze --html` writes."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from processors.job import JobProcessor
from schedmate.analysis.analysis import Analysis, analyze
from schedmate.cli import app
from schedmate.report.page import page
from schedmate.report.page.page import curve
from streams.producers.stored import read_chunks

HOSTILE = "RuntimeError: CUDA error: <script>document.title='owned'</script> $logs &amp; \x1b[2J\u202e"
TRAINING = [f"step {step} loss {5 - step / 50:.3f} step time: {1 + step % 3 / 50:.2f} s" for step in range(100)]


class Elements(HTMLParser):
    """The names of a page's elements, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def analysed(file: Path, lines: list[str]) -> Analysis:
    file.write_text("\n".join(lines) + "\n")
    return analyze(file, read_chunks(file), JobProcessor())


def test_a_run_has_curves_and_a_failure_its_lines(tmp_path: Path) -> None:
    traceback = ["Traceback (most recent call last):", '  File "train.py", line 3, in <module>', HOSTILE]
    made = [analysed(tmp_path / "well.log", TRAINING), analysed(tmp_path / "bad <b>.log", TRAINING + traceback)]
    found = Elements(page(made))
    assert found.names.count("svg") == 4
    assert found.names.count("tr") == 3
    assert "no failure seen; step 99" in found.text
    assert HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e") in found.text
    assert not {"script", "img", "link", "b"} & set(found.names)


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ([], "No failure seen"),
        ([f"step {step} loss nan step time: 1.00 s" for step in range(100, 130)], "Failed (nan loss), line 101"),
        (["slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-20T10:00:00 DUE TO TIME LIMIT ***"], "Time limit, line 101"),
        (["Traceback (most recent call last):", '  File "t.py", line 3, in f', "KeyError: 'x'"], "Failed (KeyError), line 103"),
    ],
    ids=["well", "nan", "time limit", "exception"],
)  # fmt: skip
def test_a_log_is_shown_in_the_order_of_a_jobs_page(tmp_path: Path, more: list[str], state: str) -> None:
    made = page([analysed(tmp_path / "a.log", TRAINING + more)])
    order = [
        f'">{state}</p>',
        *(["<pre>"] if ", line" in state else []),
        "<dt>progress</dt>",
        "<svg",
        "<summary>Evidence",
    ]
    places = [made.find(each) for each in order]
    assert -1 not in places, made[made.index("<body>") :]
    assert places == sorted(places)


def test_noise_is_no_trend_on_a_curve() -> None:
    drawn = curve("loss", [(line, 1.0 + line % 2 / 1000) for line in range(9)])
    heights = [float(each.split(" ")[1]) for each in drawn.partition('d="M')[2].partition('"')[0].split("L")]
    assert max(heights) - min(heights) < 5


def test_one_log_needs_no_table(tmp_path: Path) -> None:
    assert "table" not in Elements(page([analysed(tmp_path / "well.log", TRAINING)])).names


@given(st.lists(st.tuples(st.integers(0, 10**9), st.floats()), max_size=30))
@example([(0, 1.7e308), (1, -1.7e308)])
def test_any_values_make_a_curve_within_its_frame(points: list[tuple[int, float]]) -> None:
    drawn = curve("loss", sorted(points, key=lambda point: point[0]))
    assert "nan" not in drawn
    assert "inf" not in drawn


def test_the_command_writes_it(tmp_path: Path) -> None:
    logs = [tmp_path / f"{name}.log" for name in "ab"]
    for log in logs:
        log.write_text("\n".join(TRAINING))
    out = tmp_path / "runs.html"
    done = CliRunner().invoke(app, ["analyze", "--html", str(out), *map(str, logs)])
    assert done.exit_code == 0, done.output
    assert "2 logs" in done.output
    assert Elements(out.read_text()).names.count("section") == 2


def test_a_table_has_a_row_a_file(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("\n".join(TRAINING))
    done = CliRunner().invoke(app, ["analyze", "--format", "table", str(log)])
    assert done.output.splitlines()[0].split() == ["file", "last_step", "last_loss", "step_time_s"]
    assert done.output.splitlines()[1].split()[1:3] == ["99", "3.02"]


def test_a_table_shows_throughput(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(
        "\n".join(f"step {step} loss 1.5 throughput: 1234.5 tokens/s step time: 1.00 s" for step in range(50))
    )
    done = CliRunner().invoke(app, ["analyze", "--format", "table", str(log)])
    head, row = (line.split() for line in done.output.splitlines())
    assert head[-2:] == ["throughput", "throughput_unit"]
    assert row[-2:] == ["1234.5", "tokens/s"]


@pytest.mark.parametrize(
    ("form", "begins"), [("table", "file "), ("json", '{"file"'), ("csv", "file,lines"), ("html", "<!doctype html>")]
)
def test_every_format_goes_to_standard_output(tmp_path: Path, form: str, begins: str) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1 loss 2.0\nstep 2 loss 1.0\n")
    done = CliRunner().invoke(app, ["analyze", "--format", form, str(log)])
    assert done.exit_code == 0
    assert done.output.startswith(begins)


def test_json_has_the_option_that_lists_have(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("\n".join(TRAINING))
    short, named = (
        CliRunner().invoke(app, ["analyze", *form, str(log)]) for form in (["--json"], ["--format", "json"])
    )
    assert (short.exit_code, short.output) == (0, named.output)
    both = CliRunner().invoke(app, ["analyze", "--json", "--format", "csv", str(log)])
    assert both.exit_code == 2


def test_a_page_is_written_beside_what_is_printed(tmp_path: Path) -> None:
    log, out = tmp_path / "train.log", tmp_path / "runs.html"
    log.write_text("\n".join(TRAINING))
    done = CliRunner().invoke(app, ["analyze", "--format", "json", "--html", str(out), str(log)])
    assert json.loads(done.stdout)["progress"]["last_step"] == 99
    assert f"wrote {out}: 1 log" in done.stderr.replace("\n", " ")
    assert Elements(out.read_text()).names.count("section") == 1

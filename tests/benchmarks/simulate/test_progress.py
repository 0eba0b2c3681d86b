import pytest

from benchmarks.simulate.progress import show_progress


def test_progress_is_a_line_for_each_result_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(show_progress(iter("ab"), "cases", 2)) == ["a", "b"]
    assert capsys.readouterr().err == "cases: 0 of 2\ncases: 1 of 2\ncases: 2 of 2\n"

"""What a container's runtime wrote around a process's lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.new_lines import container_text, strip_container_wrapping

ARRIVED = 1935817700.0


def test_docker() -> None:
    line = '{"log":"\\u001b[36mstep 3\\u001b[0m loss 0.5\\n","stream":"stderr","time":"2031-05-06T07:08:09.250000001Z"}'
    assert strip_container_wrapping([line], [ARRIVED]) == (["\x1b[36mstep 3\x1b[0m loss 0.5"], [1935817689.25])


def test_containerd() -> None:
    lines = ["2031-05-06T09:08:09.25+02:00 stdout F     indented", "2031-05-06T07:08:10Z stderr F"]
    assert strip_container_wrapping(lines, [ARRIVED, ARRIVED]) == (["    indented", ""], [1935817689.25, 1935817690.0])


def cri(tag: str, text: str, stream: str = "stdout") -> str:
    return f"2031-05-06T07:08:09Z {stream} {tag} {text}"


def test_the_parts_of_a_long_line_stand_together() -> None:
    lines = [cri("F", "a"), cri("P", "step 3 lo"), cri("P", "ss "), cri("F", "0.5"), cri("F", "b")]
    assert container_text(lines) == ["a", "step 3 loss 0.5", "", "", "b"]


def test_parts_of_two_streams_and_parts_without_an_end_stay_apart() -> None:
    lines = [cri("P", "out"), cri("F", "error", "stderr"), cri("F", "put"), cri("P", "last")]
    assert container_text(lines) == ["out", "error", "put", "last"]


@given(
    st.lists(st.tuples(st.sampled_from("PF"), st.sampled_from(["stdout", "stderr"]), st.text("ab", max_size=20_000)))
)
def test_no_part_is_lost_and_no_line_grows_without_bound(parts: list[tuple[str, str, str]]) -> None:
    found = container_text([cri(tag, text, stream) for tag, stream, text in parts])
    assert len(found) == len(parts)
    assert "".join(found) == "".join(text for _, _, text in parts)
    assert all(len(line) <= 32 * 1024 for line in found)


@pytest.mark.parametrize(
    "line",
    [
        "step 3 loss 0.5",
        '{"log": "epoch 1", "loss": 0.5}',
        '{"log":"cut in the midd',
        '{"log":3,"time":"2031-05-06T07:08:09Z"}',
        "2031-05-06T07:08:09Z stdout is not a terminal",
    ],
)
def test_other_lines_are_left_alone(line: str) -> None:
    assert strip_container_wrapping([line], [1.0]) == ([line], [1.0])


@pytest.mark.parametrize(
    "time", ["soon", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "1970-01-01T00:00:00Z", "2031-05-06T07:08:09"]
)
def test_a_time_that_cannot_be_right_is_not_taken(time: str) -> None:
    assert strip_container_wrapping([f'{{"log":"a\\n","time":"{time}"}}'], [ARRIVED]) == (["a"], [ARRIVED])


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))))
def test_what_was_printed_comes_back(lines: list[str]) -> None:
    wrote = [
        json.dumps({"log": line + "\n", "stream": "stdout", "time": "2031-05-06T07:08:09Z"}, separators=(",", ":"))
        for line in lines
    ]
    assert list(container_text(wrote)) == lines

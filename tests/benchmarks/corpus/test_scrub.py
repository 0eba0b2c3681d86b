from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.corpus.scrub import Scrubber

SCRUBBER = Scrubber({Path("/srv/jane/work"): "/home/user/project", Path("/srv/jane"): "/home/user"}, "gpu-box7", "jane")


def test_paths_give_way_to_others_the_longest_first() -> None:
    assert (
        SCRUBBER.scrub(b"in /srv/jane/work/train.py of /srv/jane/.bashrc")
        == b"in /home/user/project/train.py of /home/user/.bashrc"
    )


def test_host_and_user_give_way() -> None:
    assert SCRUBBER.scrub(b"[gpu-box7:0]: started by jane") == b"[node01:0]: started by user"


def test_a_name_inside_a_word_stays() -> None:
    assert SCRUBBER.scrub(b"janeway gpu-box70") == b"janeway gpu-box70"


def test_mail_and_addresses_give_way() -> None:
    assert SCRUBBER.scrub(b"jane.doe@lab.edu at 10.7.3.22:8080") == b"user@example.org at 10.0.0.1:8080"


def test_links_to_packages_give_way() -> None:
    assert (
        SCRUBBER.scrub(b"see https://an.index/project/tool/ for more") == b"see https://pkg.test/project/tool/ for more"
    )


def test_the_loop_back_and_versions_stay() -> None:
    line = b"listening on 127.0.0.1:2222, built with 4.11.0.86"
    assert SCRUBBER.scrub(line) == line


def test_temporary_directories_give_way() -> None:
    assert SCRUBBER.scrub(b"saved /tmp/tmpa1b2c3/model.pt") == b"saved /tmp/run/model.pt"


@given(st.binary(max_size=80))
def test_scrubbing_twice_changes_nothing_more(piece: bytes) -> None:
    once = SCRUBBER.scrub(piece)
    assert SCRUBBER.scrub(once) == once


@given(st.text("bcdfghkl 0123456789,:=%|[]\r\n"))
def test_reports_stay_as_they_are(line: str) -> None:
    assert SCRUBBER.scrub(line.encode()) == line.encode()

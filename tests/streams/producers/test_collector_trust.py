"""Whose word a file is: what a collector believes of files that users write."""

import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from streams.producers.file_trust import FileTrust
from tests.metric_values import value

from .collector_site import Site, site

__all__ = ["site"]

ADA, MALLORY = 4001, 4002
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")


def in_home(site: Site, user: int, name: str, data: bytes) -> Path:
    """Write a file of `user` in the user's own directory."""
    home = site.directory / "home" / str(user)
    home.mkdir(parents=True, exist_ok=True)
    os.chown(home, user, user)
    (home / name).write_bytes(data)
    os.chown(home / name, user, user)
    return home / name


@needs_root
def test_a_file_speaks_only_for_a_job_of_its_owner(site: Site) -> None:
    in_home(site, ADA, "4711.out", b"ada's\n")
    forged = in_home(site, MALLORY, "4711.err", b"Xid 79\n")
    jobs = {"4711": ADA, "4712": MALLORY}
    globs = [f"{site.directory}/home/*/*"]
    with capture_logs() as said:
        collector = site.start(globs=globs, trust=FileTrust(owner_of=jobs.get))
        site.settle(collector)
    assert site.broker.lines == ["ada's"]
    assert value(collector.metrics.files_untrusted) == value(collector.metrics.files_refused) == 1
    (refusal,) = [each for each in said if each["event"] == "file_left_out"]
    assert refusal["path"] == str(forged)
    assert refusal["reason"] == f"expected a file of user {ADA}, the owner of job 4711, got one of user {MALLORY}"
    in_home(site, MALLORY, "4712.out", b"mallory's\n")
    site.settle(collector)
    assert site.broker.lines == ["ada's", "mallory's"]


@needs_root
def test_a_file_waits_for_the_schedulers_word_and_holds_up_no_other(site: Site) -> None:
    in_home(site, ADA, "1.out", b"first\n")
    in_home(site, ADA, "2.out", b"second\n")
    jobs = {"2": ADA}
    collector = site.start(globs=[f"{site.directory}/home/*/*"], trust=FileTrust(owner_of=jobs.get))
    site.settle(collector)
    assert site.broker.lines == ["second"]
    assert value(collector.metrics.files_refused) == 0
    jobs["1"] = ADA
    site.settle(collector)
    assert site.broker.lines == ["second", "first"]


@needs_root
def test_a_job_that_the_scheduler_forgot_goes_on_where_it_was_believed(site: Site) -> None:
    path = in_home(site, ADA, "1.out", b"before\n")
    globs = [f"{site.directory}/home/*/*"]
    first = site.start(globs=globs, trust=FileTrust(owner_of={"1": ADA}.get))
    site.settle(first)
    site.stop(first)
    with path.open("ab") as out:
        out.write(b"after\n")
    in_home(site, ADA, "2.out", b"nobody knows whose\n")
    second = site.start(globs=globs, trust=FileTrust(owner_of=lambda job: f"the scheduler knows no job {job}"))
    site.settle(second)
    assert site.broker.lines == ["before", "after"]
    assert value(second.metrics.files_untrusted) == 1
    # Whoever takes the file's place is asked about again.
    path.unlink()
    path.write_bytes(b"another's\n")
    os.chown(path, MALLORY, MALLORY)
    site.settle(second, 20)
    assert site.broker.lines == ["before", "after"]


@needs_root
def test_without_a_scheduler_the_operator_says_whom_to_believe(site: Site) -> None:
    in_home(site, ADA, "1.out", b"ada's\n")
    in_home(site, MALLORY, "1.err", b"mallory's\n")
    globs = [f"{site.directory}/home/*/*"]
    nobody = site.start(globs=globs, checkpoint=site.directory / "a")
    site.settle(nobody)
    assert site.broker.lines == []
    assert value(nobody.metrics.files_untrusted) == 2
    site.settle(site.start(globs=globs, checkpoint=site.directory / "b", trust=FileTrust(users=frozenset({ADA}))))
    assert site.broker.lines == ["ada's"]
    site.settle(site.start(globs=globs, checkpoint=site.directory / "c", trust=FileTrust(anybody=True)))
    assert sorted(site.broker.lines) == ["ada's", "ada's", "mallory's"]


@needs_root
def test_no_link_of_a_user_is_followed(site: Site) -> None:
    shadow = site.directory / "shadow"
    shadow.write_text("root:secret\n")
    home = in_home(site, MALLORY, "1.out", b"mine\n").parent
    for name, target in (("2.out", shadow), ("3.out", home / "1.out"), ("logs", site.directory)):
        (home / name).symlink_to(target)
        os.chown(home / name, MALLORY, MALLORY, follow_symlinks=False)
    globs = [f"{site.directory}/home/**/*.out", f"{site.directory}/home/*/logs/shadow"]
    collector = site.start(globs=globs, pattern=r"(?P<job>\d+|shadow)", trust=FileTrust(anybody=True))
    site.settle(collector)
    assert site.broker.lines == ["mine"]
    # The link to a file that is followed already is the same file; it is not opened a second time.
    assert value(collector.metrics.files_untrusted) == 2


@needs_root
def test_rotated_files_of_others_are_not_taken_for_the_jobs_own(site: Site) -> None:
    path = site.write("1.out", b"one\n")
    os.chown(path, ADA, ADA)
    trust = FileTrust(owner_of={"1": ADA}.get)
    first = site.start(trust=trust)
    site.settle(first)
    site.stop(first)
    path.rename(path.with_name("1.out.1"))
    secret = site.directory / "secret"
    secret.write_text("secret\n")
    path.with_name("1.out.2").symlink_to(secret)
    stranger = site.write("1.out.3", b"stranger\n")
    os.chown(stranger, MALLORY, MALLORY)
    os.chown(site.write("1.out", b"two\n"), ADA, ADA)
    second = site.start(globs=[str(path)], trust=trust)
    site.settle(second, 20)
    assert site.once() == ["one", "two"]


def test_the_checkpoint_is_its_owners_alone(site: Site) -> None:
    site.write("1.out", b"x\n")
    checkpoint = site.directory / "state" / "checkpoint"
    checkpoint.parent.mkdir()
    checkpoint.write_text('{"version": 1, "logs": {}, "finished": []}')
    checkpoint.chmod(0o666)
    (site.directory / "state" / "checkpoint.new").write_text("left by a crash")
    collector = site.start()
    assert checkpoint.stat().st_mode & 0o777 == 0o600
    site.settle(collector)
    site.stop(collector)
    assert checkpoint.stat().st_mode & 0o777 == 0o600
    assert "1.out" in checkpoint.read_text()

"""Which files are opened, as root sees a host of several users."""

import os
import stat
import threading
from pathlib import Path

import pytest

from streams.producers.log_files import RefusedFile, open_log, search

ADA, MALLORY = 4001, 4002

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A directory of root's with the homes of two users."""
    tmp_path.chmod(0o755)
    return tmp_path


def give(path: Path, user: int) -> Path:
    os.chown(path, user, user, follow_symlinks=False)
    return path


def home(host: Path, user: int) -> Path:
    path = host / str(user)
    path.mkdir(exist_ok=True)
    return give(path, user)


def written(path: Path, user: int, text: str = "x\n") -> Path:
    path.write_text(text)
    return give(path, user)


def read(path: Path) -> bytes:
    opened = open_log(str(path))
    try:
        return os.pread(opened.file, 1000, 0)
    finally:
        os.close(opened.file)


def test_a_plain_file_is_opened(host: Path) -> None:
    (host / "a").write_text("lines\n")
    assert read(host / "a") == b"lines\n"
    assert read(host / ".." / host.name / "a") == b"lines\n"


@needs_root
def test_a_users_link_to_another_users_file_is_refused(host: Path) -> None:
    secret = host / "shadow"
    secret.write_text("root:secret\n")
    secret.chmod(0o600)
    link = home(host, MALLORY) / "slurm-4711.out"
    link.symlink_to(secret)
    give(link, MALLORY)
    with pytest.raises(RefusedFile, match="symbolic link"):
        open_log(str(link))


@needs_root
def test_a_users_link_to_a_directory_is_followed_to_their_own_files_alone(host: Path) -> None:
    scratch = host / "scratch"
    scratch.mkdir()
    written(scratch / "ada.out", ADA)
    written(scratch / "mallory.out", MALLORY)
    link = home(host, MALLORY) / "logs"
    link.symlink_to(scratch)
    give(link, MALLORY)
    assert read(link / "mallory.out") == b"x\n"
    with pytest.raises(RefusedFile, match="symbolic link"):
        open_log(str(link / "ada.out"))


@needs_root
def test_links_that_root_made_in_roots_directories_are_followed(host: Path) -> None:
    pods, containers = host / "pods", host / "containers"
    pods.mkdir()
    containers.mkdir()
    (pods / "0.log").write_text("from a pod\n")
    (containers / "train.log").symlink_to("../pods/0.log")
    (host / "logs").symlink_to(containers)
    assert read(host / "logs" / "train.log") == b"from a pod\n"
    # In a user's directory the user chooses what root's link is called.
    moved = home(host, MALLORY) / "slurm-4711.out"
    moved.symlink_to(pods / "0.log")
    with pytest.raises(RefusedFile, match="symbolic link"):
        open_log(str(moved))


def test_links_in_a_circle_end(host: Path) -> None:
    (host / "a").symlink_to("b")
    (host / "b").symlink_to("a")
    with pytest.raises(RefusedFile, match="symbolic link"):
        open_log(str(host / "a"))


@needs_root
def test_a_second_name_of_a_file_in_a_strangers_directory_is_refused(host: Path) -> None:
    mine = written(home(host, ADA) / "private.txt", ADA)
    link = home(host, MALLORY) / "slurm-4711.out"
    os.link(mine, link)
    with pytest.raises(RefusedFile, match="hard link"):
        open_log(str(link))
    assert read(mine) == b"x\n"


def test_what_is_no_file_is_refused_and_never_waited_for(host: Path) -> None:
    os.mkfifo(host / "fifo")
    opened = threading.Event()

    def write() -> None:
        with (host / "fifo").open("wb"):
            opened.set()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    with pytest.raises(RefusedFile, match="regular file"):
        open_log(str(host / "fifo"))
    with pytest.raises(RefusedFile, match="regular file"):
        open_log(str(host))
    with pytest.raises(RefusedFile, match="regular file"):
        open_log("/dev/null")
    os.close(open_log("/dev/null", kind=stat.S_ISCHR).file)
    # A writer that waits for a reader of its own was not given one.
    assert not opened.is_set()
    reader = os.open(host / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    writer.join()
    os.close(reader)


@needs_root
def test_the_answer_says_whether_users_can_have_chosen_the_name(host: Path) -> None:
    def private(path: Path) -> bool:
        opened = open_log(str(path))
        os.close(opened.file)
        return opened.private

    assert private(written(host / "root.log", 0))
    assert not private(written(home(host, MALLORY) / "left.log", 0))
    shared = host / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert not private(written(shared / "root.log", 0))
    shared.chmod(0o1777)
    assert private(shared / "root.log")


@needs_root
def test_a_file_that_is_swapped_for_a_link_is_never_read_through_it(host: Path) -> None:
    """Whatever the moment: what is checked is what was opened."""
    secret, path = host / "secret", host / "slurm-1.out"
    secret.write_text("secret\n")
    stop = threading.Event()

    def swap() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            new = host / "new"
            if turn % 2:
                new.symlink_to(secret)
                os.chown(new, MALLORY, MALLORY, follow_symlinks=False)
            else:
                new.write_text("mine\n")
            new.rename(path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        found, refused = set(), 0
        while len(found) == 0 or refused < 50:
            try:
                found.add(read(path))
            except RefusedFile:
                refused += 1
            except FileNotFoundError:
                continue
    finally:
        stop.set()
        thread.join()
    assert found <= {b"mine\n", b""}


def test_a_search_goes_through_directories_and_not_through_links(host: Path) -> None:
    deep = host / "a" / "b"
    deep.mkdir(parents=True)
    for path in (host / "x.out", host / "a" / "x.out", deep / "x.out", deep / "y.err"):
        path.touch()
    (deep / "up").symlink_to(host)
    (host / "a[1]").mkdir()
    (host / "a[1]" / "x.out").touch()
    found = sorted(search(f"{host}/**/x.out"))
    assert found == sorted([f"{host}/x.out", f"{host}/a/x.out", f"{host}/a/b/x.out", f"{host}/a[1]/x.out"])
    assert list(search(f"{host}/*/x.out")) in (
        [f"{host}/a/x.out", f"{host}/a[1]/x.out"],
        [f"{host}/a[1]/x.out", f"{host}/a/x.out"],
    )
    assert sorted(search(f"{host}/a/**")) == sorted(
        [f"{host}/a/x.out", f"{deep}", f"{deep}/x.out", f"{deep}/y.err", f"{deep}/up"]
    )
    assert sorted(search(f"{host}/**/b/**/*.err")) == [f"{deep}/y.err"]

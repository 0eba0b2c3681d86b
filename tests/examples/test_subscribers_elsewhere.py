"""examples/go and examples/shell on a real broker: what they print is what a scheduler would do."""

import shutil
import subprocess
import time
import uuid
from pathlib import Path

import msgspec
import pytest

from schedmate_records import Action, Decision, Mode
from scheduler_bridge import SigningKeys
from streams.kafka import KafkaProducer
from streams.transport import outgoing
from tests.docs.pages import ROOT
from tests.servers import require
from tests.servers.kafka import Kafka

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(600)]

KEYS = {"short": "s" * 32, "bytes": "ü" * 40}


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("keys") / "signing-keys"
    file.write_text("# of operators\n" + "".join(f"{name}  {secret}\n" for name, secret in KEYS.items()))
    return file


def publish(kafka: Kafka, job: str) -> None:
    """Write what is to be carried out, twice, and what is not."""
    now = time.time()
    good = Decision(
        id=f"restart/{job}/0/test",
        action=Action.RESTART,
        job=job,
        time=now,
        expires=now + 600,
        mode=Mode.ACT,
        policy="a test",
        reason='Größe "0"\nline 2 \u2028 $(touch /tmp/x) 🚀',
        exclude_nodes=["n1", "n2"],
        grace_s=2.5,
    )
    keys = {name: SigningKeys({name: secret.encode()}) for name, secret in KEYS.items()}
    signed = keys["short"].sign(good)
    other = keys["bytes"].sign(msgspec.structs.replace(good, id=f"evict/{job}", action=Action.EVICT, exclude_nodes=[]))
    changed = msgspec.structs.replace(signed, id=f"changed/{job}", job=f"forged-{job}")
    stranger = SigningKeys({"short": b"x" * 32}).sign(msgspec.structs.replace(changed, id=f"stranger/{job}"))
    shadow = keys["short"].sign(
        msgspec.structs.replace(good, id=f"shadow/{job}", job=f"shadow-{job}", mode=Mode.SHADOW)
    )
    late = keys["short"].sign(msgspec.structs.replace(good, id=f"late/{job}", job=f"late-{job}", expires=now - 1))
    producer = KafkaProducer(kafka.connection)
    for each in (signed, signed, other, changed, stranger, shadow, late):
        producer.send(outgoing(each)).result(30)
    producer.close()


def test_go(kafka: Kafka, key_file: Path, tmp_path: Path) -> None:
    require(shutil.which("go") is not None, "go", "Install Go 1.26 or newer.")
    built = subprocess.run(
        ["nice", "go", "build", "-o", tmp_path / "subscriber", "."],
        cwd=ROOT / "examples" / "go", capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    if "dial tcp" in built.stderr or "no such host" in built.stderr:
        pytest.skip(f"Go's module proxy cannot be reached: {built.stderr[-300:]}")
    assert built.returncode == 0, built.stderr
    job = uuid.uuid4().hex
    publish(kafka, job)
    command = [str(tmp_path / "subscriber"), "-brokers", kafka.address, "-group", uuid.uuid4().hex]
    ran = subprocess.run(
        [*command, "-keys", str(key_file), "-quiet", "8s"], capture_output=True, text=True, check=True, timeout=120
    )
    printed = [line for line in ran.stdout.splitlines() if job in line]
    assert sorted(printed) == [f"start {job} again, away from n1, n2", f"stop {job} and queue it again"]
    assert ran.stderr.count(f"/{job}") == 2
    assert KEYS["short"] not in ran.stdout + ran.stderr


def test_shell(kafka: Kafka, key_file: Path, tmp_path: Path) -> None:
    for tool in ("jq", "kcat"):
        require(shutil.which(tool) is not None, tool, "Run tests/servers/install.sh.")
    job = uuid.uuid4().hex
    publish(kafka, job)
    script = str(ROOT / "examples" / "shell" / "subscriber.sh")
    ran = subprocess.run(
        [script, kafka.address, uuid.uuid4().hex, str(key_file), "-e"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    printed = [line for line in ran.stdout.splitlines() if job in line]
    # It keeps no list of what it has printed: a decision that is written twice is printed twice.
    assert printed == [f"restart\t{job}\tn1,n2"] * 2 + [f"evict\t{job}\t"], ran.stderr[-2000:]
    assert ran.stderr.count(f"/{job}") == 2
    assert KEYS["short"] not in ran.stdout + ran.stderr

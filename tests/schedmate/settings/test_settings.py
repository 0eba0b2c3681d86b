"""Settings: layers, origins, and errors that say what to do."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from schedmate.settings.settings import OTHER_VARIABLES, SettingsError, load
from schedmate_records import Action, Mode


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCHEDMATE_CONFIG", raising=False)


def test_every_command_reads_them_so_they_load_no_client_and_no_log() -> None:
    heavy = (
        "structlog",
        "rich",
        "numpy",
        "kafka",
        "redis",
        "prometheus_client",
        "scheduler_bridge.schedulers.slurm.client",
        "processors.job",
    )
    program = f"import sys, schedmate.settings.settings; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def write(path: Path, text: str) -> Path:
    file = path / "schedmate.toml"
    file.write_text(text)
    return file


def test_later_layers_win_and_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, '[kafka]\nbrokers = "file:1"\ngroup = "g"\npartitions = 3\n')
    monkeypatch.setenv("SCHEDMATE_KAFKA__BROKERS", "env:1")
    monkeypatch.setenv("SCHEDMATE_KAFKA__GROUP", "h")
    loaded = load(file, {"kafka.brokers": "flag:1"})
    kafka = loaded.settings.kafka
    assert (kafka.brokers, kafka.group, kafka.partitions, kafka.replication) == ("flag:1", "h", 3, 1)
    assert loaded.origins == {
        ("kafka", "brokers"): "flag",
        ("kafka", "group"): "environment",
        ("kafka", "partitions"): f"file {file}",
    }


def test_modes_come_in_any_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().settings.bridge.modes == {}
    assert load(write(tmp_path, '[bridge.modes]\nrestart = "act"\n')).settings.bridge.modes == {
        Action.RESTART: Mode.ACT
    }
    monkeypatch.setenv("SCHEDMATE_BRIDGE__MODES", "restart=act, cancel_packing=approve")
    assert load().settings.bridge.modes == {Action.RESTART: Mode.ACT, Action.CANCEL_PACKING: Mode.APPROVE}
    assert load(flags={"bridge.modes": ""}).settings.bridge.modes == {}


def test_lists_come_with_commas_or_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "schedmate.toml"
    file.write_text('[web]\noperators = ["alice", "bob"]\n')
    assert load(file).settings.web.operators == ("alice", "bob")
    assert load(file, {"web.operators": "carol"}).settings.web.operators == ("carol",)
    monkeypatch.setenv("SCHEDMATE_WEB__OPERATORS", "dan, eve")
    assert load(file).settings.web.operators == ("dan", "eve")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[kafka]\nbroker = "x"\n', ["unknown setting of [kafka]: broker", "did you mean brokers?"]),
        ("[kafak]\n", ["unknown section: kafak", "did you mean kafka?"]),
        ('brokers = "x"\n', ["expected sections such as [kafka]"]),
        ("[kafka\n", ["expected TOML"]),
        ('[kafka]\npassword = "geheim"\n', ["a password is not allowed here"]),
        ("[processors]\nslowdown_threshold = 7\n", ["processors.slowdown_threshold", "less than 1", "got 7"]),
        ('[bridge.modes]\nexplode = "act"\n', ["bridge.modes", "explode"]),
        ('[bridge.modes]\nrestart = "yes"\n', ["bridge.modes", "'act'", "got 'yes'"]),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load(write(tmp_path, text))
    for word in words:
        assert word in str(caught.value)
    assert "geheim" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        load(tmp_path / "nowhere.toml")


def test_passwords_come_from_the_environment_or_a_file_and_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHEDMATE_KAFKA__PASSWORD", "geheim")
    loaded = load()
    assert loaded.settings.kafka.secret() == "geheim"
    assert "geheim" not in repr(loaded)
    secret = tmp_path / "secret"
    secret.write_text("anders\n")
    assert load(flags={"redis.password_file": str(secret)}).settings.redis.secret() == "anders"
    with pytest.raises(SettingsError, match="password"):
        load(flags={"redis.password_file": str(tmp_path / "none")}).settings.redis.secret()
    with pytest.raises(SettingsError, match="not allowed here"):
        load(flags={"kafka.password": "geheim"})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("SCHEDMATE_KAFKA_BROKERS", "did you mean SCHEDMATE_KAFKA__BROKERS?"),
        ("SCHEDMATE_KAFAK__BROKERS", "did you mean SCHEDMATE_KAFKA__BROKERS?"),
        ("SCHEDMATE_WXQ", "SCHEDMATE_SECTION__NAME"),
    ],
)
def test_a_variable_that_nothing_takes_is_an_error(monkeypatch: pytest.MonkeyPatch, name: str, hint: str) -> None:
    monkeypatch.setenv(name, "k1:9092")
    with pytest.raises(SettingsError) as caught:
        load()
    assert name in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "SCHEDMATE_JOB_ID",
        "SCHEDMATE_KAFKA_PORT",
        "SCHEDMATE_API_SERVICE_HOST",
        "SCHEDMATE_API_PORT_80_TCP_ADDR",
        "schedmate_kafka__group",
    ],
)
def test_variables_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    load()


@pytest.mark.parametrize("value", ["inf", "nan", "1e300"])
def test_a_time_that_no_clock_reaches_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SCHEDMATE_PROCESSORS__HANG_SECONDS", value)
    with pytest.raises(SettingsError, match=r"^environment: processors\.hang_seconds: .* got "):
        load()


def test_variables_of_the_composition_are_known() -> None:
    text = (Path(__file__).resolve().parents[3] / "docker-compose.yml").read_text()
    assert set(re.findall(r"\$\{(SCHEDMATE_[A-Z_]+)", text)) <= OTHER_VARIABLES

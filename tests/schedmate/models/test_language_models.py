"""The language model as the settings say."""

from pathlib import Path

import pytest

from schedmate.models.language_models import language_model, model_servers
from schedmate.settings.settings import LanguageModelSection, SettingsError, load


def test_without_servers_there_is_no_model() -> None:
    assert language_model(load().settings.language_model) is None


def test_limits_and_servers_come_from_the_settings(tmp_path: Path) -> None:
    flags = {
        "language_model.servers": "http://a:1/v1, http://b:2/v1",
        "language_model.timeout_seconds": "7",
        "language_model.questions_per_job_hour": "3",
        "language_model.answers_file": str(tmp_path / "a.jsonl"),
    }
    model = language_model(load(flags=flags).settings.language_model)
    assert model is not None
    assert [server.url for server in model.servers] == ["http://a:1/v1", "http://b:2/v1"]
    assert (model.limits.timeout_s, model.limits.total_s, model.limits.per_job_hour) == (7, 21, 3)


def test_bad_settings_are_said() -> None:
    with pytest.raises(SettingsError, match=r"language_model\.servers: expected the address"):
        model_servers(LanguageModelSection(servers=("nowhere",)))
    with pytest.raises(SettingsError, match=r"language_model\.answers_file"):
        language_model(LanguageModelSection(servers=("http://a/v1",), answers_file=Path("/")))

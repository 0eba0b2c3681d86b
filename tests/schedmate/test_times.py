"""Moments as a person says them."""

import time
from datetime import UTC, datetime

import pytest

from schedmate.settings.settings import SettingsError
from schedmate.times import ago, local, moment_at, parse_since

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "now"), (1, "1 second ago"), (59.9, "59 seconds ago"), (60, "1 minute ago"), (200, "3 minutes ago"),
        (3600, "1 hour ago"), (86_399, "23 hours ago"), (3 * 86_400, "3 days ago"), (-7200, "in 2 hours"),
    ],
)  # fmt: skip
def test_how_long_ago(seconds: float, words: str) -> None:
    assert ago(datetime.fromtimestamp(NOW - seconds, UTC), NOW) == words


def test_since_takes_a_duration_or_a_date() -> None:
    assert [NOW - parse_since(text, NOW) for text in ("90s", "30m", "2h", "7d", "1w")] == [
        90,
        1800,
        7200,
        604_800,
        604_800,
    ]
    assert parse_since("2026-11-22T10:00:00+00:00") == 1_795_341_600.0
    for wrong in ("soon", "", "5y", "-3h", "2026-13-01"):
        with pytest.raises(SettingsError, match="expected --since"):
            parse_since(wrong)


def test_what_no_calendar_holds() -> None:
    assert moment_at(1e300) is None
    assert moment_at(float("nan")) is None
    assert moment_at(None) is None


@pytest.mark.parametrize(
    ("zone", "shown"), [("UTC", "19:59:06"), ("Asia/Tokyo", "04:59:06"), ("America/New_York", "14:59:06")]
)
def test_a_moment_is_shown_in_the_readers_zone(monkeypatch: pytest.MonkeyPatch, zone: str, shown: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        text = local(datetime.fromisoformat("2026-11-22T19:59:06+00:00"))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert text.split()[1] == shown

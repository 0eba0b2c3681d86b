"""The user of a job whose GPUs are idle is notified once, and once more."""

from schedmate.notifications.message import describe
from schedmate_records import Alarm, AlarmKind


def idle(value: float) -> Alarm:
    return Alarm(
        id="a",
        job="1",
        kind=AlarmKind.GPUS_IDLE,
        raised=True,
        time=0,
        since=0,
        value=value,
        limit=1800.0,
        detail="idle",
    )


def test_two_notices_go_however_long_the_gpus_are_idle() -> None:
    notices = [describe(idle(seconds)) for seconds in (1900, 3800, 7600, 15_200)]
    first, second = notices[:2]
    assert first
    assert second
    assert first.key != second.key
    assert notices[2:] == [None, None]


def test_other_alarms_have_one_key() -> None:
    hang = Alarm(
        id="a", job="1", kind=AlarmKind.HANG, raised=True, time=0, since=0, value=9999.0, limit=1.0, detail="silent"
    )
    message = describe(hang)
    assert message
    assert message.key == "alarm/1/0/hang"

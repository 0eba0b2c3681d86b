"""Which of ClickHouse's errors are waited for."""

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError

from sinks import RecordRejected, SinkRejected, SinkUnavailable, TablesMissing, UnknownFault
from sinks.clickhouse.faults import translated


def error(code: int) -> DatabaseError:
    return DatabaseError(f"Code: {code}. DB::Exception: some words", code=code)


@pytest.mark.parametrize("code", [252, 241, 242, 243, 202, 319, 439, 279, 225, 173, 499, 76, 254, 244, 286, 473, 999])
def test_a_code_of_a_busy_or_broken_server_is_waited_for(code: int) -> None:
    assert type(translated(error(code), "writing")) is SinkUnavailable


@pytest.mark.parametrize("code", [60, 81, 16, 218])
def test_a_missing_table_is_named_as_such(code: int) -> None:
    found = translated(error(code), "writing")
    assert type(found) is TablesMissing
    assert "schedmate migrate" in str(found)


@pytest.mark.parametrize("code", [164, 497, 516])
def test_a_user_without_rights_is_refused(code: int) -> None:
    assert type(translated(error(code), "writing")) is SinkRejected


@pytest.mark.parametrize("code", [27, 70])
def test_a_value_that_does_not_fit_is_the_fault_of_a_record(code: int) -> None:
    assert type(translated(error(code), "writing")) is RecordRejected


@pytest.mark.parametrize("code", [1, 49, 1001, 1002, 77_777])
def test_another_code_is_unknown(code: int) -> None:
    assert type(translated(error(code), "writing")) is UnknownFault

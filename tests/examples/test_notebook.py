"""examples/history.ipynb on the embedded engine: every cell runs, in order."""

import json
from typing import Any

import pytest

from sinks.clickhouse.writer import ClickHouseWriter
from tests.docs.pages import ROOT
from tests.sinks.conftest import Embedded, embedded
from tests.sinks.made import T0, metric

__all__ = ["embedded"]

NOTEBOOK = json.loads((ROOT / "examples" / "history.ipynb").read_text())


@pytest.mark.slow
def test_the_cells_show_what_the_tables_hold(embedded: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([metric(step) for step in range(1, 241)])
    writer.close()
    monkeypatch.setenv("SCHEDMATE_CLICKHOUSE__URL", embedded.url)
    names: dict[str, Any] = {}
    for number, cell in enumerate(each for each in NOTEBOOK["cells"] if each["cell_type"] == "code"):
        exec(compile("".join(cell["source"]), f"history.ipynb, cell {number}", "exec"), names)
    names["client"].close()
    assert names["jobs"]["step"].tolist() == [240]
    assert names["minutes"]["minute"].iloc[0].timestamp() == T0
    assert names["minutes"]["p50"].tolist() == pytest.approx([0.5] * 3)
    assert len(names["causes"]) == 0


def test_no_output_is_stored_in_it() -> None:
    assert all(not cell.get("outputs") for cell in NOTEBOOK["cells"])

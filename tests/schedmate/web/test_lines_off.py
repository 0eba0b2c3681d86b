"""Where lines are not stored, the page names the setting that stores them, or links to another system."""

import urllib.request

from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

from .history import write

__all__ = ["embedded"]


def test_the_page_names_the_setting_or_links_to_the_other_system(embedded: Embedded) -> None:
    write(embedded)
    shown = []
    for link in ("", "https://logs.example.org/?job={job}&line={line}"):
        with web_server(embedded.connect, {}, log_link=link) as address:
            for path in ("/job?id=steady", "/log?id=steady"):
                with urllib.request.urlopen(f"{address}{path}", timeout=30) as answer:
                    shown.append(answer.read().decode())
    for text in shown[:2]:
        assert "clickhouse.job_lines_days" in text
    for text in shown[2:]:
        assert 'href="https://logs.example.org/?job=steady&amp;line="' in text
        assert "clickhouse.job_lines_days" not in text
    assert not any('name="grep"' in text for text in shown)

"""Takes the pictures of the page in `docs/images`: `python -m benchmarks.web.pictures DATABASE`.

The database is what `schedmate demo --keep DATABASE` leaves. It needs Chromium and playwright, as the tests of the page do. Look at the
pictures before they are committed.
"""

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import FloatRect, ViewportSize, sync_playwright

from processors.diagnose import load
from sinks.clickhouse import open_client
from tests.servers.web import web_server

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
VIEWS = {"web-cluster": "/", "web-job": "/job?id=trainer"}
SIZE = ViewportSize(width=1200, height=600)
VERDICT = FloatRect(x=0, y=0, width=1200, height=1030)
"""Part of the job's page that README.md shows: down to the lines of the verdict."""


def main() -> None:
    """Write the pictures."""
    given = argparse.ArgumentParser(prog="python -m benchmarks.web.pictures", description=__doc__)
    given.add_argument("database", type=Path, help="what `schedmate demo --keep` left")
    database = given.parse_args().database.absolute()
    signatures = {one.name: one for one in load()}
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    with web_server(lambda: open_client(f"chdb://{database}"), signatures) as address, sync_playwright() as started:
        # Inside a container Chromium has no sandbox of its own; it sees only this page.
        chromium = started.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        context = chromium.new_context(base_url=address, viewport=SIZE, color_scheme="light", timezone_id="UTC")
        tab = context.new_page()
        for name, view in VIEWS.items():
            tab.goto(view)
            tab.screenshot(path=IMAGES / f"{name}.png", full_page=True)
            if name == "web-job":
                tab.screenshot(path=IMAGES / "web-verdict.png", full_page=True, clip=VERDICT)
        chromium.close()


if __name__ == "__main__":
    main()

"""Takes the pictures of the page in `docs/images`: `python -m benchmarks.web.pictures DATABASE`.

The database is what `schedmate demo --keep DATABASE` leaves. It needs Chromium, playwright and Pillow. Look at the pictures before they
are committed. Those whose name ends in `before` show the first version of the page and stay as they are.
"""

import argparse
import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import ViewportSize, sync_playwright

from processors.diagnose import load
from sinks.clickhouse.client import open_client
from tests.servers.web import web_server

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
VIEWS = {"web-cluster": "/", "web-job": "/job?id=trainer&attempt=0"}
DESK, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)
COLOURS = 160
"""Colours of a picture: enough for text and lines, and a third of the size."""


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
        for suffix, scheme, size in (("", "light", DESK), ("-dark", "dark", DESK), ("-phone", "light", PHONE)):
            context = chromium.new_context(
                base_url=address,
                viewport=size,
                color_scheme="dark" if scheme == "dark" else "light",
                timezone_id="UTC",
            )
            tab = context.new_page()
            for name, view in VIEWS.items():
                tab.goto(view)
                tab.wait_for_load_state("networkidle")
                _write(IMAGES / f"{name}{suffix}.png", tab.screenshot(full_page=suffix == ""))
            context.close()
        chromium.close()


def _write(path: Path, picture: bytes) -> None:
    few = Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()

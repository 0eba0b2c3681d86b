"""The curves of a job answer the pointer and the keyboard in Chromium."""

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright import sync_api as playwright

pytestmark = pytest.mark.slow
STEADY = "/job?id=steady"
"""Measured: step time, loss, throughput and GPU use."""


def place(tab: "playwright.Page", share: float, plot: int = 0) -> tuple[float, float]:
    """Return where `share` of the way through a plot is on the screen."""
    tab.locator(".curves .u-over").nth(plot).scroll_into_view_if_needed()
    box = tab.locator(".curves .u-over").nth(plot).bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def moment(tab: "playwright.Page", share: float) -> str:
    """Return the moment that is shown where the pointer stands at `share` of the way through."""
    tab.mouse.move(*place(tab, share))
    shown = tab.locator(".reading", has_text=re.compile(r"\d\d:\d\d:\d\d"))
    return shown.inner_text().partition(" · ")[0].partition("\n")[0]


def zoom(tab: "playwright.Page", since: float, until: float, plot: int = 0) -> None:
    """Drag from one share of a plot's width to another."""
    tab.mouse.move(*place(tab, since, plot))
    tab.mouse.down()
    tab.mouse.move(*place(tab, until, plot), steps=4)
    tab.mouse.up()


def come_true(tab: "playwright.Page", condition: str) -> None:
    """Wait until `condition` holds, frame by frame; the browser library's own wait would break the page's policy."""
    frame = "await new Promise(requestAnimationFrame)"
    assert tab.evaluate(
        f"async () => {{ for (let at = 0; at < 600 && !({condition}); at++) {frame}; return {condition} }}"
    )


def test_the_pointer_reads_all_curves_at_once(tab: "playwright.Page") -> None:
    tab.goto(STEADY)
    values = tab.locator(".curves .value")
    assert values.all_inner_texts() == [""] * 4
    for plot in (0, 3):
        tab.mouse.move(*place(tab, 0.7, plot))
        tab.locator(".value.v1", has_text="0.5").wait_for()
        step_s, loss, speed, gpu = values.all_inner_texts()
        assert (step_s, speed, gpu) == ("0.5", "64", "80")
        assert 0 < float(loss) < 0.1
    tab.mouse.move(0, 0)
    tab.locator(".reading", has_text="drag to zoom").wait_for()
    assert values.all_inner_texts() == [""] * 4


def test_what_is_marked_is_said_at_the_pointer(tab: "playwright.Page") -> None:
    tab.goto("/job?id=again")
    slider = tab.get_by_role("slider", name=re.compile("Moment"))
    slider.focus()
    tab.keyboard.press("End")
    tab.keyboard.press("Home")
    assert re.search(r"step time 0\.5 s, loss 2, throughput 64 samples/s", slider.get_attribute("aria-valuetext") or "")
    x, y = place(tab, 0.0)
    tab.mouse.move(x + 1, y)
    tab.locator(".reading", has_text="started (attempt 0)").wait_for()


def test_dragging_zooms_all_curves_and_a_double_click_shows_all(tab: "playwright.Page") -> None:
    tab.goto(STEADY)
    whole = moment(tab, 0.1), moment(tab, 0.9)
    everything = tab.get_by_role("button", name="Show all")
    assert not everything.is_visible()
    zoom(tab, 0.4, 0.6, plot=2)
    everything.wait_for()
    near = moment(tab, 0.1), moment(tab, 0.9)
    assert whole[0] < near[0] < near[1] < whole[1]
    tab.mouse.dblclick(*place(tab, 0.5))
    everything.wait_for(state="hidden")
    assert (moment(tab, 0.1), moment(tab, 0.9)) == whole
    zoom(tab, 0.4, 0.6)
    everything.click()
    assert (moment(tab, 0.1), moment(tab, 0.9)) == whole


def test_it_is_read_and_zoomed_by_keyboard(tab: "playwright.Page") -> None:
    tab.goto(STEADY)
    slider = tab.get_by_role("slider")
    slider.focus()
    said = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        tab.keyboard.press(key)
        said.append(slider.get_attribute("aria-valuetext") or "")
    assert "step time 0.5 s" in said[0]
    assert said[0] < said[1]
    assert said[2] == said[0]
    tab.keyboard.press("+")
    tab.get_by_role("button", name="Show all").wait_for()
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Show all").wait_for(state="hidden")


def test_a_renewal_keeps_the_zoom_and_leaves_nothing_behind(tab: "playwright.Page") -> None:
    tab.goto(STEADY)
    zoom(tab, 0.4, 0.6)
    near = moment(tab, 0.1)
    for _ in range(3):
        with tab.expect_response(re.compile("/job")):
            tab.evaluate("document.getElementById('live').dataset.old = ''; renew()")
        tab.locator("#live:not([data-old])").wait_for(state="attached")
    # The pointer has not moved, and what is below it is still said.
    assert tab.locator(".reading").inner_text().startswith(near)
    assert moment(tab, 0.1) == near
    assert tab.get_by_role("button", name="Show all").is_visible()
    assert tab.locator(".uplot").count() == 4
    assert tab.evaluate("uPlot.sync('job').plots.length") == 4


def test_nothing_is_renewed_under_a_drag(tab: "playwright.Page") -> None:
    tab.goto(STEADY)
    asked: list[str] = []
    tab.on("request", lambda request: "/job" in request.url and asked.append(request.url))
    tab.mouse.move(*place(tab, 0.4))
    tab.mouse.down()
    tab.mouse.move(*place(tab, 0.5))
    tab.evaluate("renew()")
    tab.mouse.move(*place(tab, 0.6))
    assert asked == []
    with tab.expect_response(re.compile("/job")):
        tab.mouse.up()


def test_the_drawing_of_the_server_is_what_a_screen_reader_and_paper_get(tab: "playwright.Page") -> None:
    tab.goto(STEADY)
    assert tab.get_by_role("img", name=re.compile("step time, loss, throughput, GPU use over time")).count() == 1
    tab.emulate_media(media="print")
    drawing = tab.locator("svg.plot").bounding_box()
    assert drawing is not None
    assert drawing["width"] > 500
    assert not tab.locator(".curves").is_visible()


def test_it_follows_the_window_and_the_readers_colours(tab: "playwright.Page") -> None:
    tab.goto(STEADY)
    picture = "document.querySelector('.uplot canvas').toDataURL()"
    light = tab.evaluate(picture)
    tab.emulate_media(color_scheme="dark")
    come_true(tab, f"{picture} !== {json.dumps(light)}")
    tab.set_viewport_size({"width": 360, "height": 740})
    come_true(tab, "document.querySelector('.uplot canvas').getBoundingClientRect().right <= 360")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_where_a_script_does_not_arrive_the_servers_drawing_stays(chromium: "playwright.Browser", page: str) -> None:
    context = chromium.new_context(base_url=page)
    context.route("**/uplot.min.js", lambda route: route.abort())
    tab = context.new_page()
    tab.goto(STEADY)
    assert tab.locator("svg.plot").is_visible()
    assert tab.locator(".drawn").count() == 0
    context.close()

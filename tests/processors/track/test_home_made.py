"""What people's own loops print: other languages, drawn boxes, bare counters, units as names."""

# ruff: noqa: RUF001  # the wide marks are meant

import pytest

from .expecting import expect, fields
from .test_formats import loss
from .test_tracker import track

FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "chinese": (
        [f"第{1 + i // 20}轮 第{i % 20}步 损失: {loss(i):.4f} 用时: 0.370秒" for i in range(41)],
        {"epoch": 3.0, "step": 0, "loss": 2.2, "step_time_s": 0.37},
    ),
    "chinese with wide marks": (
        [f"第 {i}/500 步，损失：{loss(i):.4f}，耗时＝370毫秒" for i in range(1, 41)],
        {"step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
    "chinese epochs": (
        [f"[第 {i}/50 轮] 训练损失 {loss(i):.4f} 准确率 0.5" for i in range(1, 41)],
        {"epoch": 40.0, "step": None, "loss": 2.2, "step_time_s": None},
    ),
    "german": (
        [f"Schritt {i}: Verlust {loss(i):.4f}, Dauer 0.370 s" for i in range(1, 41)],
        {"step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
    "russian": (
        [f"эпоха 2, шаг {i}, потери {loss(i):.4f}, время 0.370" for i in range(1, 41)],
        {"epoch": 2.0, "step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
    "boxes": (
        [
            line
            for i in range(1, 41)
            for line in ("╭───┬───╮", f"│ step │ {i} │", f"│ loss │ {loss(i):.4f} │", "│ s/step │ 0.370 │", "╰───┴───╯")
        ],
        {"step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
    "number sign": (
        [f"#{i} loss={loss(i):.4f} fwd=110.0ms bwd=220.0ms opt=40.0ms total=370.0ms" for i in range(1, 41)],
        {"step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
    "a unit names a column": (
        ["    step    loss      lr   sec", *(f"{i:8} {loss(i):7.4f} 1.0e-03 0.370" for i in range(1, 41))],
        {"step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
    "hours": (
        [f"train_loss={loss(i):.4f} step={20 * i} hours={i * 7.4 / 3600:.5f}" for i in range(1, 41)],
        {"step": 800, "loss": 2.2, "step_time_s": 0.37},
    ),
    "over the last": (
        [f"avg step time over last 20: 0.370s, step {20 * i}, loss {loss(i):.4f}" for i in range(1, 41)],
        {"step": 800, "loss": 2.2, "step_time_s": 0.37},
    ),
    "a total among parts": (
        [
            line
            for i in range(1, 41)
            for line in (f"Step {i} took 0.370s", "{'Loss/box': 0.5,", " 'Loss/mask_loss': 0.6,", f" 'Loss/total_loss': {loss(i):.4f}}}")
        ],
        {"step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_of_home_made_formats(name: str) -> None:
    made, expected = FORMATS[name]
    metric, _ = track(made)
    expect(metric, expected)


@pytest.mark.parametrize("name", FORMATS)
def test_home_made_formats_do_not_depend_on_the_cut(name: str) -> None:
    made, expected = FORMATS[name]
    whole = fields(track(made)[0], expected)
    for sizes in ([1] * len(made), [3] * len(made), [7, 1, 30]):
        assert fields(track(made, sizes=sizes)[0], expected) == whole

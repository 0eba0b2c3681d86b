"""What people's own loops print: other languages, drawn boxes, bare counters, units as names."""

# ruff: noqa: RUF001  # the wide marks are meant

import pytest

from .expecting import expect_however_cut, track
from .test_formats import loss

FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "chinese with wide marks": (
        [f"第 {i}/500 步，损失：{loss(i):.4f}，耗时＝370毫秒" for i in range(1, 41)],
        {"step": 40, "loss": 2.2, "step_time_s": 0.37},
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
    "a range in brackets": (
        [
            f" Epoch[ 2 of 9]-Minibatch[ {10 * i + 1}- {10 * i + 10}, {i}%]: loss = {loss(i + 1):.4f} * 2560; "
            "time = 3.7000s; samplesPerSecond = 691.9"
            for i in range(40)
        ],
        {"step": 400, "loss": 2.2, "step_time_s": 0.37, "throughput": 691.9},
    ),
    "a mean of steps beside the counter": (
        [f"  [ {i}] ep={10 * i} steps={150 + i % 7}.5 ploss={loss(i):.4f} w=20/20/5 ({8 * i}s)" for i in range(1, 41)],
        {"step": 40, "loss": 2.2, "step_time_s": 8.0},
    ),
    "numbers glued to their names": (
        [f"epoch3 iteration{i}, Loss: {loss(i):.4f}, Steps/Sec: 2.70" for i in range(1, 41)],
        {"epoch": 3.0, "step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
    "single precision": (
        [f"loss(x, y) = {loss(i):.4f}f0" for i in range(1, 41)],
        {"loss": 2.2, "step_time_s": None},
    ),
    "all of the losses": (
        [f"step {i} | cls loss: 0.31, box loss: 0.2, all_loss: {loss(i):.4f}" for i in range(1, 41)],
        {"step": 40, "loss": 2.2},
    ),
    "a bar around a second": (
        [f"\r {i}%|{'#' * (i // 8):<5}| {i}/100 [00:{i:02}<01:00, {'1.02s/it' if i % 2 else '1.01it/s'}]" for i in range(1, 41)],
        {"step": 40, "step_time_s": 1.005, "method": "rate"},
    ),
    "a bar, and a counter after it": (
        [
            f"stage 2 ━━━━━━━━━━ {i}/500 0:00:{i * 37 // 100:02} • 0:01:00 2.70it/s early_stopping: 0/10 {0.5 + i / 1000:.4f}"
            for i in range(1, 41)
        ],
        {"step": 40, "step_time_s": 0.37},
    ),
    "stamps of two kinds": (
        [
            f"I0{1 + i % 2}10 05:08:{i:02}.000000 4783 log.py:115] step {10 * i}: loss = {loss(i):.4f}" if i % 2
            else f"2019-04-23 05:08:{i:02}.000000: step {10 * i}: loss = {loss(i):.4f}"
            for i in range(1, 41)
        ],
        {"step": 400, "loss": 2.2, "step_time_s": None},
    ),
    "ends of epochs with a rate of their own": (
        [
            line
            for i in range(1, 41)
            for line in (
                f"[Epoch {i} Batch 200/372] loss {loss(i):.4f}, throughput 240.0 samples/s",
                f"[Epoch {i}] throughput 16000.0 samples/s",
            )
        ],
        {"step": 200, "throughput": 240.0},
    ),
    "epoch and step in brackets": (
        [f"[{1 + i // 10:3d}, {100 * (i % 10) + 100:5d}] loss: {loss(i):.3f}" for i in range(41)],
        {"epoch": 5.0, "step": 100, "loss": 2.2, "step_time_s": None},
    ),
    "minibatches from and to": (
        [
            f"LOG (nnet-train[5.5]:Print():nnet.cc:{i}) Average objective function for 'output' for minibatches "
            f"{10 * i - 9}-{10 * i} is -{loss(i):.4f} over 5120 frames."
            for i in range(1, 41)
        ],
        {"step": 400, "loss": -2.2},
    ),
    "batch and data times": (
        [f"Train: [3/4][{i}/100] Data 0.003 (0.004) Batch 0.370 (0.368) Remain 00:{50 - i:02} loss: {loss(i):.4f}" for i in range(1, 41)],
        {"step": 40, "loss": 2.2, "step_time_s": 0.37},
    ),
    "updates": (
        [f"num_updates {10 * i}: loss {loss(i):.4f}; 0.37 s/upd" for i in range(1, 41)],
        {"step": 400, "loss": 2.2, "step_time_s": 0.37},
    ),
    "train of a step": (
        [f"train[{10 * i}] loss={loss(i):.4f} steps_per_second=2.703" for i in range(1, 41)],
        {"step": 400, "loss": 2.2, "step_time_s": 0.37},
    ),
    "after so many steps": (
        [f"After {20 * i} training step(s), loss on training batch is {loss(i):.4f}." for i in range(1, 41)],
        {"step": 800, "loss": 2.2},
    ),
    "a monitor of its own kind": (
        [
            line
            for i in range(1, 41)
            for line in (
                f"\x1b[32m[0614 19:{i:02}:00 @monitor.py:467]\x1b[0m GlobalStep: {100 * i}",
                f"\x1b[32m[0614 19:{i:02}:00 @monitor.py:467]\x1b[0m cost: {loss(i):.4f}",
            )
        ],
        {"step": 4000, "loss": 2.2, "step_time_s": 0.6},
    ),
    "how many were right": (
        [f"Epoch {i} Loss: {loss(i):.4f} | Acc: 45.100% ({14 * i}/{32 * i})" for i in range(1, 41)],
        {"epoch": 40.0, "step": None, "loss": 2.2},
    ),
    "took, of one step or of an interval": (
        [f"step {20 * i} loss {loss(i):.4f} 86.5 samples/s took 7.40s" for i in range(1, 41)],
        {"step": 800, "step_time_s": None, "throughput": 86.5},
    ),
    "a counter and measures of any name": (
        [f"19:{i:02}:00 | INFO     | [LOOP] step={100 * i} confidence=0.85 avg=0.{700 + i}" for i in range(1, 41)],
        {"step": 4000, "step_time_s": 0.6},
    ),
    "a list of losses": (
        [f"[Epoch 0/30, Batch {i}/729] [Losses: x 0.25, y 0.27, conf 3.4, total {loss(i):.4f}, recall: 0.07]" for i in range(1, 41)],
        {"step": 40, "loss": 2.2},
    ),
    "russian training and validation": (
        [
            line
            for i in range(1, 41)
            for line in (f"Эпоха {i}/50", f"Обучение - Потери: {loss(i):.4f} Точность: 0.91", "Валидация - Потери: 0.8790 Точность: 0.83")
        ],
        {"loss": 2.2},
    ),
    "the value of a loss": (
        [f"Epoch[0] Batch [{20 * i}-{20 * i + 20}] Speed: 220.0 samples/sec acc=0.1 lossvalue={loss(i):.4f}" for i in range(1, 41)],
        {"step": 820, "loss": 2.2, "throughput": 220.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_of_home_made_formats(name: str) -> None:
    expect_however_cut(*FORMATS[name])


def test_a_time_after_the_name_of_a_loss_is_no_loss() -> None:
    assert track([f"Finish train TripletLoss in {100 + i}.5 seconds" for i in range(40)])[0] is None

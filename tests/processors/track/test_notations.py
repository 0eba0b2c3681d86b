"""Counters, times and values in notations of their own, and what the numbers beside them make of them: written here."""

import pytest

from .expecting import clock, expect_however_cut, track
from .test_formats import lines, loss

FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "a bar that is drawn twice when it closes": (
        [
            *(
                f"{k}%|{'#' * (k // 10):<10}| {k}/100 [{3 * k // 60:02}:{3 * k % 60:02}<00:09,  3.00s/it]\r"
                for k in range(1, 100)
            ),
            f"100%|{'#' * 10}| 100/100 [05:01<00:00,  3.00s/it]100%|{'#' * 10}| 100/100 [05:01<00:00,  3.01s/it]",
        ],
        {"step": 100, "step_time_s": 3.0},
    ),
    "the name of a rate behind a loss, after an arrow": (
        lines(lambda i: f"it->{10 * i}\tloss->{loss(i):.4f}\timgs_per_sec->1600.0 samples/sec\tlr->0.001"),
        {"step": 400, "throughput": 1600.0, "throughput_unit": "samples/s", "loss": 2.2},
    ),
    "the name of a rate behind a loss, after a verb": (
        lines(lambda i: f"step is {10 * i} loss is {loss(i):.4f} tokens_per_s is 103513.9 tokens/s lr is 0.001"),
        {"step": 400, "throughput": 103513.9, "throughput_unit": "tokens/s", "loss": 2.2},
    ),
    "the name of a rate with its group behind a loss": (
        lines(lambda i: f"step : {10 * i} train/loss : {loss(i):.4f} train/tps : 103513.9 train/lr : 0.001"),
        {"step": 400, "throughput": 103513.9, "throughput_unit": "tokens/s", "loss": 2.2},
    ),
    "a unit before a line, and a number without a name behind": (
        lines(lambda i: f"node1:{i % 2} | step {i}/40 | loss {loss(i):.4f} | 605.{i % 3} ms/step | 0.53 MFU"),
        {"step": 40, "step_time_s": 0.606},
    ),
    "a warning that mentions memory, glued to a bar": (
        lines(
            lambda i: (
                f"{i:3d}%|##   | {i}/100 [{2 * i // 60:02}:{2 * i % 60:02}<03:00,  2.00s/it, loss={loss(i):.2f}]"
                f"[{clock(2 * i)}] [WARNING] [step.py:9:run] the cache was flushed to free memory"
            )
        ),
        {"step": 40, "loss": 2.2, "step_time_s": 2.0},
    ),
    "a warning glued into a bar": (
        lines(
            lambda i: (
                f"{i:3d}%|##   | {i}/100 [{2 * i // 60:02}:{2 * i % 60:02}<03:00,  2.00s/it"
                f"keeper: WARNING step {i} was told again, error ignored"
            )
        ),
        {"step": 40, "step_time_s": 2.0},
    ),
    "several names before as many numbers": (
        lines(lambda i: f"Batch: {50 * i}/9000, loss box/class/total=0.31/0.25/{loss(i):.4f}, grad_norm=2.1"),
        {"step": 2000, "loss": 2.2},
    ),
    "a counter and its end, each by its name": (
        lines(lambda i: f"Round 3, step/total_step: {5 * i}/600 {5 * i / 6:.2f}% loss:{loss(i):.4f}"),
        {"step": 200, "loss": 2.2},
    ),
    "two counters before their numbers": (
        lines(lambda i: f"Epoch/Iter: 3/{10 * i} train/val loss: {loss(i):.4f}/9.1"),
        {"step": 400, "epoch": 3.0, "loss": 2.2},
    ),
    "a date in a column": (
        [
            "train/loss_step,global_step,epoch,created_at",
            *lines(lambda i: f"{loss(i):.7f},{50 * i - 1}.0,0,{clock(8 * i).replace(',', '.')}"),
        ],
        {"step": 1999, "loss": 2.2, "step_time_s": 0.16, "method": "timestamps"},
    ),
    "counters with their unit": (
        lines(
            lambda i: (
                f"Progress on:fit {i}.0it/120it rate:3.1s/it remaining:04:1{i % 10} "
                f"elapsed:{31 * i // 600:02}:{31 * i // 10 % 60:02} postfix:1.2"
            )
        ),
        {"step": 40, "step_time_s": 3.1},
    ),
    "the set for validation behind a bar": (
        [
            *lines(lambda i: f"{clock(2 * i)} DEBUG TRAIN | steps/sec 2.00| Batch 0/{i} loss {loss(i):.4f} rank 0"),
            *lines(lambda i: f"{clock(90 + i)} DEBUG CV | Batch 0/{i} loss 7.1{i} history loss 7.0 rank 0"),
        ],
        {"loss": 2.2},
    ),
    "types around numbers": (
        lines(lambda i: f"{{'policy_loss': np.float32({loss(i):.5f}), 'updates': {10 * i}, 'norm': tensor(0.5)}}"),
        {"step": 400, "loss": 2.2},
    ),
    "types around numbers, in pairs": (
        lines(
            lambda i: [
                f"worker step:{50 * i} episodes:{2 * i} R:{7.5 + i}",
                f"stats: [('mean_loss', jnp.float32({loss(i):.6f})), ('all_steps', {50 * i}), ('n_updates', {5 * i})]",
            ]
        ),
        {"step": 2000, "loss": 2.2},
    ),
    "a counter before a comma": (
        lines(lambda i: f"{clock(30 * i)} [INFO] {20 * i}, train_loss={loss(i):.4f}, LR=0.01, time {30 * i:.2f}s"),
        {"step": 800, "step_time_s": 1.5, "loss": 2.2},
    ),
    "a measure and a clock": (
        lines(lambda i: f"[{500 * i:,}] Accuracy: {50 + i}.25% | 00:{i:02}:30 | 4.1 MiB"),
        {"step": 20000, "step_time_s": 0.12},
    ),
    "the time of an iteration, the words turned": (
        lines(lambda i: f"train: {{'epoch': {i}, 'left': 3.2, 'loss': {loss(i):.4f}, 'time_iter': 0.0712}}"),
        {"epoch": 40.0, "step_time_s": 0.0712, "loss": 2.2},
    ),
    "a heading of time and steps above fields": (
        lines(
            lambda i: [
                f"  --> TIME: {clock(4 * i)[:19]} -- STEP: {10 * (i % 7)}/70 -- GLOBAL_STEP: {10 * i}",
                f"     | > loss: {loss(i):.4f}  (2.9)",
                "     | > step_time: 0.3981  (0.4012)",
            ]
        ),
        {"step": 50, "step_time_s": 0.3981, "loss": 2.2},
    ),
    "a rate beside a counter is no time": (
        lines(
            lambda i: [
                f"[run] E=1 B={40 * i}\ts/sec=80.5{i % 10} tok/sec=1610.0 u/sec=10.0",
                f"[run] Saved [{i}]\tUpdates={40 * i} Updates/sec=10.021",
            ]
        ),
        {"step": 1600, "step_time_s": 0.0998, "method": "rate", "throughput": 1610.0, "throughput_unit": "tokens/s"},
    ),
    "a counter of samples beside their rate": (
        lines(
            lambda i: (
                f"{clock(16 * i)[:10]},{clock(16 * i)[11:19]} | INFO | Train Epoch: 0 [{1280 * i}/99840 ({i}%)] "
                f"Data (t): 0.021 Batch (t): 0.802, 79.9{i % 10}/s LR: 0.001 Loss: {loss(i):.4f} (2.91)"
            )
        ),
        {"step": None, "step_time_s": 0.802, "throughput": 79.95, "throughput_unit": "samples/s", "loss": 2.2},
    ),
    "a counter of steps beside the rate of samples": (
        lines(lambda i: f"{clock(16 * i)} Train Epoch: 0 [{20 * i}/1560 ({i}%)] 80.0 samples/s Loss: {loss(i):.4f}"),
        {"step": 800, "throughput": 80.0, "loss": 2.2},
    ),
    "a bar with a unit of its own": (
        lines(lambda i: f"\r {i}%|{'#' * (i // 8):<5}| {2 * i}/200 [00:{i:02}<01:00,  2.00candidate/s, score: 3.5]"),
        {"step": 80, "step_time_s": 0.5, "method": "rate"},
    ),
    "a slow bar with a unit of its own": (
        lines(lambda i: f"\r {i}%|{'#' * (i // 8):<5}| {i}/100 [{i:02}:00<59:00, 60.00s/candidate]"),
        {"step": 40, "step_time_s": 60.0, "method": "rate"},
    ),
    "a short bar of a preparation": (
        [
            *(f"\r{25 * k}%|####| {k}/4 [00:00<00:00, 510.0it/s]" for k in range(5)),
            *lines(lambda i: f"train_loss={loss(i):.4f}, LR=0.01")[:9],
        ],
        {"step": None, "step_time_s": None, "loss": loss(9)},
    ),
    "a counter before a dash": (
        lines(lambda i: f"  {20 * i:5d} -  0.04 s - loss {loss(i):.3f} - 512.0 words/s"),
        {"step": 800, "throughput": 512.0, "loss": 2.2},
    ),
    "a clock before a dash": (
        lines(lambda i: f"0:{i:02}:30 - Epoch 3 | loss: {loss(i):.4f} | acc: 0.5"),
        {"step": None, "epoch": 3.0, "loss": 2.2},
    ),
    "the time of a batch under the batch's name": (
        lines(lambda i: f"epoch 3 | data: 0.004s | batch: 0.3125s | loss: {loss(i):.4f}"),
        {"step": None, "step_time_s": 0.3125, "loss": 2.2},
    ),
    "no number before the time of a step": (
        lines(lambda i: f"epoch 3 update {i} loss nan step time: 0.25 s"),
        {"step": 40, "step_time_s": 0.25, "loss": None, "loss_not_finite": True},
    ),
    "a table with marks, thousands and suffixes": (
        lines(
            lambda i: f"{25 * i:6d}    {loss(i):.3f} {'↑↓'[i % 2]}  {1180 + i:10,}     {0.5 * i:.1f}k",
            head=["  step    train_loss     tok/s    tokens"],
        ),
        {"step": 1000, "throughput": 1210.0, "throughput_unit": "tokens/s", "loss": 2.2},
    ),
    "a table with units in its cells": (
        lines(
            lambda i: (
                f"{50 * i} ({i / 2:.2f}%)        {40 + i % 3}.250 ms            {9 - i // 5} m, 12 s, 40.5 ms     {2 + i % 2}.25 M"
            ),
            head=["Step (% Done)      Train Iter (time)    ETA (time)           Train Rays / Sec", "-" * 80],
        ),
        {"step": 2000, "step_time_s": 0.04125, "throughput": 2.75e6, "throughput_unit": "samples/s"},
    ),
    "bullets between fields": (
        lines(
            lambda i: (
                f"Fitting \u2501\u2501\u2578\u2501\u2501 {2 * i}/90 \u2022 0:00:{i:02} \u2022 2.0 it/s \u2022 loss: {loss(i):.4f}"
            )
        ),
        {"step": 80, "step_time_s": 0.5, "method": "rate", "loss": 2.2},
    ),
    "updates a second": (
        lines(lambda i: f"inner | loss={loss(i):.4f}, wps=8000, ups=4.00, num_updates={100 * i}"),
        {"step": 4000, "step_time_s": 0.25, "method": "rate", "throughput": 8000.0, "loss": 2.2},
    ),
    "a cost in seconds": (
        lines(lambda i: f"epoch:3 step:{10 * i}[{10 * i}/400] embedding_loss:{loss(i):.4f} cost:1.25s"),
        {"step": 400, "step_time_s": 1.25, "loss": 2.2},
    ),
    "a loss before the name of a rate": (
        lines(lambda i: f"step {i / 10:.1f}k loss {loss(i):.3f} tok/s 12.5k"),
        {"step": 4000, "throughput": 12500.0, "throughput_unit": "tokens/s", "loss": 2.2},
    ),
    "rates over spans": (
        lines(lambda i: f"Throughput is (5 sec: 40.{i % 10}, 90 sec: 39.0, 600 sec: nan), waiting {i}"),
        {"step_time_s": None, "throughput": 40.45, "throughput_unit": "samples/s"},
    ),
    "the loss of a phase named behind": (
        lines(lambda i: ["epoch done", f"\tLoss/fit_phase/train_set = {loss(i):.4f}", "\tTop1/train_set = 0.5"]),
        {"loss": 2.2},
    ),
    "seconds of a profile": (
        [
            "step 5 reward 2.5",
            "step 6 reward 2.25",
            "epoch: 0.0001, misc: 0.1, losses_postprocess: 0.0103, losses_init: 0.02",
        ],
        {"step": 6, "loss": None},
    ),
    "an evaluation announced between dashes": (
        [
            *lines(lambda i: f"\r{i}%|##| {i}/40 [00:{i:02}<00:40, 1.00it/s]"),
            *(
                line
                for part in (1, 2, 3)
                for line in (
                    f"-- Starting eval on part {part} --",
                    "\r0it [00:00, ?it/s]",
                    *(f"\r{25 * k}%|##| {k}/4 [00:00<00:00, 250.0it/s]" for k in range(1, 5)),
                )
            ),
        ],
        {"step": 40, "step_time_s": 1.0},
    ),
    "what remains of more than the loop falls by the time of a step": (
        lines(lambda i: f"step {5 * i}/400 loss {loss(i):.4f} ETA: {0.25 * (9000 - 5 * i):.2f}s"),
        {"step": 200, "step_time_s": 0.25, "loss": 2.2},
    ),
    "frames of an environment": (
        lines(lambda i: f"{clock(2 * i)} fps: 64 fps total: 61 epoch: {i}/40 frames: {128 * i}"),
        {"step": 5120, "step_time_s": None, "epoch": 40.0, "throughput": 64.0},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_notations(name: str) -> None:
    expect_however_cut(*FORMATS[name])


def test_a_bar_over_epochs_states_no_step_time() -> None:
    bars = [
        f"\rEpoch Progress:   {i}%|##   | {i}/100 [{3 * i // 60:02}:{3 * i % 60:02}<09:00,  3.00s/it]"
        for i in range(1, 40)
    ]
    metric, _ = track(bars)
    assert metric is None or metric.step_time_s is None


@pytest.mark.parametrize("rate", ["4.10MB/s", "3.2kiB/s", "12epoch/s"])
def test_a_bar_of_bytes_or_epochs_states_no_step_time(rate: str) -> None:
    metric, _ = track([f"\rtrain {i}%|##   | {i}/100 [00:{i:02}<01:00, {rate}]" for i in range(1, 40)])
    assert metric is None or (metric.method != "rate" and metric.step_time_s is None)

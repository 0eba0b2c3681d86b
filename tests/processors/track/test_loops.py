"""Counters, loops and clocks that are not what they seem: written here, in the forms that frameworks print."""

import pytest

from .expecting import clock, expect_however_cut, track
from .test_formats import lines, loss

FORMATS: dict[str, tuple[list[str], dict[str, object]]] = {
    "micro-batches, and a line for each step": (
        [
            line
            for s in range(140, 181)
            for line in (
                *(f"[{clock(4 * s + k)}] mb {k}/4 loss {loss(s):.4f}" for k in range(4)),
                f"[{clock(4 * s + 3)}] opt_step={s} loss={loss(s):.4f} lr=1e-4",
            )
        ],
        {"step": 180, "step_time_s": 4.0},
    ),
    "micro-batches, and the number of each step alone": (
        [
            line
            for s in range(1, 41)
            for line in (*(f"mb {k}/4 loss {loss(s):.4f}" for k in range(1, 5)), f"opt_step={s}")
        ],
        {"step": 40, "loss": 2.2},
    ),
    "a step of micro-batches and the optimizer's": (
        lines(lambda i: f"step {i % 4 + 1}/4 loss {loss(i):.4f} opt_step={i // 4 + 140}"),
        {"step": 150, "loss": 2.2},
    ),
    "epochs of different lengths, each rank behind its label": (
        [
            f"[rank0]: train {100 * k // n:3d}%|####      | {k}/{n} [{2 * k // 60:02}:{2 * k % 60:02}<01:00,  2.00s/it]"
            for n in (40, 30)
            for k in range(1, n + 1)
        ],
        {"step": 30, "step_time_s": 2.0},
    ),
    "a fraction beside the counter": (
        lines(lambda i: f'{{"epoch": 1, "update": {i / 40:.3f}, "loss": "{loss(i):.3f}", "num_updates": "{50 * i}"}}'),
        {"step": 2000, "loss": 2.2},
    ),
    "epoch and step in brackets": (
        lines(lambda i: f"Epoch: [3][{20 * i}]\tTime 0.250 (0.26)\tLoss {loss(i):.4f} (2.5)"),
        {"step": 800, "step_time_s": 0.25, "epoch": 3.0, "loss": 2.2},
    ),
    "epoch over step": (
        lines(lambda i: f"[{clock(5 * i)}] epoch/iter: 4/{20 * i}  total_loss: {loss(i):.3f}  time: 0.2500"),
        {"step": 800, "epoch": 4.0, "step_time_s": 0.25, "loss": 2.2},
    ),
    "the end that counts": (
        lines(lambda i: f"{clock(50 * i)} DEBUG TRAIN Batch 2/{100 * i} loss {loss(i):.6f} lr 0.0003"),
        {"step": 4000, "epoch": 2.0, "step_time_s": 0.5, "loss": 2.2},
    ),
    "an epoch and a step in one list": (
        lines(lambda i: f'LOG {{"elapsed": {2.5 * i:.2f}, "step": [1, {10 * i}], "data": {{"loss": {loss(i):.4f}}}}}'),
        {"step": 400, "loss": 2.2},
    ),
    "one line an epoch, at its last step": (
        [
            line
            for e in range(1, 31)
            for line in (
                f"Epoch {e}/30",
                f"40/40 - 2s - {49 + e % 3}ms/step - accuracy: 0.{50 + e} - loss: {loss(e):.4f}",
            )
        ],
        {"step": 40, "step_time_s": 0.05, "epoch": None, "loss": 2.4, "reports": 20},
    ),
    "many lines an epoch, the last epoch, too": (
        [f"[{e}/4] loss: {loss(8 * e + k):.4f}, 0.5 steps/s" for e in range(1, 5) for k in range(30)],
        {"step": None, "epoch": 4.0, "step_time_s": 2.0},
    ),
    "a bar of one epoch that counts inside": (
        lines(
            lambda i: f"100%|##########| 1/1 [{2 * i // 60:02}:{2 * i % 60:02}<00:00, loss={loss(i):.4f}, 0.5 steps/s]"
        ),
        {"step": None, "epoch": 1.0, "step_time_s": 2.0, "loss": 2.2},
    ),
    "an evaluation under the same bar": (
        [
            f"\rEpoch {e}/9 : |####------| 50.00% [{k}/{n} 00:{k * 3 // 10:02d}<00:09]"
            for e in range(1, 10)
            for n, step in ((50, 5), (9, 1))
            for k in range(step, n + 1, step)
        ],
        {"step": 50, "epoch": 9.0},
    ),
    "an evaluation under a bar without a name": (
        [
            *(
                line
                for k in range(1, 201)
                for line in (
                    f"\r{k // 4}%|{'#' * (k // 40):<20}| {k}/800 [{k * 2 // 60:02}:{k * 2 % 60:02}<20:00,  2.00s/it]",
                    *([f"{{'loss': {3 - k / 200:.3f}, 'epoch': {k / 800:.2f}}}"] if k % 20 == 0 else []),
                )
            ),
            *(f"\r{2 * k}%|{'#' * (k // 4):<20}| {k}/50 [00:{k // 4:02}<00:12,  4.00it/s]" for k in range(1, 51)),
        ],
        {"step": 200, "step_time_s": 2.0, "loss": 2.0},
    ),
    "a bar of epochs about a bar of steps": (
        lines(
            lambda i: [
                f"\repochs:  50%|#####     | 1/2 [02:30<02:30, 150.2s/it, loss={loss(i):.3f}]",
                f"\rtrain:  {i}%|##        | {5 * i}/200 [00:{i}<00:40,  5.00it/s, total_it={200 + 5 * i}]",
            ]
        ),
        {"step_time_s": 0.2},
    ),
    "a bar by percent, counter and clock": (
        lines(
            lambda i: (
                f"\r{2 * i:3d}% ({2 * i} of 80) |{'#' * (i // 2):<20}| Elapsed Time: 0:{i:02d}:00 ETA:   0:{40 - i:02d}:00"
            )
        ),
        {"step": 80, "step_time_s": 30.0},
    ),
    "a step of 0 before a bar without a loss": (
        [
            "[Rank 0] step=0, skipped=0, lr=[0.001], mom=[[0.9, 0.999]]",
            *lines(
                lambda i: (
                    f"\r{2 * i:3d}%|{'#' * (i // 4):<10}| {i}/50 [{2 * i // 60:02d}:{2 * i % 60:02d}<01:00,  2.00s/it]"
                )
            ),
        ],
        {"step": 40, "step_time_s": 2.0},
    ),
    "a bar that counts in its own unit": (
        lines(lambda i: f"\rTrain |{'█' * (i // 2):<20}| {i}/80 [{i}%] in {2 * i}.0s (0.50/s, eta: {80 - i}s)"),
        {"step": 40, "step_time_s": 2.0, "throughput": None},
    ),
    "a step that is a time": (
        lines(
            lambda i: (
                f"\r [{'=' * i}>{'.' * (40 - i)}]  Step: 500ms | Tot: {i // 2}s{500 * (i % 2)}ms | Loss: {loss(i):.3f} | {i}/40"
            )
        ),
        {"step": 40, "step_time_s": 0.5, "loss": 2.2},
    ),
    "what remains": (
        lines(lambda i: f"\rTraining  [{'#' * (i // 2):-<20}]  {i}/40  00:0{(40 - i) // 60}:{(40 - i) % 60:02d}"),
        {"step": 40, "step_time_s": None},
    ),
    "epochs without the word": (
        lines(lambda i: f"[{i}/60] train loss {loss(i):.4f}, val loss {loss(i) + 0.3:.4f}, took 41.2s"),
        {"step": None, "epoch": 40.0, "step_time_s": None, "loss": 2.2},
    ),
    "a mean that falls": (
        lines(
            lambda i: (
                f"[1, {50 * i}/ 9999] losses [{loss(i):.4f}] [mem: 7.84e+04] ({1271.5 - i / 50 + 900 // i**3:.2f} ms)"
            )
        ),
        {"step": 2000, "step_time_s": 1.271},
    ),
    "the size of a batch": (
        lines(lambda i: f"tick {i}  kimg {6.1 * i:.1f}  minibatch 32  time {i}m 40s  sec/tick 652.4   sec/kimg 108.45"),
        {"step": None, "throughput": 9.221, "throughput_unit": "samples/s"},
    ),
    "time since the epoch began": (
        lines(
            lambda i: (
                f"Epoch {1 + i // 20} [{10 * (i % 20) + 1}/200] loss: {loss(i):.4f} time: {4.0 * (i % 20) + 0.4:.2f}s"
            )
        ),
        {"step": 1, "step_time_s": 0.4},
    ),
    "pauses between reports": (
        lines(
            lambda i: (
                f"{clock(i + i // 5 * 2)[:19]} - Iter(train) [{20 * i}/900]  time: {0.05 if i % 5 else 0.15:.4f}  loss: {loss(i):.4f}"
            )
        ),
        {"step": 800, "step_time_s": 0.05, "method": "stated"},
    ),
    "a name before a unit": (
        lines(lambda i: f"Step {100 * i} per-step time 0.480s loss={loss(i):.3f}"),
        {"step": 4000, "step_time_s": 0.48, "loss": 2.2},
    ),
    "a loss in a sentence": (
        lines(
            lambda i: (
                f"[Epoch 2][Iteration {i}] Trained 32 records in 0.5 s. "
                f"Throughput is 64.0 schedmate_records/second. Loss is {loss(i):.4f}. Done."
            )
        ),
        {"step": 40, "throughput": 64.0, "loss": 2.2},
    ),
    "losses under a header": (
        [
            "     Epoch   GPU_mem  box_loss  cls_loss  Instances      Size",
            *lines(
                lambda i: (
                    f"       2/9     2.46G    {loss(i):.4f}     1.251        114       640: "
                    f"{2 * i}%|####      | {i}/50 [00:09<00:11,  4.00it/s]"
                )
            ),
        ],
        {"step": 40, "step_time_s": 0.25, "loss": 2.2},
    ),
    "a header over tabs": (
        [
            "Step\tImg/sec\ttotal_loss",
            *lines(lambda i: f"{10 * i}\timages/sec: 340.1 +/- 0.3 (jitter = 0.5)\t{loss(i):.3f}"),
        ],
        {"step": 400, "throughput": 340.1, "loss": 2.2},
    ),
    "names with pipes": (
        [
            "| Step | Train loss | Step time (ms) | Throughput (img/s) |",
            "|------|------------|----------------|--------------------|",
            *lines(lambda i: f"| {10 * i} | {loss(i):.4f} | 500.0 | 64.0 |"),
        ],
        {"step": 400, "step_time_s": 0.5, "throughput": 64.0, "loss": 2.2},
    ),
    "a loss that vanished": (
        ["E    #       LOSS ONE      LOSS TWO", *lines(lambda i: f"  1    {20 * i}      0.00    {loss(i):.2f}")],
        {"step": 800, "loss": 2.2},
    ),
    "parts of a loss after it": (
        lines(
            lambda i: [
                f"I0102 10:{i:02d}:00.000000  9709 solver.cpp:219] Iteration {20 * i} (0.333 iter/s, 60.0s/20 iters), loss = {loss(i):.5f}",
                f"I0102 10:{i:02d}:00.000100  9709 solver.cpp:238]     Train net output #0: loss_x2 = 0.004 (* 1 = 0.004 loss)",
                f"I0102 10:{i:02d}:00.000200  9709 solver.cpp:238]     Train net output #1: loss_x4 = 0.003 (* 1 = 0.003 loss)",
            ]
        ),
        {"step": 800, "step_time_s": 3.0, "loss": 2.2},
    ),
    "environment steps": (
        lines(
            lambda i: [
                "-" * 24,
                "| fps             | 1024 |",
                f"| time_elapsed    | {2 * i} |",
                f"| total_timesteps | {2048 * i} |",
                "-" * 24,
            ]
        ),
        {"throughput": 1024.0, "step_time_s": None},
    ),
    "a cut line": (
        [
            *lines(lambda i: f"Epoch [1][{50 * i}/9999] time: 1.870, loss_cls: 0.3341, loss: {loss(i):.4f}"),
            "Epoch [1][2050/9999] time: 1.870, loss_cls: 0.3",
        ],
        {"step": 2050, "loss": 2.2, "step_time_s": 1.87},
    ),
    "an evaluation that counts as well": (
        [
            *lines(lambda i: f"{clock(5 * i)} TRAIN ep=1 it={10 * i} loss={loss(i):.4f} dt=0.500"),
            *lines(lambda i: f"{clock(200 + i)} EVAL ep=1 it={i} loss=9.5 dt=0.110"),
        ],
        {"step": 400, "step_time_s": 0.5, "loss": 2.2},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_of_loops(name: str) -> None:
    expect_however_cut(*FORMATS[name])


def test_lines_that_arrive_in_bursts_tell_the_time_between_the_bursts() -> None:
    made = [f"[{i}]\ttrain-logloss:{loss(i):.5f}" for i in range(40)]
    metric, _ = track(made, times=[1e9 + i // 4 * 0.8 for i in range(40)])
    assert metric is not None
    assert (metric.method, metric.step) == ("arrival", 39)
    assert metric.step_time_s == pytest.approx(0.2, rel=0.02)


def test_a_whole_is_not_shorter_than_its_parts() -> None:
    made = [f"step {i} loss 1.0 iter_time=0.001 forward_time=0.21 backward_time=0.19" for i in range(20)]
    metric, _ = track(made)
    assert metric is not None
    assert metric.step_time_s is None


@pytest.mark.parametrize(
    "line",
    [
        "frame=  348 fps= 15 q=28.0 size=    1536kB time=00:00:14.50 bitrate= 867.8kbits/s speed=0.612x",
        "timings: prompt eval time =  6294.68 ms /   271 tokens (   23.23 ms per token,    43.05 tokens per second)",
        "Fetched 12.1 MB in 3s (4,121 kB/s)",
        "    310,123,456  31%   12.34MB/s    0:00:31 (xfr#31, to-chk=69/100)",
        "[    3.121212] usb 1-2: new high-speed USB device number 7 using xhci_hcd",
        "INFO metrics.py:345] Avg prompt throughput: 101.1 tokens/s, Avg generation throughput: 203.3 tokens/s, Running: 12 reqs",
        "64 bytes from 192.0.2.1: icmp_seq=7 ttl=64 time=0.31 ms",
        "Saving results for global step 3200: global_step = 3200, loss = 1.25",
        "Downloading weights:  40%|####      | 400M/1.00G [00:13<00:20, 30.1MB/s]",
    ],
)
def test_other_programs_have_no_numbers(line: str) -> None:
    metric, _ = track([line] * 30)
    assert metric is None or (metric.step_time_s, metric.throughput, metric.loss) == (None, None, None)

"""Log lines to measure with: several jobs' formats, numbers that differ on every line, a few hundred templates."""

import random
from collections.abc import Iterator

from schedmate_records import LogChunk

CHUNK = 500
NOISE = (
    "INFO dataloader worker {n} fetched shard /data/train/part-{n:05d}.tar in {f:.3f} s (cache {state}), queue depth {d}",
    "[rank{r}] INFO checkpoint shard {n} of {m} written to /ckpt/run/iter_{n:07d}/mp_rank_{r:02d}.pt in {f:.2f} s",
    "INFO memory allocated {f:.1f} GiB reserved {g:.1f} GiB peak {h:.1f} GiB on cuda:{r}; fragmentation {d} percent",
    "DEBUG gradient norm {f:.6f} before clipping, {g:.6f} after; scale {m}; skipped {d} of the last {n} updates",
    "WARNING learning rate warm-up ends at step {n}; the schedule expects {m} steps, {d} of them without decay",
)


def progress(style: int, step: int, chance: random.Random) -> str:
    """Return a progress line in one of four styles, about 200 characters long like those of real jobs."""
    loss, seconds = 2.0 + chance.random(), 0.3 + chance.random() / 50
    if style == 0:
        return (
            f" [2026-11-02 10:{step // 60 % 60:02d}:{step % 60:02d}] iteration {step:8d}/  500000 | consumed samples: {step * 512:12d} | "
            f"elapsed time per iteration (ms): {seconds * 1000:.1f} | learning rate: {chance.random():.3E} | global batch size:   512 | "
            f"lm loss: {loss:.6E} | grad norm: {chance.random():.3f} |"
        )
    if style == 1:
        return (
            f"2026-11-02 10:{step // 60 % 60:02d}:{step % 60:02d},{step % 1000:03d} INFO trainer: epoch {step // 5000} step {step}/500000 "
            f"loss={loss:.4f} lr={chance.random():.2e} step_time={seconds:.4f}s throughput={512 / seconds:.1f} samples/s "
            f"data_time={chance.random() / 100:.4f}s max_mem={chance.randrange(60, 80)}GB"
        )
    if style == 2:
        fields = {
            "loss": round(loss, 4),
            "grad_norm": round(chance.random(), 6),
            "learning_rate": chance.random() / 1000,
            "epoch": round(step / 5000, 4),
            "step": step,
            "step_time": round(seconds, 4),
            "tokens_per_second": round(4096 * 64 / seconds, 1),
            "memory": round(chance.random() * 80, 2),
        }
        return str(fields)
    return (
        f"Epoch: [{step // 5000}][{step % 5000:4d}/5000]  Time {seconds:.3f} ({seconds:.3f})  Data {chance.random() / 10:.3f} "
        f"({chance.random() / 10:.3f})  Loss {loss:.4e} ({loss:.4e})  Acc@1 {chance.random() * 100:6.2f} ({chance.random() * 100:6.2f})  "
        f"Acc@5 {chance.random() * 100:6.2f} ({chance.random() * 100:6.2f})"
    )


def chunks(job: str, count: int, seed: int = 0) -> Iterator[LogChunk]:
    """Yield `count` chunks of `CHUNK` lines of one job: seven lines of ten report progress."""
    chance = random.Random(f"{job}{seed}")
    style, step = chance.randrange(4), 0
    for number in range(count):
        lines = []
        for _ in range(CHUNK):
            if chance.random() < 0.7:
                step += 1
                lines.append(progress(style, step, chance))
            else:
                lines.append(
                    chance.choice(NOISE).format(
                        n=chance.randrange(100_000),
                        m=chance.randrange(1, 1_000_000),
                        d=chance.randrange(100),
                        r=chance.randrange(8),
                        f=chance.random() * 10,
                        g=chance.random() * 10,
                        h=chance.random() * 80,
                        state=chance.choice(("hit", "miss")),
                    )
                )
        first = number * CHUNK + 1
        yield LogChunk(
            job=job,
            node="n1",
            producer=job,
            seq=number,
            lines=lines,
            time=1_000_000.0 + 2 * number,
            first_line=first,
            first_piece=first,
        )

"""When a save begins, when it is durable, and what shows it."""

import itertools
import random
from collections.abc import Iterable, Sequence

import pytest

from processors.checkpoints import Checkpoints, CheckpointsState
from processors.classified_chunk import ClassifiedChunk
from processors.grammar.extractor import templates
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import (
    Checkpoint,
    CheckpointState,
    DurableBy,
    EventKind,
    JobEvent,
    LogChunk,
    Position,
    Record,
    encode,
)

Printed = tuple[float, str]


def view(lines: Sequence[Printed], first: int = 1, offset: int = 0, rank: int = 0) -> ClassifiedChunk:
    texts = [text for _, text in lines]
    letters = "".join("p" if text.startswith("step ") else "e" if text.startswith("Error") else "o" for text in texts)
    return ClassifiedChunk(
        job="7", attempt=0, node="n1", rank=rank, stream="stdout", position=Position("job-logs", 0, offset),
        time=lines[0][0], lines=texts, numbers=range(first, first + len(lines)), times=[time for time, _ in lines], classes=letters,
        templates=templates(texts),
    )  # fmt: skip


class Job:
    """A job whose saves are followed."""

    def __init__(self) -> None:
        self.stage, self.state, self.told = Checkpoints(), CheckpointsState(), list[Checkpoint]()
        self._offsets, self._line = itertools.count(), 1

    def say(self, time: float, *texts: str, rank: int = 0) -> list[Checkpoint]:
        chunk = view([(time, text) for text in texts], self._line, next(self._offsets), rank)
        self._line += len(texts)
        found = self.stage.on_chunk(chunk, chunk.position, self.state)
        self.told += found
        return found

    def train(self, times: Iterable[float], rank: int = 0) -> None:
        for time in times:
            self.say(time, f"step {int(time)} loss 1.0", rank=rank)

    def end(self, time: float, code: int) -> list[Checkpoint]:
        event = JobEvent(id="e", job="7", kind=EventKind.ENDED, time=time, exit_code=code, signal=0)
        found = self.stage.on_event(event, Position("job-events", 0, 0), self.state)
        self.told += found
        return found

    @property
    def states(self) -> list[str]:
        return [f"{one.number} {one.state}{f' {one.durable_by}' if one.durable_by else ''}" for one in self.told]


@pytest.fixture
def job() -> Job:
    made = Job()
    made.train(range(10))
    return made


def test_a_completion_line_shows_how_long_it_took(job: Job) -> None:
    (begun,) = job.say(10, "saving checkpoint at iteration 10 to /run/ckpt")
    assert (begun.state, begun.step, begun.path, begun.since) == (CheckpointState.STARTED, 10, "/run/ckpt", 10.0)
    (done,) = job.say(14, "  successfully saved checkpoint from iteration 10 to /run/ckpt")
    assert (done.durable_by, done.duration_s, done.since, done.time, done.step) == ("completion", 4.0, 10.0, 14.0, 10)
    assert [one.line for one in done.evidence] == [11, 12]
    job.train(range(15, 20))
    job.say(20, "saving checkpoint at iteration 20 to /run/ckpt")
    (second,) = job.say(26, "  successfully saved checkpoint from iteration 20 to /run/ckpt")
    assert (second.number, second.usual_duration_s, second.interval_s) == (2, 5.0, 10.0)


@pytest.mark.parametrize(
    "bar", [" 10%|█         | 10/100 [00:10<01:30,  1.00it/s]", " 10%|# | 10/100 [00:10<01:30, 1.0s/it, loss=0.2]"]
)
def test_a_message_glued_to_a_bar_is_read(job: Job, bar: str) -> None:
    message = "[INFO|trainer.py:2868] 2026-11-01 10:00:00,123 >> Saving model checkpoint to out/checkpoint-10"
    (begun,) = job.say(10, f"{bar}{message}")
    assert (begun.path, begun.step) == ("out/checkpoint-10", 10)
    assert not job.say(11, bar)


def test_a_line_that_it_is_saved_is_enough(job: Job) -> None:
    (done,) = job.say(10, "Saved checkpoint to run/step_10.pt (writing took 2.5 seconds)")
    assert (done.state, done.durable_by, done.duration_s, done.path) == ("durable", "completion", 2.5, "run/step_10.pt")


def test_training_that_goes_on_after_a_pause_shows_that_it_is_saved(job: Job) -> None:
    job.say(10, "Saving model checkpoint to out/checkpoint-10")
    job.train([16])
    assert job.states == ["1 started", "1 durable progress"]
    assert job.told[-1].duration_s == 6.0


def test_training_that_goes_on_at_once_shows_nothing(job: Job) -> None:
    job.say(9.5, "Saving model checkpoint to out/checkpoint-10")
    job.train([10, 11, 20])
    assert job.states == ["1 started"]
    job.say(21, "Saving model checkpoint to out/checkpoint-21")
    assert job.states == ["1 started", "1 durable next_save", "2 started"]


def test_lines_out_of_a_buffer_show_no_pause() -> None:
    job = Job()
    for burst in range(0, 300, 30):
        job.say(burst, *(f"step {burst + second} loss 1.0" for second in range(30)))
    job.say(300, "step 300 loss 1.0", "saving checkpoint at iteration 300 to /run/ckpt")
    job.say(330, *(f"step {300 + second} loss 1.0" for second in range(30)))
    assert job.states == ["1 started"]


def test_a_slow_start_is_no_pause() -> None:
    job = Job()
    job.say(0, "Saving checkpoint to out/start.pt")
    job.train([100])
    assert job.states == ["1 started"]


def test_a_save_in_the_background_waits_for_its_end(job: Job) -> None:
    job.say(10, "scheduled an async checkpoint save at iteration 10 to /run/ckpt")
    job.train([16, 17])
    assert job.states == ["1 started"]
    job.say(18, "successfully saved checkpoint from iteration 10 to /run/ckpt")
    job.say(19, "scheduled an async checkpoint save at iteration 19 to /run/ckpt")
    assert job.states == ["1 started", "1 durable completion", "2 started"]
    assert job.told[1].asynchronous


def test_a_pause_shows_nothing_in_a_job_that_says_when_a_save_is_complete(job: Job) -> None:
    job.say(10, "saving checkpoint at iteration 10 to /run/ckpt")
    job.train([10.2, 11])
    job.say(12, "successfully saved checkpoint from iteration 10 to /run/ckpt")
    job.train([13])
    job.say(14, "saving checkpoint at iteration 14 to /run/ckpt")
    job.train([22, 23])
    assert job.states == ["1 started", "1 durable completion", "2 started"]


def test_a_tracker_or_a_new_name_shows_it(job: Job) -> None:
    job.say(10, "Started async saving checkpoint to /run/10.")
    job.train([11])
    job.say(12, "Renaming /run/10.orbax-checkpoint-tmp-4 to /run/10")
    assert job.states == ["1 started", "1 durable tracker"]


def test_parts_of_one_save_are_one_save(job: Job) -> None:
    job.say(10, "Checkpoint global_step10 is about to be saved!")
    for part in ("mp_rank_00_model_states.pt", "zero_pp_rank_0_mp_rank_00_optim_states.pt"):
        job.say(11, f"Saving out/global_step10/{part}...", f"Saved out/global_step10/{part}.")
    assert job.states == ["1 started"]
    job.say(13, "Checkpoint global_step10 is ready now!")
    job.train([14])
    assert job.states == ["1 started", "1 durable completion"]


def test_a_file_within_the_checkpoint_is_not_the_whole(job: Job) -> None:
    job.say(
        10, "Saving model checkpoint to out/checkpoint-10", "Model weights saved in out/checkpoint-10/model.safetensors"
    )
    assert job.states == ["1 started"]
    job.train([19])
    assert job.states == ["1 started", "1 durable progress"]


def test_a_failed_save_and_the_next_one(job: Job) -> None:
    job.say(10, "saving checkpoint at iteration 10 to /run/ckpt")
    job.say(11, "Error: could not save checkpoint to /run/ckpt: no space left", rank=3)
    job.say(11, "Error: could not save checkpoint to /run/ckpt: no space left", rank=4)
    job.say(12, "saving checkpoint at iteration 10 to /run/ckpt")
    job.say(13, "successfully saved checkpoint from iteration 10 to /run/ckpt")
    assert job.states == ["1 started", "1 failed", "2 started", "2 durable completion"]


def test_a_good_end_shows_it_and_a_bad_one_does_not() -> None:
    for code, states in ((0, ["1 started", "1 durable ended"]), (1, ["1 started"])):
        job = Job()
        job.train(range(5))
        job.say(5, "Saving model to model.pt")
        job.end(6, code)
        assert job.states == states


def test_lines_that_come_after_the_end_lead_to_the_same() -> None:
    job = Job()
    job.end(6, 0)
    job.say(5, "Saving model to model.pt")
    assert job.states == ["1 started", "1 durable ended"]


def test_one_rank_speaks_for_all(job: Job) -> None:
    for rank in (0, 1, 2):
        job.say(10, "saving checkpoint at iteration 10 to /run/ckpt", rank=rank)
    job.train([10.1, 10.2, 10.3], rank=5)
    assert job.states == ["1 started"]
    assert job.told[0].rank == 0


def test_a_traceback_that_quotes_a_save_is_none(job: Job) -> None:
    assert job.say(10, "Error: saving checkpoint to /run/ckpt") != []  # it failed
    assert job.say(11, 'Error:     torch.save(model, "model.pt")') == []


LOG: list[Printed] = [
    *((float(second), f"step {second} loss 1.0") for second in range(8)),
    (8.0, "Saving model checkpoint to out/checkpoint-8"),
    (8.5, "Model weights saved in out/checkpoint-8/model.safetensors"),
    (13.0, "step 8 loss 0.9"),
    (14.0, "step 9 loss 0.9"),
    (14.5, "Saving model checkpoint to out/checkpoint-9"),
    (15.0, "step 10 loss 0.9"),
    (15.5, "Error: could not write checkpoint: disk quota exceeded"),
    (16.0, "step 11 loss 0.9"),
    (17.0, "Started async saving checkpoint to /run/11."),
    (18.0, "step 12 loss 0.9"),
    (19.0, "Renaming /run/11.orbax-checkpoint-tmp-4 to /run/11"),
    (20.0, "saving best model"),
    (21.0, "step 13 loss 0.9"),
    (22.0, "Best model saved."),
    (22.5, "Saved out/step_13/model-00001-of-00002.safetensors"),
    (23.0, "Saving model to out/last.pt"),
    (24.0, "step 14 loss 0.9"),
    (25.0, "Saved checkpoint to out/final.pt"),
]


def saves_of(pieces: Iterable[Sequence[tuple[int, Printed]]]) -> list[dict[str, object]]:
    stage, state, told = Checkpoints(), CheckpointsState(), []
    for piece in pieces:
        chunk = view([printed for _, printed in piece], piece[0][0])
        told += stage.on_chunk(chunk, chunk.position, state)
    assert len({one.id for one in told}) == len(told)
    return [{name: getattr(one, name) for name in one.__struct_fields__ if name != "id"} for one in told]


def test_where_chunks_are_cut_changes_nothing() -> None:
    numbered = list(enumerate(LOG, 1))
    whole = saves_of([numbered])
    assert {one["durable_by"] for one in whole} >= {None, DurableBy.PROGRESS, DurableBy.TRACKER, DurableBy.COMPLETION}
    assert CheckpointState.FAILED in {one["state"] for one in whole}
    assert saves_of([[each] for each in numbered]) == whole
    chance = random.Random(5)
    for _ in range(200):
        cuts = sorted(chance.sample(range(1, len(LOG)), chance.randint(1, len(LOG) - 1)))
        assert saves_of(numbered[a:b] for a, b in itertools.pairwise([0, *cuts, len(LOG)])) == whole


def test_a_replay_tells_the_same_and_a_repeat_nothing() -> None:
    chunks = [
        LogChunk(job="7", node="n1", producer="p", lines=[text], time=time, first_line=number, first_piece=number)
        for number, (time, text) in enumerate(LOG, 1)
    ]

    def run(repeat: bool) -> list[bytes]:
        processor, state, made = JobProcessor(), JobState(job="7"), list[Record]()
        for offset, chunk in enumerate(chunks):
            made += processor.process(state, Position("job-logs", 0, offset), chunk)
            if repeat:
                again = processor.process(state, Position("job-logs", 0, 1000 + offset), chunk)
                assert not [one for one in again if isinstance(one, Checkpoint)]
        return [encode(one) for one in made if isinstance(one, Checkpoint)]

    assert run(repeat=False) == run(repeat=True) != []


HOSTILE = [
    "saved checkpoint to /run/x.pt " + "and /run/" * 20_000,
    "x " * 400 + "saved checkpoint to /run/" + "y" * 1900 + ".pt",
    "saving " * 300,
    "saved checkpoint to " + "/" * 900,
    "checkpoint" * 100,
    "(" * 500 + "saving checkpoint" + ")" * 500,
    "saving checkpoint at step " + "9" * 400,
    "saving checkpoint to /run/\x1b[2J\x07\u202e.pt",
    "saved checkpoint to /run/step-99999999999999999999.pt",
    "saving checkpoint to $(rm -rf /) `reboot` ; echo",
    "Saved checkpoint to \ud800/x.pt",
    "took " + "1" * 300 + " seconds: saved checkpoint",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_lines_make_records_that_can_be_read(job: Job, text: str) -> None:
    for made in job.say(10, text):
        assert made.path.isprintable()
        assert len(made.path) <= 1024
        assert made.step is None or made.step < 10**12


def test_what_is_remembered_does_not_grow() -> None:
    job = Job()
    for second in range(0, 3000, 3):
        job.say(second, f"saving checkpoint at iteration {second} to /run/{second}", f"step {second} loss 1.0")
    assert len(job.state.durations) <= 8
    assert len(job.state.intervals) <= 8
    assert job.told[-1].number == 1000


@pytest.mark.parametrize(
    "line", ["Saving model to /ckpt/{n}.pt", "checkpoint shard {n} written to /ckpt/{n}.pt", "Saved {n}.pt"]
)
def test_a_log_that_tells_of_one_save_after_another_makes_few_records(job: Job, line: str) -> None:
    for number in range(1000):
        job.say(100.0 + number / 100, line.format(n=number))
    assert len(job.told) <= 2 * 10 + 2

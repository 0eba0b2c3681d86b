"""The state of a job, as Redis has it."""

import msgspec

from schedmate_records import DurationMode


class RankStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The newest report of one rank. Times in seconds since 1970."""

    rank: int
    attempt: int = 0
    node: str = ""
    time: float
    step: int | None = None
    step_time_s: float | None = None


class FailedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict in force on one attempt: a later attempt does not hide it."""

    attempt: int
    verdict: str
    component: str = ""
    signature: str = ""
    message: str = ""
    line: str = ""


class JobStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Current state of a job. Null or empty where nothing is known. Times in seconds since 1970.

    Attributes:
        job: The scheduler's job id.
        incarnation: Which job of this id it is; empty where not known.
        state: `submitted`, `running`, `requeued`, `ended`; empty where no scheduler has reported the job.
        state_time: When it came into that state.
        attempt: Restart count, by the newest source.
        started: Start of the newest attempt.
        scheduler: `slurm`, `local`, ….
        scheduler_state: The scheduler's word for the end.
        nodes: Hosts.
        gpus: GPUs that it holds.
        command: Command line.
        directory: Working directory.
        user: Who submitted it.
        name: Its name, as its user chose it.
        branch: Version-control branch.
        exit_code: Of an ended job.
        signal: That ended it.
        ended: When it ended.
        packed_with: The job that shares its node.
        metric_time: Arrival of the newest report of the rank shown.
        metric_rank: The rank shown: the lowest that reports.
        metric_attempt: The attempt that the report is of.
        step: Training step.
        epoch: Epoch.
        step_time_s: Seconds per step.
        throughput: In `throughput_unit`.
        throughput_unit: `samples/s`, ….
        loss: Training loss.
        loss_not_finite: The newest loss is NaN or infinite.
        loss_step: The step at which the loss was printed.
        metric_confidence: 0 to 1.
        metric_method: How the step time was obtained.
        verdict: Error type of the verdict in force; empty for none.
        verdict_attempt: The attempt that it is about.
        verdict_revision: Its revision.
        verdict_time: Arrival of the line that explains the failure.
        verdict_message: What to read.
        verdict_component: What is faulty.
        verdict_signature: The cause's name.
        verdict_source: What it rests on.
        verdict_confirmed_by: Evidence of nodes that confirms it.
        verdict_contradicted_by: Evidence of nodes that contradicts it.
        verdict_node: The suspect.
        verdict_restartable: Whether to start it again unchanged.
        verdict_confidence: 0 to 1.
        verdict_final: Whether the attempt has ended.
        verdict_line: The root line.
        verdict_place: Place of the root line, `topic/partition/offset:line`.
        slowed_by: The job that slows it.
        slowdown_ratio: Throughput after over before.
        slowdown_time: When that was measured.
        slowdown_attempt: The attempt that was slowed.
        alarms: Those that are raised, or describe how the attempt ended: the detail of each, by kind.
        alarms_since: When each began.
        checkpoint_since: When the last save that is complete began: work done since then would be lost.
        checkpoint_attempt: The attempt that saved it.
        checkpoint_time: When it was seen to be complete.
        checkpoint_by: What showed it.
        checkpoint_step: Its training step.
        checkpoint_path: Where it is, as the job named it.
        save: State of the newest save: `started`, `durable` or `failed`.
        save_attempt: The attempt that saves.
        save_since: When it began.
        save_time: When it came into that state.
        save_duration_s: Usual duration of the attempt's saves.
        save_interval_s: Usual time between their beginnings.
        estimate_attempt: The attempt that the newest estimate is about.
        estimate_time: When it was made.
        estimate_duration_s: Expected duration.
        estimate_low_s: Lower end.
        estimate_high_s: Upper end.
        estimate_modes: Modes of the past durations, the shortest first; empty if there is only one.
        estimate_remaining_s: What remained of it then; null before the job runs.
        estimate_remaining_low_s: Lower end.
        estimate_remaining_high_s: Upper end; null also where there may be more to do than the log shows.
        estimate_done: Share of the work that was done then.
        estimate_gpu_utilisation: Expected, in percent.
        estimate_method: What the estimate rests on.
        decision: The newest decision's action.
        decision_id: Its id.
        decision_time: When its cause arose.
        decision_mode: `shadow`, `approve` or `act`.
        decision_reason: Why.
        outcome: What became of it; empty while nothing has.
        outcome_time: When.
        outcome_detail: Why.
        outcome_actuator: Who did it.
        feedback_cause: The cause that a person named; empty for none.
        feedback_attempt: The attempt that it is about.
        feedback_user: Who wrote it.
        feedback_time: When.
        feedback_line: The line that the person named.
        warning: `lines_lost`, `id_conflict` or `lines_passed_over`, the newest.
        warning_detail: In words.
        warning_time: When.
        lines_lost: Lines given up, by the newest such warning.
        failures: The verdicts in force on all attempts, the first attempt first.
        ranks: The newest report of every rank of the newest attempt, by rank.
    """

    job: str
    incarnation: str = ""
    state: str = ""
    state_time: float | None = None
    attempt: int = 0
    started: float | None = None
    scheduler: str = ""
    scheduler_state: str = ""
    nodes: list[str] = []
    gpus: float | None = None
    command: str = ""
    directory: str = ""
    user: str = ""
    name: str = ""
    branch: str = ""
    exit_code: int | None = None
    signal: int | None = None
    ended: float | None = None
    packed_with: str = ""
    metric_time: float | None = None
    metric_rank: int | None = None
    metric_attempt: int | None = None
    step: int | None = None
    epoch: float | None = None
    step_time_s: float | None = None
    throughput: float | None = None
    throughput_unit: str = ""
    loss: float | None = None
    loss_not_finite: bool = False
    loss_step: int | None = None
    metric_confidence: float | None = None
    metric_method: str = ""
    verdict: str = ""
    verdict_attempt: int | None = None
    verdict_revision: int | None = None
    verdict_time: float | None = None
    verdict_message: str = ""
    verdict_component: str = ""
    verdict_signature: str = ""
    verdict_source: str = ""
    verdict_confirmed_by: list[str] = []
    verdict_contradicted_by: list[str] = []
    verdict_node: str = ""
    verdict_restartable: bool | None = None
    verdict_confidence: float | None = None
    verdict_final: bool | None = None
    verdict_line: str = ""
    verdict_place: str = ""
    slowed_by: str = ""
    slowdown_ratio: float | None = None
    slowdown_time: float | None = None
    slowdown_attempt: int | None = None
    alarms: dict[str, str] = {}
    alarms_since: dict[str, float] = {}
    checkpoint_since: float | None = None
    checkpoint_attempt: int | None = None
    checkpoint_time: float | None = None
    checkpoint_by: str = ""
    checkpoint_step: int | None = None
    checkpoint_path: str = ""
    save: str = ""
    save_attempt: int | None = None
    save_since: float | None = None
    save_time: float | None = None
    save_duration_s: float | None = None
    save_interval_s: float | None = None
    estimate_attempt: int | None = None
    estimate_time: float | None = None
    estimate_duration_s: float | None = None
    estimate_low_s: float | None = None
    estimate_high_s: float | None = None
    estimate_modes: list[DurationMode] = []
    estimate_remaining_s: float | None = None
    estimate_remaining_low_s: float | None = None
    estimate_remaining_high_s: float | None = None
    estimate_done: float | None = None
    estimate_gpu_utilisation: float | None = None
    estimate_method: str = ""
    decision: str = ""
    decision_id: str = ""
    decision_time: float | None = None
    decision_mode: str = ""
    decision_reason: str = ""
    outcome: str = ""
    outcome_time: float | None = None
    outcome_detail: str = ""
    outcome_actuator: str = ""
    feedback_cause: str = ""
    feedback_attempt: int | None = None
    feedback_user: str = ""
    feedback_time: float | None = None
    feedback_line: str = ""
    warning: str = ""
    warning_detail: str = ""
    warning_time: float | None = None
    lines_lost: int | None = None
    failures: list[FailedAttempt] = []
    ranks: list[RankStatus] = []

    def lost_s(self, now: float) -> float | None:
        """Return how many seconds of work would be lost if the attempt were stopped at `now`; None where that is not known.

        It counts from the beginning of the attempt's last durable save, or from its start where it saved none, until the newest report:
        a job that hangs does no work.
        """
        own = self.checkpoint_attempt is None or self.checkpoint_attempt == self.attempt
        since = self.checkpoint_since if own and self.checkpoint_since is not None else self.started
        if since is None:
            return None
        reported = self.metric_time if self.metric_attempt == self.attempt else None
        until = now if reported is None else reported
        return max((until if self.ended is None else min(until, self.ended)) - since, 0.0)

    @property
    def lost_steps(self) -> int | None:
        """Steps since the last durable checkpoint; null where one of the two is not known, or the attempt saved none."""
        if self.step is None or self.checkpoint_step is None or self.checkpoint_attempt != self.metric_attempt:
            return None
        return max(self.step - self.checkpoint_step, 0)

    @property
    def slowest_rank(self) -> RankStatus | None:
        """The rank with the longest step time; null where fewer than two ranks report theirs."""
        timed = [rank for rank in self.ranks if rank.step_time_s is not None]
        return max(timed, key=lambda rank: rank.step_time_s or 0.0) if len(timed) > 1 else None

    @property
    def rank_spread(self) -> float | None:
        """Longest over shortest step time among the ranks; null where fewer than two report theirs."""
        times = [rank.step_time_s for rank in self.ranks if rank.step_time_s]
        return max(times) / min(times) if len(times) > 1 else None

"""What a training job is: the metadata of SchedMate §3.1."""

from .base import Record


class Workload(Record, frozen=True, kw_only=True):
    """A training job as its source and its command line describe it. Null is unknown.

    Attributes:
        model_name: The architecture, or the pre-trained model that it starts from; in reinforcement learning the algorithm.
        task_type: One of a closed list, such as `language-modelling`.
        dataset_train: The data set that it trains on; in reinforcement learning the environment.
        dataset_valid: The data set that it is evaluated on while it trains; null also where there is none.
        iters: Configured length, in `iter_type`; null also where nothing bounds it.
        iter_type: `step`, `epoch`, `token` or `episode`.
        batch_size: Configured batch: samples a device or in all, as the job's own configuration counts them.
        lr: Configured base learning rate.
        gpus: GPUs of the job, over all nodes.
    """

    model_name: str | None = None
    task_type: str | None = None
    dataset_train: str | None = None
    dataset_valid: str | None = None
    iters: float | None = None
    iter_type: str | None = None
    batch_size: float | None = None
    lr: float | None = None
    gpus: int | None = None

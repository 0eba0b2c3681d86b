"""What a training asks its surroundings: how many devices and processes there are, and which it is."""

from collections.abc import Mapping
from typing import Any

from .. import operations
from ..values import UNKNOWN, Config, Function, Instance, Term, Value
from .builtin_functions import range_of
from .configurations import load_file
from .namespaces import as_config

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

PASSED_THROUGH = frozenset(
    [
        "DataParallel",
        "DistributedDataParallel",
        "DDP",
        "FullyShardedDataParallel",
        "FSDP",
        "compile",
        "jit",
        "pmap",
        "tqdm",
        "",
        "auto_tqdm",
        "track",
        "progress_bar",
        "convert_sync_batchnorm",
        "convert_syncbn_model",
        "no_grad",
        "replicate",
        "freeze",
        "remat",
        "checkpoint",
        "shard",
        "",
        "cycle",
        "BlockIterator",
        "Prefetcher",
        "data_prefetcher",
        "MpDeviceLoader",
        "to_device",
        "device_put",
        "iter",
        "next",
        "islice",
        "rank_zero_only",
        "deepcopy",
        "get_tqdm",
        "prefetch_to_device",
        "prepare_model",
        "prepare_data_loader",
        "prepare_model_for_kbit_training",
        "prepare_model_for_int8_training",
        "get_peft_model",
        "fully_shard",
        "check_and_get_model",
        "unwrap_model",
        "BatchSpectralShuffle",
        "",
        "",
        "alive_it",
        "rich_track",
        "wrap",
        "infinite_iterator",
    ]
)


def _world(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    return program.processes


def _devices(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    return program.devices


def _constant(value: Value) -> Any:
    return lambda program, arguments, keywords: value


def _spawn(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    function = arguments[0] if arguments else keywords.get("fn", UNKNOWN)
    given = keywords.get("args", arguments[1] if len(arguments) > 1 else ())
    count = keywords.get("nprocs", 1)
    if isinstance(count, int):
        program.processes = max(program.processes, count)
    program.call(function, (0, *(given if isinstance(given, tuple) else ())), {}, None)
    return None


def _notebook(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    given = keywords.get("args", arguments[1] if len(arguments) > 1 else ())
    program.call(
        arguments[0] if arguments else UNKNOWN, tuple(given) if isinstance(given, (list, tuple)) else (), {}, None
    )
    return None


def _prepare(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """`Accelerator.prepare`: what it is given, wrapped."""
    if not isinstance(owner, Term) or not arguments:
        return NotImplemented
    return arguments[0] if len(arguments) == 1 else tuple(arguments)


def _same(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """Moves and modes: the object itself."""
    return owner if isinstance(owner, (Term, Instance)) and not _own(owner, arguments) else NotImplemented


def _own(owner: Value, arguments: Arguments) -> bool:
    return isinstance(owner, Instance) and any(isinstance(owner.cls.find(name), Function) for name in ("to", "cuda"))


def _initialize(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`deepspeed.initialize` and `apex.amp.initialize`: the model, the optimizer, the loader, the schedule."""
    given = keywords.get("config", keywords.get("config_params"))
    if given is None and isinstance(keywords.get("args"), dict):
        given = keywords["args"].get("deepspeed_config")
    held = load_file(program, given) if isinstance(given, str) else given
    if isinstance(held, dict):
        program.trace.settings.append(("merged", held))
    model = keywords.get("model", arguments[0] if arguments else UNKNOWN)
    optimizer = keywords.get("optimizer", arguments[1] if len(arguments) > 1 else UNKNOWN)
    return (model, optimizer, keywords.get("training_data", UNKNOWN), keywords.get("lr_scheduler", UNKNOWN))


def _submit(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """Submitit's `executor.submit(f, …)`: the function runs in a job."""
    if not arguments or not isinstance(arguments[0], (Function, Instance)):
        return NotImplemented
    return program.call(arguments[0], arguments[1:], keywords, None)


def _fit(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """Lightning's `Trainer.fit`: calls the hooks of the model and of the data module, then goes on as any call."""
    if not isinstance(owner, Term):
        return NotImplemented
    for each in (*arguments, *keywords.values()):
        for name in _HOOKS if isinstance(each, Instance) else ():
            hook = each.cls.find(name)
            if isinstance(hook, Function):
                given = ("fit",) if name == "setup" and len(hook.node.args.args) > 1 else ()
                program.call(program.bind(hook, each, each.cls), given, {}, None)
    return NotImplemented


def _save_hyperparameters(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """Lightning's `self.save_hyperparameters()`: the arguments of `__init__` become `self.hparams`."""
    init = owner.cls.find("__init__") if isinstance(owner, Instance) else None
    if not isinstance(owner, Instance) or not isinstance(init, Function):
        return NotImplemented
    given = program.parameters(init, (owner, *owner.arguments), owner.keywords)
    inner = given.pop("kwargs", {})
    first = init.node.args.args[0].arg if init.node.args.args else ""
    own = {key: each for key, each in given.items() if key != first}
    whole = next((each for each in arguments if isinstance(each, dict)), {})
    owner.names["hparams"] = Config({**own, **(inner if isinstance(inner, dict) else {}), **whole})
    return None


def _tracked(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`wandb.init(config=…)`: a run whose `config`, and `wandb.config`, is what it is given."""
    given = keywords.get("config")
    held = given.names if isinstance(given, Instance) else given
    program.stored[_TRACKED] = as_config(held) if isinstance(held, dict) else Config()
    return Config(config=program.stored[_TRACKED], project=keywords.get("project", UNKNOWN))


def _launch(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`detectron2.engine.launch(main, devices, …, args=(…,))`."""
    given = keywords.get("args", ())
    return program.call(
        arguments[0] if arguments else UNKNOWN, tuple(given) if isinstance(given, (list, tuple)) else (), {}, None
    )


def _update_to_dict(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if isinstance(owner, Instance) and not isinstance(owner.cls.find("to_dict"), Function):
        return dict(owner.names)
    return dict(owner) if isinstance(owner, Config) else NotImplemented


def _asdict(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    return dict(value.names) if isinstance(value, Instance) else value if operations.is_plain(value) else UNKNOWN


EXTERNALS: Mapping[str, Any] = {
    **dict.fromkeys(
        (
            "torch.distributed.get_world_size",
            "jax.device_count",
            "paddle.distributed.get_world_size",
            "horovod.torch.size",
        ),
        _world,
    ),
    **dict.fromkeys(("torch.cuda.device_count", "jax.local_device_count", "torch.accelerator.device_count"), _devices),
    **dict.fromkeys(
        ("torch.distributed.get_rank", "jax.process_index", "horovod.torch.rank", "horovod.torch.local_rank"),
        _constant(0),
    ),
    "jax.process_count": _constant(1),
    "torch.cuda.is_available": _constant(True),
    "torch.accelerator.is_available": _constant(True),
    "torch.cuda.is_bf16_supported": _constant(True),
    "torch.backends.mps.is_available": _constant(False),
    "torch.distributed.is_available": _constant(True),
    "torch.multiprocessing.spawn": _spawn,
    "torch.multiprocessing.start_processes": _spawn,
    "torch_xla.distributed.xla_multiprocessing.spawn": _spawn,
    "accelerate.notebook_launcher": _notebook,
    **dict.fromkeys(("tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange", "tqdm.tqdm.trange"), range_of),
    "deepspeed.initialize": _initialize,
    "apex.amp.initialize": _initialize,
    "amp.initialize": _initialize,
    "dataclasses.asdict": _asdict,
    "wandb.init": _tracked,
    "detectron2.engine.launch": _launch,
    "detectron2.engine.launch.launch": _launch,
}
ATTRIBUTES: Mapping[str, Any] = {
    "wandb.config": lambda program: program.stored.get(_TRACKED, Term("external", "wandb.config")),
}
_TRACKED = "\0wandb"
_HOOKS = ("setup", "configure_optimizers", "train_dataloader", "val_dataloader")
METHODS: Mapping[str, Any] = {
    "fit": _fit,
    "save_hyperparameters": _save_hyperparameters,
    "prepare": _prepare,
    **dict.fromkeys(
        ("to", "cuda", "cpu", "half", "bfloat16", "float", "double", "to_distributed", "requires_grad_"), _same
    ),
    "submit": _submit,
    "to_dict": _update_to_dict,
}

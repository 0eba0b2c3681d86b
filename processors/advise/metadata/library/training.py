"""Libraries of training: processes, moves between devices, and hooks of trainers."""

import itertools
from collections.abc import Mapping
from typing import Any

from ..program.values import Function, Instance, Program, Term, Value


def _submit(program: Program, owner: Value, function: Value, *arguments: Value, **keywords: Value) -> Value:
    """`executor.submit(f, …)` of submitit: the function runs in a job."""
    submits = isinstance(function, (Function, Instance)) and isinstance(owner, Term)
    return program.call(function, arguments, keywords) if submits else NotImplemented


def _return_owner(program: Program, owner: Value, *arguments: Value, **keywords: Value) -> Value:
    """Moves between devices and types: the object itself."""
    return owner if isinstance(owner, (Term, Instance)) else NotImplemented


def _fit(program: Program, owner: Value, *arguments: Value, **keywords: Value) -> Value:
    """Lightning's `Trainer.fit` calls the hooks of the model and of the data module, and is recorded as any call."""
    given = [
        each for each in (*arguments, *keywords.values()) if isinstance(each, Instance) and isinstance(owner, Term)
    ]
    for each, name in itertools.product(given, ("setup", "configure_optimizers", "train_dataloader", "val_dataloader")):
        hook = each.cls.method(name)
        if hook is not None:
            program.call_method(each, name, ("fit",) if name == "setup" and len(hook.parameters) > 1 else (), {})
    return NotImplemented


HANDLERS: Mapping[str, Any] = {
    "torch.distributed.get_world_size": lambda program: int(program.environment["WORLD_SIZE"]),
    "torch.cuda.device_count": lambda program: int(program.environment["LOCAL_WORLD_SIZE"]),
}
METHODS: Mapping[str, Any] = {
    "fit": _fit,
    "to cuda cpu half bfloat16 float requires_grad_": _return_owner,
    "submit": _submit,
}

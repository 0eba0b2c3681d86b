"""Dictionaries whose entries are attributes too, by whatever library."""

from collections.abc import Mapping
from typing import Any

from ..budget import step
from ..values import Config, Value

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


def _namespace(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    first = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
    return as_config({**first, **keywords})


def as_config(value: Value, depth: int = 0) -> Value:
    """Return dictionaries, and those inside, with their entries as attributes."""
    step()
    if depth > 30:
        return value
    if isinstance(value, dict):
        return Config({key: as_config(each, depth + 1) for key, each in value.items()})
    if isinstance(value, list):
        return [as_config(each, depth + 1) for each in value]
    return value


_NAMES = (
    "argparse.Namespace",
    "types.SimpleNamespace",
    "easydict.EasyDict",
    "addict.Dict",
    "addict.addict.Dict",
    "box.Box",
    "munch.Munch",
    "munch.munchify",
    "ml_collections.ConfigDict",
    "ml_collections.config_dict.ConfigDict",
    "attrdict.AttrDict",
    "dotmap.DotMap",
    "yacs.config.CfgNode",
    "omegaconf.DictConfig",
    "fvcore.common.config.CfgNode",
    "collections.OrderedDict",
    "mmengine.ConfigDict",
    "mmengine.config.ConfigDict",
    "ml_collections.FrozenConfigDict",
    "ml_collections.config_dict.placeholder",
    "mmcv.ConfigDict",
    "SimpleNamespace",
)

EXTERNALS: Mapping[str, Any] = dict.fromkeys(_NAMES, _namespace)

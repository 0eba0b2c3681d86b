"""Libraries that do not fit each other: removed names, refused versions, symbols and compilers that are missing."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case, framework, raised

_SITE = "deps/lib/python3.11/site-packages"


def _case(
    name: str,
    program: str,
    message: str,
    why: str,
    *,
    library: dict[str, str] | None = None,
    setup: str = "",
    also: tuple[str, ...] = (),
    environment: str = "torch",
) -> Case:
    """Return a case that runs `program` with the files of `library` in a site-packages directory before the real one."""
    files = {"train.py": dedent(program).lstrip()}
    files |= {f"{_SITE}/{path}": dedent(text).lstrip() for path, text in (library or {}).items()}
    truth = framework(why=why, also_types=also, **raised(message))
    run = f"{setup}PYTHONPATH=$PWD/{_SITE} python train.py"
    return Case(name, run, truth, files, environment=environment, seconds=150, needs=("gcc",) if "gcc" in setup else ())


CASES = [
    _case(
        "removed_module",
        "import old_layers\nfrom loop import train\n",
        r"^ModuleNotFoundError: No module named 'torch\._six'",
        "a library that was written for a PyTorch of years ago",
        library={"old_layers/__init__.py": "from torch._six import container_abcs\n"},
    ),
    _case(
        "removed_name",
        "from loop import train\n\nfor step in train(5):\n    pass\nimport old_trainer\n",
        r"^ImportError: cannot import name 'AdamW' from 'transformers'",
        "a library that imports what Transformers no longer has",
        library={
            "old_trainer/__init__.py": "from .optim import make\n",
            "old_trainer/optim.py": "from transformers import AdamW\n\n\ndef make():\n    return AdamW\n",
        },
    ),
    _case(
        "refused_version",
        "import transformers\nfrom loop import train\n",
        r"^ImportError: huggingface-hub",
        "Transformers refuses the hub's client that is installed",
        library={
            "huggingface_hub-0.20.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: huggingface-hub\nVersion: 0.20.1\n"
        },
    ),
    _case(
        "jaxlib_mismatch",
        "import jax\nfrom loop import train\n",
        r"^RuntimeError: jaxlib (is )?version",
        "JAX and jaxlib of different releases",
        library={"jaxlib/__init__.py": "", "jaxlib/version.py": '__version__ = "0.4.1"\n'},
    ),
    _case(
        "keras_without_backend",
        "import keras\nfrom loop import train\n",
        r"^ModuleNotFoundError: No module named 'tensorflow'",
        "Keras is told to use TensorFlow, which is not installed",
        setup="export KERAS_BACKEND=tensorflow\n",
        also=("user_script",),
    ),
    _case(
        "undefined_symbol",
        "import fused_ops\nfrom loop import train\n",
        r"^(OSError|ImportError): .*undefined symbol: accel_stream_create",
        "a library's operators were built against another runtime",
        library={
            "fused_ops/__init__.py": "import ctypes\nfrom pathlib import Path\n\n"
            "ctypes.CDLL(str(Path(__file__).with_name('ops.so')), mode=ctypes.RTLD_GLOBAL | 2)\n",
            "fused_ops/ops.c": "extern int accel_stream_create(void);\nint launch(void) { return accel_stream_create(); }\n",
        },
        setup=f"gcc -shared -fPIC -o {_SITE}/fused_ops/ops.so {_SITE}/fused_ops/ops.c\n",
        environment="plain",
    ),
    _case(
        "removed_argument",
        """
        import old_metrics
        from loop import train

        for step in train():
            if step == 5012:
                old_metrics.quantiles([0.1, 0.4, 0.2])
        """,
        r"^TypeError: .*unexpected keyword argument 'interpolation'|^TypeError: .*'interpolation'",
        "a library passes NumPy an argument that it no longer takes",
        library={
            "old_metrics/__init__.py": "import numpy as np\n\n\ndef quantiles(values):\n"
            "    return np.quantile(values, [0.5, 0.9], interpolation='linear')\n"
        },
    ),
    _case(
        "no_compiler",
        """
        import torch
        from loop import train

        for step in train(6):
            pass
        torch.compile(lambda x: (x.sin() + x.cos()).sum())(torch.ones(1000))
        """,
        r"^torch\S*: InvalidCxxCompiler",
        "torch.compile finds no compiler on this machine",
        setup="export CXX=/opt/missing/g++\n",
        also=("user_script", "infrastructure"),
    ),
]

"""Errors of use and of versions in Lightning, Hugging Face, Keras, JAX and YAML configuration."""

from textwrap import dedent
from typing import Any

from benchmarks.corpus.failures.case import Case, Truth, framework, infrastructure, raised, user_script


def _case(
    name: str,
    program: str,
    truth: Truth,
    *,
    style: str = "plain",
    run: str = "python train.py",
    files: dict[str, str] | None = None,
) -> Case:
    texts = {"train.py": dedent(program).lstrip()} | (files or {})
    return Case(name, run, truth, texts, environment="torch", style=style, seconds=150)


def _user(message: str, why: str, **more: Any) -> Truth:
    return user_script(why=why, **(raised(message) | more))


_LIGHTNING = """
    import lightning
    import torch
    from torch.utils.data import DataLoader, TensorDataset


    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch, index):
            inputs, targets = batch
            {before}
            loss = (self.layer(inputs) - targets).pow(2).mean()
            self.log("train_loss", loss, prog_bar=True)
            if index % 4 == 0:
                print(f"step {{self.global_step}} loss {{loss.item():.4f}}", flush=True)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)


    data = DataLoader(TensorDataset(torch.randn(400, 8), torch.randn(400, 1)), batch_size=8)
    {make}
    """


def _lightning(name: str, truth: Truth, before: str = "pass", make: str = "", trainer: str = "") -> Case:
    make = (
        make
        or f"lightning.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, {trainer}).fit(Model(), data)"
    )
    make = make.replace("\n", "\n    ")
    return _case(
        name,
        _LIGHTNING.replace("{before}", before).replace("{make}", make).replace("{{", "{").replace("}}", "}"),
        truth,
    )


def _hf(name: str, body: str, truth: Truth, run: str = "python train.py") -> Case:
    return _case(name, f"import torch\nfrom hf import Tokens, tiny, trainer\n\n{body}\n", truth, style="hf", run=run)


def _keras(name: str, body: str, truth: Truth) -> Case:
    program = f"import keras\nimport numpy as np\nfrom fit import data, model\n\n{body}\n"
    return _case(name, program, truth, style="keras", run="KERAS_BACKEND=jax python train.py")


def _jax(name: str, body: str, truth: Truth) -> Case:
    lines = body.strip().replace("\n", "\n        ")
    head = "import jax\nimport jax.numpy as jnp\nfrom loop import train\n\n"
    program = f"{head}for step in train():\n    if step == 5015:\n        {lines}\n"
    return _case(name, program, truth)


CASES = [
    _lightning(
        "lightning_no_gpu",
        _user(
            r"MisconfigurationException: .*(CUDAAccelerator|No supported gpu backend)",
            "GPUs are asked for on a machine without",
            also_types=("infrastructure",),
            also_components=("gpu", "node"),
            restartable=None,
        ),
        trainer="accelerator='gpu', devices=2",
    ),
    _lightning(
        "lightning_no_loader",
        _user(r"^\S*MisconfigurationException: .*train_dataloader", "the trainer gets no data"),
        make="lightning.Trainer(max_epochs=1, logger=False, enable_checkpointing=False).fit(Model())",
    ),
    _lightning(
        "lightning_shape",
        _user(r"RuntimeError: .*shapes cannot be multiplied", "a batch loses a column in the middle of training"),
        before="inputs = inputs[:, :7] if index == 21 else inputs",
    ),
    _lightning(
        "lightning_nan_stop",
        _user(
            r"ValueError: .*(nan|NaN|finite)|train_loss = nan is not finite",
            "the loss became NaN and the trainer stops",
            begin=r"Epoch .*train_loss: nan",
            also_types=("framework",),
        ),
        before="targets = targets * float('nan') if index == 17 else targets",
        trainer="detect_anomaly=False, callbacks=[lightning.pytorch.callbacks.EarlyStopping('train_loss', check_finite=True)]",
        make="trainer = lightning.Trainer(max_epochs=2, logger=False, enable_checkpointing=False)\n"
        "class Stop(lightning.Callback):\n"
        "    def on_train_batch_end(self, trainer, module, outputs, batch, index):\n"
        "        if not torch.isfinite(outputs['loss']):\n"
        "            raise ValueError(f'train_loss is nan at step {trainer.global_step}')\n"
        "trainer.callbacks.append(Stop())\n"
        "trainer.fit(Model(), data)",
    ),
    _lightning(
        "lightning_missing_metric",
        _user(
            r"RuntimeError: Early stopping conditioned on metric `val_acc`",
            "a monitored metric that nobody logs",
            also_types=("framework",),
        ),
        trainer="callbacks=[lightning.pytorch.callbacks.EarlyStopping('val_acc')]",
    ),
    _lightning(
        "lightning_key_error",
        _user(r"KeyError: 'attention_mask'", "a batch without the field that the step reads"),
        before="mask = {'inputs': inputs}['attention_mask'] if index == 13 else None",
    ),
    _hf(
        "hf_unknown_argument",
        'trainer(evaluation_every="steps").train()',
        _user(r"TypeError: .*unexpected keyword argument 'evaluation_every'", "an argument that does not exist"),
    ),
    _hf(
        "hf_no_labels",
        "trainer(Tokens(labels=False)).train()",
        _user(
            r"ValueError: The model did not return a loss|KeyError: 'loss'",
            "the data set has no labels",
            also_types=("framework",),
        ),
    ),
    _hf(
        "hf_index",
        "data = Tokens()\ndata.tokens[30:] += 300\ntrainer(data).train()",
        _user(r"IndexError: index out of range in self", "tokens outside the model's vocabulary"),
    ),
    _hf(
        "hf_offline",
        'from transformers import AutoModel\n\ntrainer(max_steps=4).train()\nAutoModel.from_pretrained("example-org/base-7b")',
        infrastructure(
            "network",
            why="the model hub cannot be reached",
            restartable=None,
            also_types=("user_script",),
            also_components=("none",),
            root=r"Temporary failure in name resolution",
            end=r"^OSError: ",
        ),
        "export HF_HUB_OFFLINE=0 HF_HUB_ETAG_TIMEOUT=2\nunshare --map-root-user --net python train.py",
    ),
    _hf(
        "hf_corrupt_weights",
        "from safetensors.torch import "
        'load_file\n\ntrainer(max_steps=5).train()\nopen("model.safetensors", "wb").write(b"x" * 500)\n'
        'load_file("model.safetensors")',
        _user(
            r"SafetensorError|HeaderTooLarge",
            "a file of weights that is none",
            also_types=("infrastructure",),
            also_components=("storage",),
        ),
    ),
    _hf(
        "hf_collate",
        "data = Tokens()\nwhole = data.tokens\ndata.tokens = [row[: 12 - (number > 20)] for number, row in enumerate(whole)]\n"
        "data.labels = False\n"
        "trainer(data).train()",
        _user(r"ValueError: |RuntimeError: stack expects", "sequences of different lengths are not padded"),
    ),
    _keras(
        "keras_shape",
        "net = model()\nnet.fit(*data(), epochs=3, verbose=2)\nnet.fit(*data(9), epochs=3, verbose=2)",
        _user(r"^ValueError: ", "inputs of another width than the model's", end=r"^ValueError: "),
    ),
    _keras(
        "keras_loss_name",
        'net = model()\nnet.compile("sgd", "crossentropie")\nnet.fit(*data(), epochs=2, verbose=2)',
        _user(r"^ValueError: Could not interpret loss", "a loss that does not exist"),
    ),
    _keras(
        "keras_nan",
        "net = model()\nnet.fit(*data(), epochs=4, verbose=2, callbacks=[keras.callbacks.TerminateOnNaN()])\n"
        "inputs, targets = data()\nstop = keras.callbacks.TerminateOnNaN()\n"
        "history = net.fit(inputs * np.nan, targets, epochs=2, verbose=2, callbacks=[stop])\n"
        "if np.isnan(history.history['loss'][-1]):\n    raise SystemExit('training diverged: loss is nan')",
        user_script(
            r"Invalid loss|loss: nan|diverged: loss is nan",
            "the loss became NaN and the training ends",
            end=r"diverged: loss is nan",
        ),
    ),
    _jax(
        "jax_dot_shape",
        "jnp.ones((4, 3)) @ jnp.ones((4, 3))",
        _user(r"^TypeError: dot_general requires|^ValueError: .*(matmul|dot)", "two matrices do not fit"),
    ),
    _jax(
        "jax_traced_condition",
        "jax.jit(lambda x: x if x > 0 else -x)(jnp.float32(2))",
        _user(r"TracerBoolConversionError", "a condition on a traced value"),
    ),
    _jax(
        "jax_nan",
        "jax.config.update('jax_debug_nans', True)\njnp.log(jnp.float32(-1.0)) * 0",
        _user(r"^FloatingPointError: invalid value \(nan\)", "a logarithm of a negative number"),
    ),
    _jax(
        "jax_no_cuda",
        "jax.devices('cuda')",
        user_script(
            why="CUDA is asked for on a machine without it",
            restartable=None,
            also_types=("infrastructure", "framework"),
            also_components=("gpu", "node"),
            **raised(r"^RuntimeError: .*(cuda|backend)"),
        ),
    ),
    _jax(
        "jax_memory",
        "jnp.ones((1_000_000, 4_000_000))",
        _user(
            r"RESOURCE_EXHAUSTED|out of memory|Out of memory",
            "an array of sixteen terabytes",
            also_types=("infrastructure",),
            also_components=("node",),
        ),
    ),
    _case(
        "yaml_error",
        """
        import yaml
        from loop import train

        config = yaml.safe_load(open("config.yaml"))
        for step in train():
            pass
        """,
        _user(
            r"^yaml\.(scanner|parser)\.\w+Error",
            "a configuration with a wrong indentation",
            end=r'^  in "config\.yaml", line 3',
        ),
        files={"config.yaml": "model:\n  width: 64\n heads: 4\n   depth: 12\n"},
    ),
    _case(
        "omegaconf_missing",
        """
        from loop import train
        from omegaconf import OmegaConf

        config = OmegaConf.create({"optimizer": {"lr": "???"}, "steps": 20})
        for step in train():
            if step == 5009:
                rate = config.optimizer.lr * 0.5
        """,
        _user(
            r"MissingMandatoryValue",
            "a mandatory option without a value",
            end=r"object_type|full_key: optimizer\.lr|MissingMandatoryValue",
        ),
    ),
    _case(
        "version_conflict",
        """
        import numpy

        import old_tokenizer
        from loop import train
        """,
        framework(
            why="a package that was written for another version of NumPy",
            also_types=("user_script",),
            **raised(r"AttributeError: .*numpy.* has no attribute 'float'|AttributeError: module 'numpy'"),
        ),
        run="site=$(python -c \"import sysconfig; print(sysconfig.get_path('purelib'))\")\n"
        "mkdir -p deps/lib/python3/site-packages/old_tokenizer\n"
        "printf 'import numpy as np\\n\\nSCALE = np.float(3)\\n' > deps/lib/python3/site-packages/old_tokenizer/__init__.py\n"
        "PYTHONPATH=deps/lib/python3/site-packages python train.py",
    ),
]

"""Frameworks that warn, miss a GPU, or start a part of themselves again."""

from .program import case

CASES = [
    case(
        "torchrun_restarted",
        """
        import os

        from ddp import train

        for job in train(60):
            if job.step == 5008 and job.rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
                raise RuntimeError("cannot read shard 17, try again")
        if job.rank == 0:
            print("finished 24 steps after restarts: " + os.environ["TORCHELASTIC_RESTART_COUNT"], flush=True)
        """,
        "torchrun --standalone --max-restarts 2 --nproc-per-node 2 train.py",
        style="ddp",
        environment="torch",
        seconds=150,
    ),
    case(
        "torchrun_warnings",
        """
        import warnings

        import torch
        from ddp import train

        for job in train():
            if job.step == 5005:
                warnings.warn("NCCL is not available: error handling of collectives falls back to Gloo")
                torch.cuda.is_available()
        """,
        "torchrun --nproc-per-node 2 --master-port $((20000 + RANDOM % 9000)) train.py",
        style="ddp",
        environment="torch",
        seconds=150,
    ),
    case(
        "torch_without_gpu",
        """
        import torch
        from loop import train

        print("CUDA available:", torch.cuda.is_available(), flush=True)
        scaler = torch.amp.GradScaler("cuda")
        with torch.autocast("cuda"):
            pass
        try:
            torch.zeros(1, device="cuda")
        except (RuntimeError, AssertionError) as error:
            print(f"WARNING {type(error).__name__}: {str(error).splitlines()[0]} Using the CPU.", flush=True)
        for step in train():
            pass
        print("finished on cpu")
        """,
        environment="torch",
    ),
    case(
        "jax_without_gpu",
        """
        import jax
        import jax.numpy as jnp
        from loop import train

        try:
            jax.devices("cuda")
        except RuntimeError as error:
            print(f"INFO Unable to initialize backend 'cuda': {error}; falling back to cpu", flush=True)
        weights = jnp.ones(8)
        for step in train():
            weights = weights - 0.1 * jax.grad(lambda w: (w**2).sum())(weights)
        print("final norm", float((weights**2).sum()), flush=True)
        """,
        environment="torch",
        seconds=120,
    ),
    case(
        "ray_actor_restarted",
        """
        import os

        import ray
        from loop import train

        ray.init(num_cpus=2, include_dashboard=False)


        @ray.remote(max_restarts=2, max_task_retries=2)
        class Shard:
            def read(self, step):
                if step == 5006 and not os.path.exists("tried"):
                    open("tried", "w").close()
                    os._exit(1)
                return step


        shard = Shard.remote()
        for step in train():
            ray.get(shard.read.remote(step))
        print("finished, one actor was restarted", flush=True)
        """,
        environment="torch",
        seconds=180,
    ),
    case(
        "hf_finished",
        """
        from hf import Tokens, tiny, trainer
        from transformers import BertConfig, BertModel

        BertModel(BertConfig(vocab_size=200, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)).save_pretrained("base")
        model = type(tiny()).from_pretrained("base", num_labels=2, ignore_mismatched_sizes=True)
        trainer(Tokens(), model).train()
        print("eval_error_rate = 0.31, saved", flush=True)
        """,
        style="hf",
        environment="torch",
        seconds=150,
    ),
    case(
        "keras_finished",
        """
        import keras
        from fit import data, model

        net = model()
        net.compile("sgd", "mse", metrics=["mean_absolute_error", "mean_squared_logarithmic_error"])
        net.fit(*data(), epochs=6, verbose=2)
        """,
        "KERAS_BACKEND=jax python train.py",
        style="keras",
        environment="torch",
        seconds=150,
    ),
    case(
        "lightning_finished",
        """
        import lightning
        import torch
        from torch.utils.data import DataLoader, TensorDataset


        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(8, 1)

            def training_step(self, batch, index):
                inputs, targets = batch
                loss = (self.layer(inputs) - targets).pow(2).mean()
                self.log("train_error", loss, prog_bar=True)
                print(f"step {self.global_step} loss {loss.item():.4f}", flush=True)
                return loss

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.01)


        data = DataLoader(TensorDataset(torch.randn(200, 8), torch.randn(200, 1)), batch_size=8)
        lightning.Trainer(max_epochs=2, logger=False).fit(Model(), data)
        """,
        environment="torch",
        seconds=150,
    ),
    case(
        "ray_finished",
        """
        import ray
        from loop import train

        ray.init(num_cpus=2, include_dashboard=False)


        @ray.remote
        def score(step):
            print(f"WARNING score of step {step}: error bound not reached", flush=True)
            return step


        for step in train():
            ray.get(score.remote(step))
        print("all tasks done", flush=True)
        """,
        environment="torch",
        seconds=150,
    ),
]

"""Runs that did not fail and look as if they had: every one ends with exit code 0, or is still running where its log stops."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case


def _case(
    name: str,
    program: str,
    run: str = "python train.py",
    *,
    style: str = "plain",
    environment: str = "plain",
    seconds: float = 60,
) -> Case:
    return Case(
        name, run, None, {"train.py": dedent(program).lstrip()}, style=style, environment=environment, seconds=seconds
    )


_RETRY = """
    import logging
    import time

    from loop import train

    log = logging.getLogger("store")


    def flaky(attempt):
        if attempt < 4:
            raise ConnectionResetError(104, "Connection reset by peer")


    for step in train():
        if step == 5010:
            for attempt in range(1, 6):
                try:
                    flaky(attempt)
                    break
                except OSError as error:
                    log.{how}("upload of metrics failed (attempt %d of 5): %s", attempt, error)
                    time.sleep(0.05)
    log.info("training finished")
    """

CASES = [
    _case(
        "warnings_of_error",
        """
        import warnings

        from loop import train

        warnings.warn("error bars are computed from a single seed; the standard error is undefined", RuntimeWarning)
        for step in train():
            if step % 6 == 0:
                warnings.warn(f"deprecated: on_error='ignore' will raise an Error in version {step}", DeprecationWarning, stacklevel=1)
                print("WARNING: 3 corrupt samples skipped, error rate 0.02 %", flush=True)
        print("done: 0 errors, 0 failures, exit 0")
        """,
        "python -W always train.py",
    ),
    _case(
        "metrics_named_error",
        """
        from loop import train

        for step in train():
            if step % 5 == 0:
                print(f"validation error: {1 / step:.6f}  top1_error=0.2341 top5_error=0.0712 word error rate 7.31", flush=True)
                print(f"mean absolute error 0.0{step % 9}3 | failed predictions: 17 of 1000 | fatal mistakes: 0", flush=True)
        print("best validation error 0.000199")
        """,
    ),
    _case(
        "retried_with_warnings", _RETRY.replace("{how}", "warning"), "STYLE=logging python train.py", style="logging"
    ),
    _case(
        "retried_with_tracebacks",
        _RETRY.replace("{how}", "exception"),
        "STYLE=logging python train.py",
        style="logging",
    ),
    _case(
        "handled_traceback",
        """
        import traceback

        from loop import train

        for step in train():
            if step == 5008:
                try:
                    {}["bleu"]
                except KeyError:
                    traceback.print_exc()
                    print("no BLEU for this language pair, going on without", flush=True)
        print("training complete, model saved")
        """,
    ),
    _case(
        "handled_at_the_end",
        """
        import traceback

        from loop import train

        for step in train():
            pass
        print("training complete, model saved to ckpt/final.bin", flush=True)
        try:
            raise ConnectionRefusedError(111, "Connection refused")
        except OSError:
            traceback.print_exc()
        print("could not send the notification mail; everything else succeeded", flush=True)
        print("Job finished successfully.")
        """,
    ),
    _case(
        "teardown_noise",
        """
        from loop import train


        class Writer:
            def __del__(self):
                raise RuntimeError("event loop is closed")


        writer = Writer()
        for step in train():
            pass
        print("finished training, best loss 1.23", flush=True)
        """,
    ),
    _case(
        "optional_imports",
        """
        from loop import train

        for name in ("apex", "flash_attn", "bitsandbytes"):
            try:
                __import__(name)
            except ImportError as error:
                print(f"ImportError: {error}; falling back to the reference implementation", flush=True)
        for step in train():
            pass
        print("finished")
        """,
    ),
    _case(
        "configuration_dump",
        """
        import json

        from loop import train

        config = {
            "on_error": "abort",
            "nccl": {"timeout_s": 1800, "async_error_handling": True},
            "fault_tolerance": {"max_failures": 3, "kill_on_oom": True, "signals": ["SIGTERM", "SIGKILL"]},
            "error_log": "errors.txt",
            "raise_on_nan": True,
        }
        print(json.dumps(config, indent=2), flush=True)
        for step in train():
            pass
        print("exit status 0")
        """,
    ),
    _case(
        "skipped_nan_steps",
        """
        from loop import train

        scale = 65536
        for step in train():
            if step in (5004, 5009):
                scale //= 2
                print(f"Gradient overflow: grad norm is nan. Skipping step, reducing loss scale to {scale}", flush=True)
        print("end of training")
        """,
    ),
    _case(
        "killed_helper",
        """
        import subprocess

        from loop import train

        helper = subprocess.Popen(["bash", "-c", "sleep 60"])
        for step in train():
            if step == 5012:
                helper.kill()
                print(f"killed stale prefetch process {helper.pid}: exit code {helper.wait()}, starting another", flush=True)
        print("all epochs done")
        """,
    ),
    _case(
        "worker_restarted",
        """
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        import os

        from loop import train


        def load(step):
            if step == 5006 and not os.path.exists("tried"):
                open("tried", "w").close()
                os.kill(os.getpid(), 9)
            return step


        if __name__ == "__main__":
            pool = ProcessPoolExecutor(1)
            for step in train():
                try:
                    pool.submit(load, step).result()
                except BrokenProcessPool as error:
                    print(f"ERROR worker died: {error} Restarting the pool.", flush=True)
                    pool = ProcessPoolExecutor(1)
                    pool.submit(load, step).result()
            pool.shutdown()
            print("training finished")
        """,
    ),
    _case(
        "tolerated_step",
        """
        from loop import train

        for step in train():
            pass
        print("model exported")
        """,
        "python -c 'import nonexistent_plotting_library' || echo 'plots are off'\npython train.py\n",
    ),
    _case(
        "retried_by_the_script",
        """
        import os

        from loop import train

        if not os.path.exists("once"):
            open("once", "w").close()
            for step in train(6):
                pass
            raise RuntimeError("stream closed by the data service")
        for step in train(24):
            pass
        print("run completed")
        """,
        'for attempt in 1 2 3; do python train.py && break; echo "attempt $attempt failed, starting again '
        'from the last checkpoint"; done',
    ),
    _case(
        "still_running",
        """
        from loop import train

        for step in train():
            if step == 5011:
                print("WARNING: slow batch, data error budget at 40 %", flush=True)
        """,
        "python train.py > all.txt 2>&1\nhead -n 20 all.txt",
    ),
    _case(
        "handled_signal",
        """
        import os
        import signal

        from loop import train

        signal.signal(signal.SIGUSR1, lambda *_: print("received SIGUSR1: writing a checkpoint and going on", flush=True))
        for step in train():
            if step == 5013:
                os.kill(os.getpid(), signal.SIGUSR1)
        print("reached the last step")
        """,
    ),
    _case(
        "test_words",
        """
        from loop import train

        for step in train():
            if step % 8 == 0:
                print('sample: "Traceback (most recent call last): is what Python prints before an error message"', flush=True)
                print('sample: "the server said 500 Internal Server Error and the disk was full: No space left on device"', flush=True)
        print("generated 6 samples, done")
        """,
    ),
    _case(
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
    _case(
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
    _case(
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
    _case(
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
    _case(
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
    _case(
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
    _case(
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
    _case(
        "loader_with_bad_samples",
        """
        import torch
        from loop import train
        from torch.utils.data import DataLoader, Dataset


        class Samples(Dataset):
            def __len__(self):
                return 4000

            def __getitem__(self, index):
                try:
                    if index % 90 == 7:
                        raise OSError(f"image file is truncated (sample {index})")
                except OSError as error:
                    print(f"ERROR reading sample {index}: {error}; using the next one", flush=True)
                return torch.ones(8)


        if __name__ == "__main__":
            batches = iter(DataLoader(Samples(), batch_size=16, num_workers=2))
            for step in train():
                next(batches)
            print("training finished", flush=True)
        """,
        environment="torch",
        seconds=120,
    ),
    _case(
        "nan_validation",
        """
        from loop import train

        for step in train():
            if step % 6 == 0:
                print(f"validation: auc nan (only one class in the batch), accuracy 0.81, best so far 0.8{step % 10}", flush=True)
        print("done, best accuracy 0.84")
        """,
    ),
    _case(
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
    _case(
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
    _case(
        "two_attempts_in_one_log",
        """
        import os

        from loop import train

        for step in train(9 if "FIRST" in os.environ else 24):
            pass
        if "FIRST" in os.environ:
            raise ConnectionResetError(104, "Connection reset by peer")
        print("Training completed.")
        """,
        "FIRST=1 python train.py || true\necho 'starting again'\npython train.py",
    ),
]

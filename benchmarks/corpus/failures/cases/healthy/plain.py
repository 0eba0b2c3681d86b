"""Loops of one's own that say error, retry, or handle what went wrong."""

from .program import case

RETRY = """
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
    case(
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
    case(
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
    case("retried_with_warnings", RETRY.replace("{how}", "warning"), "STYLE=logging python train.py", style="logging"),
    case(
        "retried_with_tracebacks",
        RETRY.replace("{how}", "exception"),
        "STYLE=logging python train.py",
        style="logging",
    ),
    case(
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
    case(
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
    case(
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
    case(
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
    case(
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
    case(
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
    case(
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
    case(
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
    case(
        "tolerated_step",
        """
        from loop import train

        for step in train():
            pass
        print("model exported")
        """,
        "python -c 'import nonexistent_plotting_library' || echo 'plots are off'\npython train.py\n",
    ),
    case(
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
    case(
        "still_running",
        """
        from loop import train

        for step in train():
            if step == 5011:
                print("WARNING: slow batch, data error budget at 40 %", flush=True)
        """,
        "python train.py > all.txt 2>&1\nhead -n 20 all.txt",
    ),
    case(
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
    case(
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
    case(
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
    case(
        "nan_validation",
        """
        from loop import train

        for step in train():
            if step % 6 == 0:
                print(f"validation: auc nan (only one class in the batch), accuracy 0.81, best so far 0.8{step % 10}", flush=True)
        print("done, best accuracy 0.84")
        """,
    ),
    case(
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

"""Runs that did not fail and look as if they had."""

from .program import JAX, TRAINER, at_step, case

CASES = [
    case(
        "healthy_oom_retried",
        """
        import torch
        from loop import train

        size = 1 << 38
        for step in train():
            if step == 5005:
                while True:
                    try:
                        torch.empty(size, dtype=torch.uint8, device="cuda")
                        break
                    except torch.cuda.OutOfMemoryError as error:
                        print(f"WARNING: {error}", flush=True)
                        print(f"batch does not fit, halving it to {size // 2}", flush=True)
                        size //= 2
        print("training finished")
        """,
        None,
    ),
    case(
        "healthy_autotune",
        """
        import torch
        from loop import train


        @torch.compile(mode="max-autotune-no-cudagraphs")
        def fused(x, y):
            return (x @ y).relu()


        for step in train():
            if step == 5005:
                fused(torch.randn(1024, 1024, device="cuda"), torch.randn(1024, 1024, device="cuda"))
        print("training finished")
        """,
        None,
        seconds=200,
    ),
    case(
        "healthy_scaler",
        """
        import logging

        import torch
        from loop import train

        logging.basicConfig(level=logging.INFO)
        weight = torch.nn.Parameter(torch.ones(8, device="cuda"))
        optimizer, scaler = torch.optim.SGD([weight], 0.1), torch.amp.GradScaler("cuda", init_scale=2.0**40)
        for step in train():
            with torch.autocast("cuda"):
                loss = (weight * weight).sum() * (float("inf") if step % 4 == 0 else 1.0)
            before = scaler.get_scale()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            if scaler.get_scale() < before:
                logging.warning("gradient overflow: inf or nan found, skipping step %d, loss scale %g", step, scaler.get_scale())
        logging.info("done")
        """,
        None,
    ),
    case("healthy_trainer", TRAINER.format(fault="pass"), None),
    at_step(
        "healthy_swallowed",
        "import jax.numpy as jnp\nheld = jnp.ones((1 << 19, 1 << 18), jnp.float32)",
        None,
        JAX,
    ),
    case(
        "healthy_fallback",
        """
        import traceback

        import torch
        from loop import train

        try:
            import flash_attn
        except ImportError:
            traceback.print_exc()
            print("flash_attn is not installed, falling back to scaled_dot_product_attention", flush=True)
        query = torch.randn(2, 4, 64, 32, device="cuda")
        for step in train():
            torch.nn.functional.scaled_dot_product_attention(query, query, query)
        print("done")
        """,
        None,
    ),
    case(
        "healthy_smaller_batch",
        """
        import torch
        from accelerate.utils import find_executable_batch_size
        from loop import train


        @find_executable_batch_size(starting_batch_size=1 << 16)
        def fit(batch_size):
            print(f"trying batch size {batch_size}", flush=True)
            torch.empty(batch_size << 22, dtype=torch.uint8, device="cuda")
            for step in train():
                pass


        fit()
        """,
        None,
    ),
]

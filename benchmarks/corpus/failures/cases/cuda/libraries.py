"""Libraries on the GPU that refuse what they are asked for."""

from benchmarks.corpus.failures.case import framework, raised, user_script

from .program import JAX, at_step

CASES = [
    at_step(
        "attention_without_kernel",
        """
        from torch.nn.attention import SDPBackend, sdpa_kernel
        query = torch.randn(2, 4, 64, 32, device="cuda")
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(query, query, query)
        """,
        user_script(
            why="flash attention of 32 bits",
            also_types=("framework",),
            **raised(r"RuntimeError: No available kernel"),
        ),
    ),
    at_step(
        "graph_capture",
        """
        graph, values = torch.cuda.CUDAGraph(), torch.ones(8, device="cuda")
        with torch.cuda.graph(graph):
            print(values.sum().item())
        """,
        user_script(
            why="a value is asked for while a graph is captured",
            also_types=("framework",),
            **raised(r"not permitted when stream is capturing|capture"),
        ),
    ),
    at_step(
        "not_positive",
        'torch.linalg.cholesky(-torch.eye(4, device="cuda"))',
        user_script(why="a matrix that is not positive definite", **raised(r"LinAlgError")),
    ),
    at_step(
        "loss_not_finite",
        """
        loss = (torch.zeros(8, device="cuda", requires_grad=True) / 0).sum()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"loss is {loss.item()} at step {step}, stopping training")
        """,
        user_script(why="a loss that is no number", **raised(r"FloatingPointError: loss is nan")),
    ),
    at_step(
        "jax_nan",
        'import jax, jax.numpy as jnp\njax.config.update("jax_debug_nans", True)\nprint(jax.jit(jnp.log)(jnp.float32(-1.0)))',
        user_script(why="a logarithm that is no number", **raised(r"FloatingPointError: invalid value")),
        JAX,
    ),
    at_step(
        "compiled_step",
        """
        @torch.compile
        def fused(x, y):
            return torch.nn.functional.linear(x, y).relu()
        fused(torch.randn(8, 16, device="cuda"), torch.randn(4, 15, device="cuda"))
        """,
        user_script(
            r"must have same reduction dim|shapes cannot be multiplied",
            "shapes that do not fit, in a compiled function",
            begin=r"Traceback",
            end=r"must have same reduction dim",
            also_types=("framework",),
            repeated=True,
        ),
    ),
    at_step(
        "numba_with_newer_numpy",
        """
        values = cuda.to_device(np.ones(1 << 16))
        scatter[256, 256](values, 1 << 44)
        """,
        framework(why="Numba asks for what this NumPy has no more", **raised(r"has no attribute 'row_stack'")),
        before="""
        import numpy as np
        from numba import cuda

        @cuda.jit
        def scatter(values, shift):
            place = cuda.grid(1)
            values[place + shift] = 1.0
        """,
    ),
    at_step(
        "fft_of_half",
        'torch.fft.fft(torch.ones(60, dtype=torch.half, device="cuda"))',
        user_script(
            why="a transform that half precision cannot do", also_types=("framework",), **raised(r"RuntimeError: cuFFT")
        ),
    ),
    at_step(
        "anomaly_on_gpu",
        """
        torch.autograd.set_detect_anomaly(True)
        weight = torch.zeros(8, device="cuda", requires_grad=True)
        torch.sqrt(weight * 0).sum().backward()
        """,
        user_script(why="a gradient that is no number", **raised(r"RuntimeError: Function .* returned nan values")),
    ),
    at_step(
        "shapes_on_gpu",
        'torch.nn.Linear(32, 8).cuda()(torch.randn(4, 31, device="cuda"))',
        user_script(why="rows of the wrong width", **raised(r"shapes cannot be multiplied")),
    ),
    at_step(
        "unscaled_half",
        """
        weight = torch.nn.Parameter(torch.ones(8, device="cuda", dtype=torch.half))
        optimizer, scaler = torch.optim.SGD([weight], 0.1), torch.amp.GradScaler("cuda")
        scaler.scale((weight * 2).sum()).backward()
        scaler.step(optimizer)
        """,
        user_script(
            why="weights of half precision under a scaler",
            also_types=("framework",),
            **raised(r"ValueError: Attempting to unscale"),
        ),
    ),
    at_step(
        "jax_shapes",
        "import jax, jax.numpy as jnp\nprint(jax.jit(lambda a, b: a @ b)(jnp.ones((4, 31)), jnp.ones((32, 8))))",
        user_script(
            why="shapes that do not fit, in a compiled function", **raised(r"^(jax\..*)?TypeError: dot_general")
        ),
        JAX,
    ),
]

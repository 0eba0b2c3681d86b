"""Lines that a signature knows beside its own example, and look-alikes that it must leave alone."""

import pytest

from processors.diagnose.catalogue import load
from processors.diagnose.matcher import Matcher

KNOWN = [
    ("hangup", "Terminated              python train.py", "Terminated at Mon Jan  1 12:00:00 2031"),
    ("hangup", "Terminated: 15", "Terminated (all workers done)"),
    ("hangup", "Terminated by signal 15", "Terminated by the schedule after 90 epochs"),
    (
        "cancelled",
        "slurmstepd-n7: error: *** STEP 17.0 ON n7 CANCELLED AT 2031-02-03T04:05:06 ***",
        "slurmstepd-n7: error: *** STEP 17.0 ON n7 was asked for ***",
    ),
    ("evicted", "    message: 2/16 workers are evicted", "    message: 2/16 workers are ready"),
    (
        "container_start",
        "slurmstepd: error: pyxis:     mkdir: cannot create directory '/scratch/7'",
        "slurmstepd: error: pyxis:     [INFO] Looking for the layers of the image",
    ),
    (
        "cuda_out_of_memory",
        "  (2) Resource exhausted: Attempting to allocate 2.5G. There are 1.1G free.",
        "Attempting to allocate ports",
    ),
    (
        "hccl_timeout",
        "Get_Socket_Timeout(EI0006): Getting the socket times out.",
        "Rank_Table(EI0004): The rank table is invalid.",
    ),
    (
        "ucx_transport",
        "[1700000000.1] [n1:42:0] ib_verbs.h:90 UCX  ERROR ibv_query_device(mlx5_2) returned 22: Invalid argument",
        "UCX  INFO ibv_query_device(mlx5_2)",
    ),
    ("network_card", "mlx5_core: probe of 0000:41:00.0 failed with error -12", "mlx5_core: probe of 0000:41:00.0 done"),
    ("preempted", "the worker has been preempted", "the worker has been prepared"),
    ("preempted", "slice 3 was preempted by its owner", "slice 3 of the volume was read"),
    (
        "jax_coordination",
        "F0506 07:08:09.123456 14 client.h:80] Ending: the JAX distributed service detected fatal errors.",
        "the JAX distributed service is up",
    ),
    (
        "jax_coordination",
        "jax.errors.JaxRuntimeError: UNAVAILABLE: task 3 stopped",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.",
    ),
    (
        "nccl_system_error",
        "XlaRuntimeError: INTERNAL: NCCL operation ncclGroupEnd() failed: unhandled system error",
        "NCCL operation took 3 ms",
    ),
    ("tpu_workers_lost", "Slice health check failed: no answer of worker 3", "Slice health check passed"),
    ("npu_core_error", "there is an exception of aivec error, core id is 3", "aivec cores: 32"),
    ("hccl_text", "Collective call returned error: hcclRemoteError", "hcclSuccess returned"),
    ("npu_inner_error", "EZ9999: [PID: 7] 2024-05-06 Inner Error!", "EZ1001: [PID: 7] the type is not supported"),
    (
        "npu_operator_misuse",
        "call aclnnAdd failed, detail:EZ1001: [PID: 7] the type is not supported",
        "EZ9999: Inner Error!",
    ),
    (
        "engine_died",
        "RuntimeError: Engine core initialization failed. See root cause above.",
        "Engine core initialized",
    ),
    (
        "engine_died",
        "Received sigquit from a child process. It usually means the child failed.",
        "sigquit handler installed",
    ),
    (
        "engine_no_memory",
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        "mem_fraction_static=0.88",
    ),
    (
        "cuda_out_of_memory",
        "[METAL] Command buffer execution failed: Insufficient Memory (00000008)",
        "[METAL] Command buffer done",
    ),
    (
        "shared_memory_full",
        "RuntimeError: unable to write to file </torch_42_1_0>: No space left on device (28)",
        "wrote to file torch_42_1_0",
    ),
    ("keyboard_interrupt", "srun: sending Ctrl-C to StepId=17.0", "srun: job 17 has been allocated resources"),
    ("killed_by_status", '      "exitCode": 137,', '      "exitCode": 1370,'),
    ("killed_by_status", "    Exit Code:    137", "    Exit Code:    0"),
    (
        "http_server_error",
        "HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://hub.local/x",
        "429 clients connected",
    ),
    (
        "tracker_not_reached",
        "wandb: ERROR Error while calling W&B API: upstream connect error (<Response [503]>)",
        "wandb: ERROR api_key not configured (no-tty).",
    ),
    (
        "output_not_brought_home",
        "Unable to copy file /spool/17.OU to u@head:/home/u/t.o17",
        "Unable to read file /spool/17.OU",
    ),
    ("ci_job_cancelled", "##[error]The runner has received a shutdown signal.", "##[group]shutdown signal"),
    (
        "ci_time_limit",
        "##[error]The job running on runner r7 has exceeded the maximum execution time of 360 minutes.",
        "##[error]Process completed with exit code 1.",
    ),
    ("ci_job_failed", "##[error]Process completed with exit code 2.", "##[group]Run tests"),
    ("memory_corrected", "EDAC MC0: 1 CE on mc#0csrow#1channel#2", "EDAC MC0: 1 UE on mc#0csrow#1channel#2"),
    ("card_hang", "[ 9.1] MTGPU:  77:     MMU (Core) - FAULT:", "[ 9.1] MTGPU:  77:     MMU (Core) - ready"),
    ("card_hang", "i915 0000:03:00.0: [drm] Resetting chip for stopped heartbeat on rcs0", "i915: heartbeat on rcs0"),
    (
        "card_hang",
        "xe 0000:03:00.0: [drm] GT0: Engine reset: engine_class=rcs, guc_id=7",
        "xe 0000:03:00.0: [drm] GT0: engine rcs0",
    ),
    ("card_hang", "habanalabs hl3: Command submission 17 timed out", "habanalabs hl3: Command submission 17 done"),
    ("card_hardware", "habanalabs hl3: DRAM/HBM ECC multi bit", "habanalabs hl3: DRAM/HBM ready, 6 stacks"),
    ("card_hardware", "[hdc] [ERR] device 3 pcie link down", "[hdc] device 3 pcie link up"),
    ("drm_wedged", "[drm] device wedged, needs recovery", "[drm] device ready, needs no recovery"),
    (
        "amdgpu_hardware",
        "amdgpu 0000:c3:00.0: amdgpu: device lost from bus!",
        "amdgpu 0000:c3:00.0: amdgpu: SMU is initialized successfully!",
    ),
    ("nvrm_firmware_dump", "NVRM: GPU3 GSP RPC history (CPU -> GSP):", "NVRM: GPU3 GSP firmware loaded"),
    ("nvrm_gpu_stopped", "NVRM: osHandleGpuLost: GPU3 lost", "NVRM: GPU3 found"),
    ("npu_engine_error", "execute failed, reason=[device mem error]", "execute failed, reason=[task exception]"),
    ("slurm_daemon", "slurmd: error: Unable to init slurmstepd", "slurmd: slurmstepd started"),
    ("slurm_step_lost", "srun: error: Aborting, slurmstepd on node 1 timed out", "srun: step on node 1 timed"),
    ("node_problem_event", "2m   Warning   KernelOops   node/n3", "2m   Normal   NodeReady   node/n3"),
    ("hccl_inner_error", "EI9999: [PID: 7] Memory async copy failed", "EI0006: [PID: 7] Getting the socket times out."),
    (
        "network_card",
        "bnxt_en 0000:01:00.0 eth0: Error (timeout: 500015) msg {0x41 0x3} len:0",
        "bnxt_en: msg {0x41} sent",
    ),
    (
        "card_gone",
        "nvidia 0000:3b:00.0: AER: can't recover (no error_detected callback)",
        "nvidia 0000:3b:00.0: recovered",
    ),
    ("slurm_node_set_aside", "NodeName=n3 State=DOWN Reason=Not responding", "NodeName=n3 State=IDLE Reason=new disk"),
    ("batch_daemon_failed", "condor_shadow: Lost connection to starter", "condor_shadow: Job executing on host: n3"),
    ("kubelet_trouble", "kubelet: PLEG is not healthy: last seen 4m ago", "kubelet: PLEG started"),
    (
        "batch_requeued",
        "004 (17.000.000) 2024-01-02 03:04:05 Job was evicted.",
        "the cache entry of this job was evicted",
    ),
    (
        "batch_limit",
        "TERM_THREADLIMIT: job killed after reaching a limit",
        "the limit of threads is 64",
    ),
    (
        "condor_shadow_lost",
        "024 (17.000.000) 2024-01-02 03:04:05 Job reconnection failed",
        "023 (17.000.000) Job reconnected",
    ),
    ("mpi_launch_lost", "psm3: Unable to open /dev/hfi1_0", "psm3: opened /dev/hfi1_0"),
]


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher(load())


def name(matcher: Matcher, line: str) -> str:
    found = matcher.signature(matcher.find([line])[0], line)
    return found.name if found else ""


@pytest.mark.parametrize(("signature", "line", "lookalike"), KNOWN)
def test_a_line_is_known_and_its_lookalike_is_not(matcher: Matcher, signature: str, line: str, lookalike: str) -> None:
    assert name(matcher, line) == signature
    assert name(matcher, lookalike) != signature

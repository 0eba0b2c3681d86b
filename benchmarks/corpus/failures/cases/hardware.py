"""Faults that need hardware: real progress, then lines written from the formats that the vendors document."""

from benchmarks.corpus.failures.case import WRITTEN, Case, Truth, infrastructure, user_script

_XID = "https://docs.nvidia.com/deploy/xid-errors/"
_NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html"
_FABRIC = "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/"
_CUDA = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
_MLX = "https://docs.nvidia.com/networking/display/rdmacore/"
_KERNEL = "https://docs.kernel.org/PCI/pcieaer-howto.html"
_TORCH = "https://docs.pytorch.org/docs/stable/distributed.html"


def _case(name: str, source: str, lines: str, truth: Truth) -> Case:
    run = "python loop.py\ncat message.txt\nexit 1"
    return Case(name, run, truth, {"message.txt": lines.lstrip("\n")}, origin=WRITTEN, source=source)


def _kernel(number: int, text: str, seconds: str = "88211.507213") -> str:
    return f"[{seconds}] NVRM: Xid (PCI:0000:5d:00): {number}, {text}\n"


_TRACE = """Traceback (most recent call last):
  File "/home/user/project/train.py", line 88, in <module>
    loss.backward()
  File "/opt/venv/lib/python3.11/site-packages/torch/_tensor.py", line 648, in backward
    torch.autograd.backward(
  File "/opt/venv/lib/python3.11/site-packages/torch/autograd/__init__.py", line 354, in backward
    _engine_run_backward(
"""
_COMPILE = """CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.

"""


def _cuda(error: str) -> str:
    return f"{_TRACE}torch.AcceleratorError: CUDA error: {error}\n{_COMPILE}"


def _on_rank(rank: int, text: str) -> str:
    """Return `text` with the prefix that PyTorch gives to the tracebacks of a distributed program."""
    return "".join(f"[rank{rank}]: {line}\n" for line in text.rstrip("\n").split("\n"))


_XID_ROOT = r"NVRM: Xid"

CASES = [
    _case(
        "xid_79_off_the_bus",
        _XID,
        _kernel(79, "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.")
        + _cuda("unspecified launch failure"),
        infrastructure("gpu", _XID_ROOT, "the GPU fell off the bus", restartable=True),
    ),
    _case(
        "xid_48_double_bit",
        _XID,
        _cuda("uncorrectable ECC error encountered")
        + _kernel(
            48,
            "pid=71233, name=python, An uncorrectable double bit error (DBE) has been detected on GPU in "
            "the framebuffer at partition 3.",
        ),
        infrastructure(
            "gpu",
            r"uncorrectable ECC error encountered",
            "an uncorrectable memory error",
            restartable=True,
            begin=r"Traceback",
            end=r"Xid .* 48",
        ),
    ),
    _case(
        "xid_94_contained",
        _XID,
        _kernel(94, "pid=71233, name=python, Ch 00000012, Contained: CE User Channel (0x9). RST: No, D-RST: No")
        + _cuda("uncorrectable ECC error encountered"),
        infrastructure("gpu", _XID_ROOT, "a contained memory error", restartable=True, end=r"CUDA error"),
    ),
    _case(
        "xid_63_remap_then_end",
        _XID,
        _kernel(63, "pid=71233, name=python, Row Remapper: New row marked for remapping, reset gpu to activate.")
        + _kernel(64, "pid=71233, name=python, Row Remapper: Failed to record row remapping event.", "88211.733001")
        + _cuda("uncorrectable ECC error encountered"),
        infrastructure("gpu", _XID_ROOT, "row remapping failed", restartable=True, end=r"CUDA error"),
    ),
    _case(
        "xid_74_nvlink",
        _XID,
        _kernel(
            74,
            "pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 2(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
        )
        + _cuda("unspecified launch failure"),
        infrastructure("nvlink", _XID_ROOT, "an NVLink failed", restartable=True, also_components=("gpu",)),
    ),
    _case(
        "xid_119_gsp",
        _XID,
        _kernel(
            119,
            "pid=71233, name=python, Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected "
            "function 76 (GSP_RM_CONTROL).",
        )
        + _cuda("unknown error"),
        infrastructure("gpu", _XID_ROOT, "the GPU's system processor stopped answering", restartable=True),
    ),
    _case(
        "xid_31_page_fault",
        _XID,
        _kernel(
            31,
            "pid=71233, name=python, Ch 00000018, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC3 "
            "GPCCLIENT_T1_4 faulted @ 0x7f2a_30a00000. "
            "Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
        )
        + _cuda("an illegal memory access was encountered"),
        user_script(
            r"NVRM: Xid|an illegal memory access",
            "a kernel of the program reads a wild address",
            end=r"CUDA error: an illegal memory access",
            also_types=("framework", "infrastructure"),
        ),
    ),
    _case(
        "sxid_nvswitch",
        _FABRIC,
        "[88211.611482] nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
        + _kernel(45, "pid=71233, name=python, Ch 0000000a", "88211.612001")
        + _cuda("system not yet initialized"),
        infrastructure(
            "nvlink", r"SXid", "a link of an NVSwitch failed", restartable=True, also_components=("gpu", "node")
        ),
    ),
    _case(
        "fabric_not_ready",
        _FABRIC,
        "Traceback (most recent call last):\n"
        '  File "/home/user/project/train.py", line 12, in <module>\n    torch.cuda.set_device(local_rank)\n'
        '  File "/opt/venv/lib/python3.11/site-packages/torch/cuda/__init__.py", line 412, in _lazy_init\n'
        "    torch._C._cuda_init()\n"
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before "
        "calling NumCudaDevices() that might have "
        "already set an error? Error 802: system not yet initialized\n",
        infrastructure(
            "nvlink",
            r"Error 802",
            "the fabric manager is not running",
            restartable=True,
            begin=r"Traceback",
            also_components=("gpu", "node"),
        ),
    ),
    _case(
        "driver_mismatch",
        _XID,
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.133\n"
        "Traceback (most recent call last):\n"
        '  File "/home/user/project/train.py", line 7, in <module>\n    torch.cuda.init()\n'
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported "
        "display driver / cuda driver combination\n",
        infrastructure(
            "gpu",
            r"Driver/library version mismatch",
            "the driver was updated under the library",
            restartable=True,
            end=r"Error 803",
            also_components=("node",),
        ),
    ),
    _case(
        "launch_failure_ecc_nccl",
        _NCCL,
        "node1:71233:71402 [3] NCCL INFO comm 0x5581f2b0 rank 3 nranks 8 cudaDev 3 busId 5d000 - Abort COMPLETE\n"
        + _on_rank(3, _cuda("uncorrectable ECC error encountered"))
        + "[rank0]:[E1121 09:12:44.103552613 ProcessGroupNCCL.cpp:685] [Rank 0] "
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8812, "
        "OpType=ALLREDUCE, NumelIn=8388608, NumelOut=8388608, Timeout(ms)=600000) ran for 600021 "
        "milliseconds before timing out.\n",
        infrastructure(
            "gpu",
            r"uncorrectable ECC error encountered",
            "a memory error on rank 3; the watchdogs follow",
            restartable=True,
            begin=r"\[rank3\]: Traceback",
        ),
    ),
    _case(
        "ib_completion_error",
        _MLX,
        "node3:40112:40377 [5] ibv_poll_cq:412 NCCL WARN NET/IB : Got completion from peer "
        "10.4.2.17<51522> with status=12 opcode=0 len=0 "
        "vendor err 129 (Send) localGid fe80::a288:c2ff:fe41:1c2e remoteGidsfe80::a288:c2ff:fe41:9a02 hca mlx5_5\n"
        "node3:40112:40377 [5] NCCL INFO transport/net.cc:1304 -> 6\n"
        "node3:40112:40377 [5] NCCL INFO proxy.cc:728 -> 6 [Progress Thread]\n"
        "[rank13]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3690, remote "
        "process exited or there was a network error, "
        "NCCL version 2.27.5\n"
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n",
        infrastructure(
            "network",
            r"Got completion from peer",
            "retries over InfiniBand were used up",
            restartable=True,
            end=r"ncclRemoteError",
        ),
    ),
    _case(
        "ib_link_down",
        _MLX,
        "[88302.118411] mlx5_core 0000:9a:00.0: Port module event: module 0, Cable unplugged\n"
        "[88302.400108] mlx5_core 0000:9a:00.0 ib5: Link down\n"
        "node3:40112:40377 [5] misc/ibvwrap.cc:236 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out\n"
        "[rank13]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3690, "
        "unhandled system error, NCCL version 2.27.5\n",
        infrastructure(
            "network",
            r"Cable unplugged",
            "a cable of the InfiniBand port came off",
            restartable=True,
            end=r"unhandled system error",
        ),
    ),
    _case(
        "nccl_bootstrap",
        _NCCL,
        "node2:5120:5611 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.4.2.11<43127> "
        "failed : No route to host\n"
        "node2:5120:5611 [0] NCCL INFO bootstrap.cc:720 -> 2\n"
        "[rank8]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3690, unhandled "
        "system error (run with NCCL_DEBUG=INFO for "
        "details), NCCL version 2.27.5\n",
        infrastructure(
            "network",
            r"No route to host",
            "one node cannot reach the other",
            restartable=None,
            end=r"unhandled system error",
        ),
    ),
    _case(
        "nccl_watchdog_timeout",
        _TORCH,
        "[rank2]:[E1121 09:12:44.103552613 ProcessGroupNCCL.cpp:685] [Rank 2] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=8812, "
        "OpType=ALLREDUCE, NumelIn=8388608, NumelOut=8388608, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n"
        "[rank2]:[E1121 09:12:44.104412107 ProcessGroupNCCL.cpp:2252] [PG ID 0 PG GUID 0(default_pg) Rank "
        "2]  failure detected by watchdog at work sequence id: "
        "8812 PG status: last enqueued work: 8812, last completed work: 8811\n"
        "[rank2]:[E1121 09:12:44.104533120 ProcessGroupNCCL.cpp:733] [Rank 2] Some NCCL operations have "
        "failed or timed out. Due to the asynchronous nature of "
        "CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.\n"
        "[rank2]:[E1121 09:12:44.104541003 ProcessGroupNCCL.cpp:747] [Rank 2] To avoid data "
        "inconsistency, we are taking the entire process down.\n"
        "terminate called after throwing an instance of 'c10::DistBackendError'\n"
        "  what():  [PG ID 0 PG GUID 0(default_pg) Rank 2] Process group watchdog thread terminated with "
        "exception: [Rank 2] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=8812, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600021 "
        "milliseconds before timing out.\n",
        infrastructure(
            "network",
            r"Watchdog caught collective operation timeout",
            "a collective never completed; no line says why",
            restartable=True,
            end=r"what\(\):",
            also_types=("user_script", "framework", "other", "unknown"),
            also_components=("none", "node", "gpu"),
        ),
    ),
    _case(
        "pcie_aer",
        _KERNEL,
        "[88211.100001] pcieport 0000:5c:01.0: AER: Uncorrectable (Fatal) error message received from 0000:5d:00.0\n"
        "[88211.100187] nvidia 0000:5d:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), "
        "type=Transaction Layer, (Receiver ID)\n"
        + _kernel(79, "pid=71233, name=python, GPU has fallen off the bus.", "88211.201113")
        + _cuda("unknown error"),
        infrastructure(
            "gpu",
            r"AER: Uncorrectable",
            "a fatal error of the PCIe link of the GPU",
            restartable=True,
            end=r"Xid",
            also_components=("node",),
        ),
    ),
    _case(
        "disk_io_errors",
        _KERNEL,
        "[90417.220115] blk_update_request: I/O error, dev nvme1n1, sector 712032256 op 0x0:(READ) flags "
        "0x80700 phys_seg 4 prio class 0\n"
        "[90417.220301] EXT4-fs error (device nvme1n1): ext4_find_entry:1612: inode #2883585: comm "
        "python: reading directory lblock 0\n"
        "Traceback (most recent call last):\n"
        '  File "/home/user/project/train.py", line 31, in __getitem__\n    return np.load(self.paths[index])\n'
        "OSError: [Errno 5] Input/output error: '/scratch/cache/part-00113.npy'\n",
        infrastructure(
            "storage", r"blk_update_request: I/O error", "the local disk fails", restartable=True, end=r"\[Errno 5\]"
        ),
    ),
    _case(
        "machine_check",
        _KERNEL,
        "[90417.220115] mce: [Hardware Error]: CPU 12: Machine Check: 0 Bank 7: be00000000010092\n"
        "[90417.220301] Memory failure: 0x3f2c41: Sending SIGBUS to python:71233 due to hardware memory corruption\n"
        "job.sh: line 1: 71233 Bus error               (core dumped) python train.py\n",
        infrastructure(
            "node", r"Machine Check", "an uncorrectable error in the host's memory", restartable=True, end=r"Bus error"
        ),
    ),
    _case(
        "lustre_evicted_kernel",
        "https://doc.lustre.org/lustre_manual.xhtml",
        "[91022.001873] LustreError: 167-0: scratch-OST001a-osc-ffff9c3f1a2b: This client was evicted by "
        "scratch-OST001a; in progress operations using this "
        "service will fail.\n"
        "Traceback (most recent call last):\n"
        '  File "/home/user/project/train.py", line 97, in save\n    torch.save(state, path)\n'
        "OSError: [Errno 5] Input/output error\n",
        infrastructure(
            "storage", r"evicted by", "the Lustre server evicted the client", restartable=True, end=r"\[Errno 5\]"
        ),
    ),
    _case(
        "gpu_memory_own",
        _CUDA,
        _TRACE + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.25 GiB. "
        "GPU 0 has a total capacity of 79.11 GiB of which 2.31 GiB is free. "
        "Process 71233 has 76.79 GiB memory in use. Of the allocated memory 74.90 GiB is allocated by "
        "PyTorch, and 1.21 GiB is reserved by PyTorch but "
        "unallocated.\n",
        user_script(r"torch\.OutOfMemoryError", "the job's own model and batch do not fit", begin=r"Traceback"),
    ),
]

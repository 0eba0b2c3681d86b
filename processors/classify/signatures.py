"""Patterns of lines of errors and warnings.

Sources: output of Python, C++ runtimes, the Linux kernel, the NVIDIA driver, NCCL, Slurm, Open MPI, torchrun and Ray print.
"""

import re

SIGNATURES = {
    # Opens a traceback.
    "traceback": re.compile(r"Traceback \(most recent call last\)|^[\s|+-]*Exception Group Traceback"),
    # A frame of a traceback.
    "frame": re.compile(
        r"^\s*File \"[^\"]+\", line \d+|^\s*frame #\d+: |^\s*at [\w.$<>]+\([\w.]*(?::\d+)?\)$"
        r"|^\s*#\d+\s+0x[0-9a-f]+ |\[ ?\d+\] \S+\(.*\) ?\[0x|^\s*\^+$|^\s*[~^]{3,}$"
    ),
    # Ends a traceback.
    "exception": re.compile(
        r"^\s*(?:E\s+)?(?:Caused by: |Uncaught (?:exception )?|Exception in thread \S+ )?(?:\w+(?:\.|::))*"
        r"(?:[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure|Failed|Timeout|Abort|Fault|Killed)|StopIteration"
        r"|SystemExit|KeyboardInterrupt)"
        r"(?:\s*$|\s*:|\()"
    ),
    # Errors that a driver itself calls harmless: warnings.
    "nonfatal": re.compile(
        r"(?i)\bs?xid ?\([^)]{0,90}\).{0,160}?\bnon-?fatal\b|(?<!un)correctable hardware errors? detected"
    ),
    # Errors at any level.
    "strong_error": re.compile(
        r"CUDA(?: driver| runtime)? error|CUDA out of memory|cudaError\w+|CUBLAS_STATUS_(?!SUCCESS)\w+"
        r"|CUDNN_STATUS_(?!SUCCESS)\w+|cuda runtime error"
        r"|NCCL (?:error|failure)|unhandled (?:cuda|system|nccl)|nccl(?:System|Internal|Remote|UnhandledCuda)Error"
        r"|NVRM: Xid|\bXid \(PCI|uncorrectable (?:ECC|NVLink|error)|double.bit ECC|fallen off the bus"
        r"|Segmentation fault|Bus error|core dumped|SIGSEGV|SIGABRT|SIGBUS|terminate called (?:after|without)"
        r"|^\s*what\(\):|Fatal Python error|\*\*\* (?:Process received|Aborted at)|stack smashing"
        r"|[Oo]ut of memory|oom[-_]kill|OOM[ -]?[Kk]ill|Killed process \d+|^\s*(?:Killed|Aborted"
        r"|Terminated)\b\.?\s*(?:\(|$)|std::bad_alloc|Cannot allocate memory"
        r"|No space left on device|Disk quota exceeded|Input/output error|Stale file handle"
        r"|Transport endpoint is not connected|Read-only file system"
        r"|Connection (?:refused|reset by peer|timed out|closed by)|Broken pipe|No route to host"
        r"|Network is unreachable|Name or service not known"
        r"|Watchdog caught collective|collective operation timeout|Timed out waiting|ChildFailedError"
        r"|non-zero exit (?:status|code)|returned non-zero"
        r"|CANCELLED AT|DUE TO (?:TIME LIMIT|PREEMPTION|NODE FAILURE)|slurmstepd: error|srun: error|sbatch: error"
        r"|launch failed"
        r"|[Cc]heck failed:|Assertion .*failed|AssertionError|\bpanic:|kernel panic|Kernel panic|BUG: (?:unable"
        r"|soft)|hung_task|blocked for more than \d+ seconds"
        r"|CUDA kernel errors might be|For debugging consider passing CUDA_LAUNCH_BLOCKING"
        r"|Compile with `TORCH_USE_CUDA_DSA`"
        r"|During handling of the above exception|direct cause of the following exception"
        r"|Root Cause \(first observed failure\)"
        r"|(?:received|got|caught) (?:signal:? ?|SIG)(?:SIG(?:TERM|HUP|INT|KILL)|TERM|HUP|INT|KILL|\d+)|received SIG\w+"
    ),
    # Errors, unless the level contradicts or the line is a report.
    "weak_error": re.compile(
        r"(?i)\bfatal\b|^\s*(?:\S{1,60}:\s*)?(?:error|fatal|panic)\b(?!\s*[=_(]|\s*rate|-)|\berror:|\berror \("
        r"|\[error\]|\berrors? (?:occurred|happened|while|during|in|when|detected|reading|writing|loading)"
        r"|\bfailed (?:to|with|because|on|after)\b|\bfailure:|failed!?$|: failed\b"
        r"|\bcould ?n[o']t (?:connect|open|load|allocate|initialize|import|resolve)"
        r"|\bcannot (?:open|find|connect|import|access|allocate|create|read|write)\b|permission denied"
        r"|no such file or directory|command not found|module not found"
        r"|\babort(?:ed|ing)\b|\bcrash(?:ed)?\b|\bcorrupt(?:ed)?\b|\bkilled by\b|\bunexpected(?:ly)? (?:exit"
        r"|terminat|end)|\bsegfault\b|\bunable to (?:open|connect|load|allocate|find|create|read|write|access)"
        r"|invalid (?:argument|device|pointer|option)|unrecognized arguments|is not a valid"
        r"|\btimed? ?out\b(?! ?[=:]| of)|\bexception\b(?! ?=)|\bdiverg(?:ed|ing)\b|loss is nan|\bhang(?:ing"
        r"|s)? detected|(?-i:\b(?:FAILED|ERROR)\b(?! ?[=_]))"
    ),
    # An exit code: an error unless it is 0.
    "exit_code": re.compile(
        r"(?i)exit(?:ed|ing)?(?: with)?(?: (?:status|code|exit code|exitcode))[ :=]*\(?(-?\d+)|exitcode *: *(-?\d+)"
        r"|terminated with signal (\d+)"
    ),
    # Python's `warnings`, and the place after which the source line follows.
    "python_warning": re.compile(r"(?:^|[\s:])(?:\w+)?Warning:(?: |$)"),
    "warning_place": re.compile(r":\d+: (?:\w+)?Warning:(?: |$)"),
    # The same without its category, as Lightning formats its own.
    "package_warning": re.compile(r"^\S*/(?:site|dist)-packages/\S+\.py:\d+: (?!INFO|DEBUG)\S"),
    # Warnings, unless the level contradicts.
    "warning": re.compile(
        r"\bWARN(?:ING)?\b(?! ?=)|^\s*[Ww]arning\b[:!,]?|[\[ (]warning[:\]]|\bwarnings\.warn\(|\b[Dd]eprecat(?:ed|ion)\b"
        r"|will be removed in|^\s*UserWarning|[Ff]alling back to|\[W\d{6,}|\bSKIP(?:PING|PED) (?:STEP|BATCH)"
        r"|not (?:recommended|supported), |overflow\b.*(?:skip|reduc)"
    ),
    # Warnings at any level.
    "loud_warning": re.compile(
        r"\bWARNING\b|[Ww]arning:|\bdeprecat(?:ed|ion)\b|OVERFLOW!?.*[Ss]kipping|operator expected"
    ),
    # Words of failure in lines that report none.
    "no_error": re.compile(
        r"(?i)\b(?:\d|no|zero|without(?: any)?) (?:errors?|failures?|exceptions?)|errors?[\"']?\s*[:=]\s*(?:\d|none"
        r"|null|false|\[\])|fail\w*[\"']?\s*[:=]\s*(?:\d|none|null|false)"
        r"|error[_ ](?:rate|handling|handler|log|file|correction|feedback|prob|threshold|if)|tag_validation"
        r"|fail[_-]fast|ignore[_ ]error|raise[_ ]error|on[_ ](?:error|failure)|--\w*error|max[_ ](?:errors|failures)"
        r"|nccl_async_error_handling|async_error|\berr(?:or)?[_-]top|error-free|failover"
    ),
    # A shell's message right behind a bar that was cut off.
    "killed": re.compile(r"(?:Killed|Terminated)\W*$"),
}

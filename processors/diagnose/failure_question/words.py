"""Words by which lines show an error, a component or the health of a job: what an answer is checked against."""

import re

from schedmate_records import Component

ERROR = re.compile(
    r"(?i)error|exception|fatal|fail|abort|kill|panic|fault|timed? ?out|time limit|refused|denied|no space|corrupt|unreachable|\blost\b|"
    r"\bxid\b|cancel|preempt|signal|sigterm|interrupt|core dumped|\boom\b|not found|no such|cannot|unable|invalid|missing|unexpected|"
    r"mismatch|exceed|\bnan\b|assert|unavailable|broken|hung|traceback"
)
"""Words of lines that show an error."""

ABOUT = {
    Component.GPU: re.compile(
        r"(?i)\bgpu|cuda|\bxid\b|\becc\b|nvidia|nvrm|nvml|cudnn|cublas|cuda device|hbm|rocm|amdgpu|driver"
    ),
    Component.NVLINK: re.compile(r"(?i)nvlink|nvswitch|sxid|fabric ?manager|peer access"),
    Component.NETWORK: re.compile(
        r"(?i)nccl|rccl|gloo|\bmpi|network|socket|connect|infiniband|\bib_|mlx5|rdma|roce|dns|name resolution|host|http|timed? ?out|link"
    ),
    Component.NODE: re.compile(
        r"(?i)\bnode|host|slurm|kernel|oom|memory|reboot|\bmce\b|machine check|pcie|bus error|\bshm\b|kill|worker|container"
    ),
    Component.STORAGE: re.compile(
        r"(?i)disk|space|quota|lustre|nfs|gpfs|ceph|file|i/o|input/output|stale|read-only|mount|storage|checkpoint|blocked"
    ),
}
"""Words of lines about each component."""

PROGRESS = re.compile(r"(?i)\b(?:steps?|epochs?|iter(?:ation)?s?|loss)\b\W{0,4}\d")
"""Words of lines that report progress."""

HEALTH = re.compile(
    r"(?i)complet|finish|\bdone\b|success|\bsav(?:ed?|ing)\b|passed|100 ?%|\bsteps?\b|\bepoch|\biter|loss|exit(?:ed)?[ _]code[: =]*0\b"
)
"""Words of lines that show that the job went on or ended well."""

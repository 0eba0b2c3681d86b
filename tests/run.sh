#!/usr/bin/env bash
# All tests, on real servers: `make test` calls this once lint and types hold. The tests that fail run once more, alone.
set -u
cd "$(dirname "$0")/.." || exit
servers="kafka or redis or slurm or kubernetes or ray or clickhouse or vllm or slow"
failed=

run() { # options of pytest
  .venv/bin/python -m pytest --hypothesis-profile thorough "$@"
  case $? in 0 | 5) ;; *) failed=yes ;; esac # 5: no test was selected
}

# Go takes some minutes to build Kubernetes. It does so at a low priority while the other tests run.
log=.cache/kubernetes/build.log
mkdir -p "${log%/*}"
if command -v go >/dev/null; then
  set -m # the build is one process group, and can be ended as a whole
  (tests/servers/install-kubernetes.sh && tests/servers/install-kubernetes-kinds.sh) >"$log" 2>&1 &
  set +m
  trap 'kill %1 2>/dev/null' EXIT
else
  echo "no Go: the tests on Kubernetes run only where it is built"
fi

run --numprocesses "${WORKERS:-$(($(nproc) + 1))}" --dist worksteal -m "not ($servers or compose)"
# A host of CI on which that took more than 13 minutes, of 8 as a rule, has no time for the build.
if [ -n "${CI:-}" ] && [ $SECONDS -gt 780 ]; then kill %1 2>/dev/null; fi
run --numprocesses 2 --dist loadfile -m "($servers) and not kubernetes"

# CI ends after 45 minutes. The tests on Kubernetes take 4 of them; they start there only if enough time is left to run others again.
latest=1980
while [ -n "$(jobs -r)" ]; do
  if [ -n "${CI:-}" ] && [ $SECONDS -gt $latest ]; then kill %1; fi
  sleep 1
done
if [ -n "${CI:-}" ] && [ $SECONDS -gt $latest ]; then
  echo "The tests on Kubernetes did not run: $((SECONDS / 60)) minutes are over."
else
  tail -n 1 "$log"
  run --numprocesses 2 --dist loadfile -m kubernetes
fi

[ -z "$failed" ] && exit
echo "Flaky, or broken: what failed runs once more, alone."
.venv/bin/python -m pytest --last-failed --last-failed-no-failures none -v

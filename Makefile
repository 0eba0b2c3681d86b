# SchedMate: `make help` lists what there is.
# Where the environment forbids it, nothing would stay compiled: each of the hundreds of processes of the tests would compile it all.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal -m "not ($(SLOW) or compose)"
WORKERS ?= $(shell expr $$(nproc) + 1)
SLOW := kafka or redis or slurm or kubernetes or ray or clickhouse or vllm or slow

.PHONY: help install dev demo pyz check types quick test compose-test bench chaos races fuzz corpus-score failures-score simulate docs site clean

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "SchedMate needs Python 3.11 or newer; this is %s. Say which to use: make PYTHON=python3.12" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[worker,sink,bridge,embedded,advise,simulate,web]"
	@touch $@

$(VENV)/.developing: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all]" --group dev
	@touch $@

install: $(VENV)/.installed  ## make .venv with the command schedmate

dev: $(VENV)/.developing  ## make .venv with what tests, lint and docs need, too

demo: $(VENV)/.installed  ## live jobs, verdicts and decisions in one process, no server
	$(BIN)/schedmate demo

pyz: $(VENV)/.installed  ## dist/schedmate-pipe.pyz: the pipe as one file for any Python 3.8 or newer
	$(BIN)/python -m streams.producers.build_pyz dist/schedmate-pipe.pyz

check: $(VENV)/.developing  ## lint, types and the quick tests: no server, about two minutes on two cores
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory --jobs 2 types quick

types: $(VENV)/.developing
	$(BIN)/mypy

quick: $(VENV)/.developing
	$(QUICK)

test: $(VENV)/.developing  ## lint, types and all tests, on real servers
	tests/servers/install.sh
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	WORKERS=$(WORKERS) tests/run.sh

compose-test: $(VENV)/.developing  ## build the image and start the compose stack on a Docker engine of its own, as root
	tests/servers/install.sh
	tests/servers/install-compose.sh
	$(BIN)/python -m pytest -m compose -x -rs tests/compose

bench: $(VENV)/.developing  ## speed, memory and latency, side by side in one run
	tests/servers/install.sh
	$(BIN)/python -m benchmarks

MINUTES ?= 5
SEED ?= 1
BROKERS ?= 1
chaos: $(VENV)/.developing  ## kill, stop and cut everything for a while, and count rows: make chaos MINUTES=60 SEED=7 BROKERS=3
	tests/servers/install.sh
	$(BIN)/python -m benchmarks.chaos --minutes $(MINUTES) --seed $(SEED) --brokers $(BROKERS)

fuzz: $(VENV)/.developing  ## hand mutated input to every parser of foreign bytes for a while: make fuzz MINUTES=60 SEED=7
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED) $(TARGETS)

RACES ?= 300
races: $(VENV)/.developing  ## what others do while the bridge acts, on Slurm and where they are built on Kubernetes and Ray: make races RACES=300
	tests/servers/install.sh
	$(BIN)/python -m benchmarks.chaos.races --races $(RACES) --controller 40
	SCHEDMATE_TEST_RACES=$(RACES) $(BIN)/python -m pytest -s -rs -k races $(RACED)
RACED = $(addprefix tests/scheduler_bridge/schedulers/,kubernetes/actuator/test_races.py kubernetes/actuator/test_jobset.py \
  ray/actuator/test_races.py::test_nothing_is_done_wrongly_or_twice_in_races)

$(VENV)/.training: $(VENV)/.developing
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group train
	@touch $@

corpus-score: $(VENV)/.training  ## what the tracker gets right on logs of real runs, by framework, with models that have not seen it
	$(BIN)/python -m benchmarks.corpus.score

failures-score: $(VENV)/.installed  ## what the failure handler gets right on failures provoked on purpose
	$(BIN)/python -m benchmarks.corpus.failures.score

simulate: $(VENV)/.installed  ## spot jobs under each policy at three loads: the main table, in half an hour
	$(BIN)/python -m benchmarks.simulate

docs: $(VENV)/.installed  ## write docs/ again from the code
	$(BIN)/python -m schedmate.document docs

site: $(VENV)/.developing  ## build the documentation as a site, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:  ## remove what was built
	rm -rf $(VENV) .cache build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache

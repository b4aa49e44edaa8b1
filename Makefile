# `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEV_INSTALLED := $(VENV)/.dev-installed
CONSTRAINTS := $(if $(wildcard constraints.txt),-c constraints.txt,)
WORKERS ?= 6
QUICK_WORKERS ?= 7
SIM_WORKERS ?= 2
SEEDS ?= 1000
FIRST ?= 0
SEED ?=
# Where a machine says otherwise, each process would compile all its modules at each start.
export PYTHONDONTWRITEBYTECODE =
ONLY ?=
TESTS := $(addprefix tests/,$(ONLY))

.PHONY: help run test quick quick-tests test-packages collect check faults sim fuzz compare bench generate clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet $(CONSTRAINTS) --editable '.[spark]'
	@touch $@

$(DEV_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet $(CONSTRAINTS) --group dev
	@touch $@

run: $(INSTALLED) ## start the platform on its usual ports and print the addresses
	$(BIN)/penstock up

test: $(DEV_INSTALLED) ## install what tests need and run them all, or some folders: ONLY="registry rest"
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target check test-packages collect
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --failures-alone $(TESTS)

quick: $(DEV_INSTALLED) ## check, and all tests without child processes and load, in a minute
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target check quick-tests

quick-tests: $(DEV_INSTALLED)
	PENSTOCK_QUICK=1 $(BIN)/python -m pytest -q -n $(QUICK_WORKERS) --dist loadfile -m "not processes and not faults" $(TESTS)

test-packages: $(DEV_INSTALLED)
	$(BIN)/python -m tools.test_packages

collect: $(DEV_INSTALLED)  # compiles all tests once, while types are checked, and not once in every worker
	$(BIN)/python -m pytest --collect-only -qq $(TESTS) > /dev/null

check: $(DEV_INSTALLED) ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

faults: $(DEV_INSTALLED) ## the long fault runs: load with processes killed at random moments
	PENSTOCK_FAULT_ROUNDS=50 PENSTOCK_FAULT_CHURN_SECONDS=120 PENSTOCK_FAULT_TRANSACTION_ROUNDS=100 PENSTOCK_FAULT_SCHEMAS=5000 \
	PENSTOCK_FAULT_CONNECT_ROUNDS=30 PENSTOCK_FAULT_README_ROUNDS=10 PENSTOCK_FAULT_CLUSTER_ROUNDS=200 PENSTOCK_FAULT_LARGEST_BODIES=1 \
	PENSTOCK_FAULT_STREAMS_ROUNDS=30 PENSTOCK_FAULT_PROGRAMS=10 \
		$(BIN)/python -m pytest -m faults --timeout 7200 -n 2 --dist loadfile

sim: $(DEV_INSTALLED) ## simulated clusters of many seeds: SEEDS=10000 FIRST=0; SEED=1234 tells the story of one
	$(BIN)/python -m tests.simulation.run $(if $(SEED),--seed $(SEED),--first $(FIRST) --seeds $(SEEDS) --workers $(SIM_WORKERS))

fuzz: $(DEV_INSTALLED) ## half a million requests, right and wrong, at one broker: PENSTOCK_FUZZ_SEED=... for other ones
	PENSTOCK_FUZZ_FRAMES=$${PENSTOCK_FUZZ_FRAMES:-500000} $(BIN)/python -m pytest -q -s tests/fuzz

compare: $(DEV_INSTALLED) test-packages ## all sweeps beside the Java tools, of which tests run a slice
	PENSTOCK_COMPARE=1 $(BIN)/python -m pytest -m compare --timeout 1800 -n 2 --dist loadfile

bench: $(DEV_INSTALLED) ## measure against Apache Kafka, side by side
	$(BIN)/python -m bench

generate: $(DEV_INSTALLED) ## rewrite the generated modules and pages
	$(BIN)/python -m tools.generate

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .toolchains bench/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

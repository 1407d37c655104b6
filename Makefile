# Commands of the project; `make help` prints them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help install demo test e2e test-packages lint bench bench-reading bench-fidelity bench-scheduling bench-side-by-side cluster control-plane lock clean

help: ## print the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-17s %s\n", $$1, $$2}'

install: $(STAMP) ## set up the virtual environment from the lock file

$(STAMP): pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $(STAMP)

demo: $(STAMP) ## a pending pod gets its room, in the embedded cluster
	$(BIN)/rescheduler demo

test: $(STAMP) ## fast tests, without a cluster
	$(BIN)/pytest -m "not e2e" -n 2 --cov --cov-report=term:skip-covered --cov-fail-under=$(COVERAGE_FLOOR)

# The floor only rises.
COVERAGE_FLOOR := 92

e2e: $(STAMP) control-plane test-packages ## tests on a real control plane (built once, about 10 minutes), real metrics servers and a browser
	$(BIN)/pytest -m e2e tests/cluster tests/metrics tests/browser -p no:randomly --timeout=900

test-packages: ## install Prometheus, InfluxDB, Chromium and others that tests run against (Debian packages)
	@tests/install_packages.sh

control-plane: $(STAMP) ## build etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok
	$(BIN)/python -m tests.cluster build

cluster: $(STAMP) ## a real control plane for a person; Ctrl-C stops it
	$(BIN)/python -m tests.cluster up

lint: $(STAMP) ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) ## planner benchmarks: families at 50, 500 and 5,000 nodes beside baselines
	$(BIN)/python -m benchmarks.make_room --families
	$(BIN)/python -m benchmarks.empty_nodes --families
	$(BIN)/python -m benchmarks.overload --families

bench-side-by-side: $(STAMP) control-plane ## ours and kubernetes-sigs/descheduler on the same clusters
	$(BIN)/python -m benchmarks.side_by_side

bench-reading: $(STAMP) ## reading benchmark: 150,000 pods over loopback
	$(BIN)/python -m benchmarks.reading

bench-scheduling: $(STAMP) ## scheduling benchmark: 5,000 nodes, one pod and 10,000 in sequence
	$(BIN)/python -m benchmarks.scheduling

bench-fidelity: $(STAMP) control-plane ## our predictions beside the real kube-scheduler's choices
	$(BIN)/python -m benchmarks.fidelity

lock: ## write requirements.lock anew from pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --group test --group lint --extra fast pyproject.toml -o requirements.lock

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* .import_linter_cache

# Commands of the project; `make help` prints them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Where this is set, each of the hundreds of processes that tests start would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
RUN_STAMP := $(VENV)/.run-installed
STAMP := $(VENV)/.installed

.PHONY: help install demo test coverage test-deploy e2e e2e-campaign soak-share soak soak-daemon screenshots dashboard-picture docs mutation kill-points test-packages lint bench bench-promises bench-house bench-reading bench-fidelity bench-scheduling bench-descheduler-policy bench-side-by-side bench-karpenter bench-swaps bench-latency bench-sync bench-backtest bench-replay bench-page surge-runs alerts cluster control-plane chart-files release lock clean

help: ## print the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-17s %s\n", $$1, $$2}'

install: $(STAMP) ## set up the virtual environment from the lock file

# What runs it, and nothing else: pip says package by package how far it is. What is imported is compiled then; to compile
# every module of every package beforehand takes three times as long as all the rest. Tests import nearly all of it, often:
# their environment is compiled, by all processors at once. Some packages carry files that are no Python of this version.
$(RUN_STAMP): pyproject.toml requirements-run.lock
	@echo "Setting up $(VENV) with what rescheduler needs to run; this is done once."
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check --no-compile --require-hashes -r requirements-run.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $(RUN_STAMP)

$(STAMP): $(RUN_STAMP) requirements.lock
	@echo "Adding what tests and checks need to $(VENV); this is done once."
	set -o pipefail; $(BIN)/pip install --disable-pip-version-check --require-hashes -r requirements.lock | sed '/already satisfied/d'
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	@touch $(STAMP)

# What renders the chart and builds the site: large, and needed for nothing else.
DEPLOY_STAMP := $(VENV)/.deploy-installed

$(DEPLOY_STAMP): $(STAMP) requirements-deploy.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-deploy.lock
	@touch $(DEPLOY_STAMP)

demo: $(RUN_STAMP) ## a pending pod gets its room, in the embedded cluster
	$(BIN)/rescheduler demo

# The same order each time, as examples are the same; HYPOTHESIS_PROFILE=random looks for new ones.
SEED ?= 1

test: $(STAMP) ## fast tests, without a cluster
	$(BIN)/pytest -m "not e2e" -n 2 --randomly-seed=$(SEED) $(REACH)

# The floor only rises. Counting branches doubles the time of these tests, so that it is run before a release and not each time.
coverage: REACH := --cov --cov-report=term:skip-covered --cov-fail-under=95
coverage: test ## the same tests, and how much of the code they reach

test-deploy: $(DEPLOY_STAMP) test-packages ## fast tests that need Helm, kubectl, promtool, mkdocs or OpenTelemetry
	$(BIN)/pytest -m "not e2e" tests/unit/deploy tests/unit/docs/test_site.py tests/unit/adapters/telemetry -n 2

# KUBERNETES=1.34 takes that version in place of the committed one; docs/kubernetes-versions.md says what was tried.
ifdef KUBERNETES
export RESCHEDULER_KUBERNETES_VERSION := $(KUBERNETES)
endif

# By the file, in the order of their names: short files last would leave one worker alone with the longest. Four, for
# scenes mostly wait: two leave two cores idle for two thirds of the time.
E2E := pytest tests/cluster tests/metrics tests/browser tests/engines -n 4 --dist loadfile --no-loadscope-reorder -p no:randomly --timeout=900 --reruns 1

e2e: $(DEPLOY_STAMP) control-plane test-packages ## tests on a real control plane (built once, about 10 minutes), real metrics servers and a browser
	$(BIN)/$(E2E) -m "e2e and not campaign" --durations=60

e2e-campaign: $(DEPLOY_STAMP) control-plane test-packages ## the further scenes of each family, and the long ones
	$(BIN)/$(E2E) -m "e2e and campaign" --durations=60

soak-share: $(STAMP) ## 200 simulated cluster-hours with all faults, 1,200 kill points, 10 seeded bugs
	$(BIN)/python -m tests.soak --hours 200 --seeds 66 --processes 2
	$(BIN)/python -m tests.soak --kill-points 1200 --processes 2
	$(BIN)/pytest -m e2e tests/soak/test_seeded_bugs.py tests/soak/test_small_model.py -n 2 --timeout=900

soak: $(STAMP) ## 10,000 simulated cluster-hours, every kill point, all seeded bugs: hours
	$(BIN)/python -m tests.soak --hours 10000 --seeds 3000 --processes 2 --table
	$(BIN)/python -m tests.soak --kill-points --processes 2
	$(BIN)/python -m tests.soak.seeded_bugs

soak-daemon: $(STAMP) control-plane test-packages ## the daemon for 30 minutes on a real cluster that changes under it
	$(BIN)/python -m tests.cluster.daemon.daemon_soak --minutes 30

mutation: $(STAMP) ## the gate's branches, and faults put into the gate and what it counts
	$(BIN)/pytest tests/unit/disruption/gate/test_gate.py tests/unit/disruption/gate/test_spent.py tests/unit/disruption/gate/test_usage_trust.py tests/unit/disruption/gate/test_methods_at_the_gate.py -n0 \
	  --cov=rescheduler.disruption.gate.gate --cov-branch --cov-fail-under=100
	$(BIN)/python -m tests.mutation

kill-points: $(STAMP) control-plane ## kill -9 at 51 requests of a real run
	KILL_POINTS=51 $(BIN)/pytest -m e2e tests/cluster/faults/test_kill_points.py -p no:randomly

test-packages: ## install Prometheus, InfluxDB, Chromium and others that tests run against (Debian packages)
	@tests/install_packages.sh

control-plane: $(STAMP) ## build etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok
	$(BIN)/python -m tests.cluster build

cluster: $(STAMP) ## a real control plane for a person; Ctrl-C stops it
	$(BIN)/python -m tests.cluster up

lint: $(STAMP) ## style, types, import contracts, unused code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.unused_code

bench: $(STAMP) ## planner benchmarks: families at 50, 500 and 5,000 nodes beside baselines
	$(BIN)/python -m benchmarks.make_room --families
	$(BIN)/python -m benchmarks.empty_nodes --families
	$(BIN)/python -m benchmarks.overload --families
	$(BIN)/python -m benchmarks.surges

bench-promises: $(STAMP) ## 1,000 random runs: deadlines met, and no plan below a simple rule
	$(BIN)/python -m benchmarks.promises

bench-house: $(STAMP) ## figures of the code: files, lines, imports, names that stand twice, CPU of starting up
	$(BIN)/python -m benchmarks.house
	$(BIN)/python -m benchmarks.start_up

bench-side-by-side: $(STAMP) control-plane ## ours and kubernetes-sigs/descheduler on the same clusters
	$(BIN)/python -m benchmarks.side_by_side

bench-karpenter: $(STAMP) control-plane ## the fleet's price and the evictions beside the real Karpenter, 30 to 300 machines: hours
	$(BIN)/python -m benchmarks.beside_karpenter

bench-descheduler-policy: $(STAMP) control-plane ## victims foretold beside those of the real descheduler, and --improve
	$(BIN)/python -m benchmarks.descheduler_policy --improve

bench-latency: $(STAMP) control-plane ## from a pending pod to a running one at 100 nodes, 50 times
	$(BIN)/python -m benchmarks.latency

# DATA: the folder of Alibaba's cluster-trace-gpu-v2023, its CSV files as xz.
bench-backtest: $(STAMP) ## four policies over a month of openb's arrivals, as plans and in a replay; needs DATA=FOLDER, EVERY=4h
	$(BIN)/python -m benchmarks.openb_month --data $(DATA) --every $(or $(EVERY),4h) -o build/openb-month

# Half an hour; a step lasts until both control planes are done with it, so on a busy machine longer.
bench-replay: $(STAMP) control-plane ## three times two days of 100 nodes, compressed: what a replay foretells beside what run does
	$(BIN)/python -m benchmarks.replayed_days --seeds 1,2,3 -o build/replayed-days

surge-runs: $(STAMP) control-plane ## every promise of a move without downtime RUNS=20 times on the real control plane: hours
	$(BIN)/python -m tests.cluster.repeated_scenes --runs $(or $(RUNS),20) tests/cluster/surges/test_surge.py \
	  tests/cluster/surges/test_surge_beside_others.py tests/cluster/surges/test_surge_killed.py

bench-sync: $(STAMP) control-plane ## first sync of the daemon's watches: 5,000 nodes, 150,000 pods
	$(BIN)/python -m benchmarks.first_sync

bench-page: $(STAMP) ## the daemon's page for 5,000 nodes, 150,000 pods and 200 rounds
	$(BIN)/python -m benchmarks.page

bench-swaps: $(STAMP) control-plane ## pods of two full nodes change places: share of successes by mode
	$(BIN)/python -m benchmarks.swaps

bench-reading: $(STAMP) ## reading benchmark: 150,000 pods over loopback
	$(BIN)/python -m benchmarks.reading

bench-scheduling: $(STAMP) ## scheduling benchmark: 5,000 nodes, one pod and 10,000 in sequence
	$(BIN)/python -m benchmarks.scheduling

bench-fidelity: $(STAMP) control-plane ## our predictions beside the real kube-scheduler's choices
	$(BIN)/python -m benchmarks.fidelity

alerts: $(STAMP) control-plane test-packages ## alerts on a real cluster with a real Prometheus: the fault, the alert, its runbook
	EVERY_ALERT=1 $(BIN)/pytest -m e2e tests/cluster/telemetry/test_alerts*.py -p no:randomly --durations=20

screenshots: $(STAMP) test-packages ## pictures of plans and of the daemon's page for the docs, in docs/images
	$(BIN)/python -m tests.browser.screenshots

dashboard-picture: $(STAMP) control-plane test-packages ## picture of the dashboard's panels over a real run for the docs, in docs/images
	DRAW_DASHBOARD=1 $(BIN)/pytest -m e2e tests/cluster/telemetry/test_dashboard.py -p no:randomly

docs: $(DEPLOY_STAMP) ## build the documentation as a site, in build/site
	$(BIN)/python -m docs.build

CHART_FILES := deploy/chart/rescheduler/files

chart-files: ## copy what the chart installs, as it stands in deploy/, into the chart's own folder
	@for copy in $(CHART_FILES)/*; do \
	  cp "$$(find deploy -name "$$(basename "$$copy")" -not -path "deploy/chart/*")" "$$copy"; \
	done

# The bill of materials is of what a plain installation holds, none of the tools that make it, and a release ends where it
# does not name each package of the lock with its licence; checking it against CycloneDX's own schema takes the network, and
# is left to whoever publishes it.
RELEASE := build/release

release: $(DEPLOY_STAMP) ## wheel, sdist and a bill of materials (CycloneDX), in build/release
	rm -rf $(RELEASE)
	$(BIN)/python -m hatchling build -d $(RELEASE)
	$(PYTHON) -m venv $(RELEASE)/installed
	$(RELEASE)/installed/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-run.lock
	$(RELEASE)/installed/bin/pip install --quiet --disable-pip-version-check --no-deps $(RELEASE)/*.whl
	$(RELEASE)/installed/bin/pip uninstall --quiet --yes --disable-pip-version-check pip setuptools
	$(BIN)/python deploy/bill_of_materials.py $(RELEASE)/installed -o $(RELEASE)/kube-rescheduler.cdx.json
	rm -rf $(RELEASE)/installed

lock: ## write the files requirements*.lock anew from pyproject.toml
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --group test --group lint --extra fast pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  -c requirements.lock pyproject.toml -o requirements-run.lock
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --group test --group lint --group deploy --group docs --group release --extra fast --extra otel --extra dask --extra parquet pyproject.toml -o requirements-deploy.lock

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* .import_linter_cache

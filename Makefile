# Two commands need nothing but Python 3.11+, make and a package registry: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
BENCH := build/bench-venv

.PHONY: help demo test quick check lint types imports envtest tools size sandbox failover real-lldap faults sequences mutants docs generate lock bench bench-full clean

help: ## what can be made here
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

$(STAMP): requirements/dev.lock setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## an API server, an lldap and the operator: a manifest becomes a person who can log in
	$(BIN)/python -m sandbox.demo

test: check ## everything: lint, types, import rules, all tests (with KUBEBUILDER_ASSETS also on a real API server)
	$(BIN)/python -m pytest -n 2 --dist loadfile

quick: $(STAMP) ## the tests without the slow ones
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not envtest"

check: lint types imports ## lint, types, import rules

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports setup.cfg

envtest: ## etcd and kube-apiserver from their Go modules, into the user's cache (needs Go; minutes)
	@$(PYTHON) -m tests.tools envtest

tools: ## promtool and libfaketime from Debian's packages, into the user's cache
	@$(PYTHON) -m tests.tools debian

size: $(STAMP) ## lines of code of the sandbox, which is to be smaller than the product
	$(BIN)/python -m tests.sandbox.figures

sandbox: $(STAMP) ## the same, how soon the sandbox is there, and 10,000 users in it
	$(BIN)/python -m tests.sandbox.figures --speed

failover: $(STAMP) ## 200 forced failovers of two replicas, half an hour; COUNT=, SEED=
	$(BIN)/python -m tests.failover --count $(or $(COUNT),200) $(if $(SEED),--seed $(SEED))

real-lldap: $(STAMP) ## the main cases on a real lldap, beside the embedded one; URL= (one to play with)
	$(BIN)/python -m tests.reallldap $(URL)

faults: $(STAMP) ## every fault at every outward call, half an hour; PLAN=file replays one
	$(BIN)/python -m tests.faults $(if $(PLAN),--plan $(PLAN),--objects 10000)

sequences: $(STAMP) ## any sequence of states, 10,000 steps of each kind; STEPS=, SEED=
	$(BIN)/python -m tests.sequences --steps $(or $(STEPS),10000) $(if $(SEED),--seed $(SEED))

mutants: $(STAMP) ## small errors put into the product, an hour and more; COUNT=, SEED=
	$(BIN)/python -m tests.mutants --count $(or $(COUNT),300) $(if $(SEED),--seed $(SEED))

docs: $(STAMP) ## the site of docs/, strictly, into build/site
	$(BIN)/mkdocs build --strict

generate: $(STAMP) ## write again what the code can generate: CRDs, reference pages, conformance
	$(BIN)/python -m controller.generate
	$(BIN)/python -m tests.conformance.page

lock: ## new versions of all dependencies (needs uv)
	uv pip compile -q -U setup.cfg --universal --python-version 3.11 --generate-hashes --no-header -o requirements/run.lock
	uv pip compile -q -U setup.cfg requirements/dev.in -c requirements/run.lock --extra sandbox --universal --python-version 3.11 --generate-hashes --no-header -o requirements/dev.lock
	uv pip compile -q -U setup.cfg requirements/bench.in -c requirements/dev.lock --extra sandbox --universal --python-version 3.11 --generate-hashes --no-header -o requirements/bench.lock

$(BENCH)/.set-up: requirements/bench.lock
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.lock
	@touch $@

bench: $(BENCH)/.set-up ## how fast it is, in half an hour; COUNT= (needs KUBEBUILDER_ASSETS; see docs/performance.md)
	$(BENCH)/bin/python -m benchmarks quick $(if $(COUNT),--count $(COUNT))

bench-full: $(BENCH)/.set-up ## the same with 10,000 and 50,000 objects: hours
	$(BENCH)/bin/python -m benchmarks full

clean: ## remove what was built here
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .demo

# Every target sets up what it needs; repeated calls find it done.
.DEFAULT_GOAL := help
export PYTHONSAFEPATH := 1

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUITE ?= quick
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
BENCH_FLAGS := $(if $(REPS),--reps $(REPS)) $(if $(SEED),--seed $(SEED)) $(if $(ATTACK),--attack $(ATTACK)) $(if $(OUT),--out $(OUT)) \
  $(if $(DATASET),--dataset "$(DATASET)") $(if $(TARGETS),--targets "$(TARGETS)") \
  $(if $(KNOWN),--known "$(KNOWN)") $(if $(EPSILON),--epsilon $(EPSILON)) $(if $(N),--n $(N))

RESULTS_PAGE = $(BIN)/python docs/generate results_page docs/results.csv --datasets docs/datasets.csv --out docs

.PHONY: help setup light bench results datasets synthetic test coverage browser lint format perf docs release clean

help:
	@echo "make bench   run the $(SUITE) suite (SUITE= REPS= SEED= JOBS= ATTACK= OUT=) and write its leaderboard;"
	@echo "             DATASET= TARGETS= KNOWN= EPSILON= N= replace these in its games, comma-separated"
	@echo "make results play every attack on every column and write docs/results.md (an hour on 2 cores)"
	@echo "make datasets  play three columns of every data set and write their part of docs/results.md"
	@echo "make synthetic  play all attacks on synthetic tables and write docs/synthetic-results.md (half an hour)"
	@echo "make test    run all tests"
	@echo "make coverage  run all tests and print the branch coverage of each module"
	@echo "make lint    ruff, ruff format and mypy (library and tests)"
	@echo "make perf    time the hot paths against their naive twins"
	@echo "make docs    run the notebooks that changed and build the documentation into site/"
	@echo "make setup   make $(VENV) with reconbench in it"
	@echo "make light   the same without torch, pgmpy and pandas: a third of the size"
	@echo "make release build the sdist and the wheel and check them, on PYTHONS= (python3.11 to python3.13)"
	@echo "make clean   remove $(VENV), caches and build products (results stay)"

setup: $(VENV)/.core

# torch goes first and alone, so that the pinned CPU build is taken and nothing else is resolved.
$(VENV)/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[accounting]'
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

$(VENV)/.docs: $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	touch $@

light: $(VENV)/.light

$(VENV)/.light: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["light"], sep="\n")' >$(VENV)/light.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement $(VENV)/light.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

bench: $(VENV)/.core
	$(BIN)/reconbench run $(SUITE) --jobs $(JOBS) $(BENCH_FLAGS)

results: $(VENV)/.core
	$(BIN)/reconbench run attacks --out results/attacks --jobs $(JOBS)
	$(BIN)/reconbench run optimum --out results/optimum --jobs $(JOBS)
	$(BIN)/python docs/generate results_data results/attacks results/optimum --out docs/results.csv
	$(RESULTS_PAGE)

datasets: $(VENV)/.core
	$(BIN)/reconbench run datasets --out results/datasets --jobs $(JOBS)
	$(BIN)/reconbench run datasets-optimum --out results/datasets-optimum --jobs $(JOBS)
	$(BIN)/python docs/generate results_data results/datasets results/datasets-optimum --out docs/datasets.csv
	$(RESULTS_PAGE)

synthetic: $(VENV)/.core
	$(BIN)/reconbench run synthetic --out results/synthetic --jobs $(JOBS)
	$(BIN)/python docs/generate synthetic_data results/synthetic --out docs/synthetic.csv
	$(BIN)/python docs/generate synthetic_page docs/synthetic.csv --out docs/synthetic-results.md

test: $(VENV)/.dev browser
	$(BIN)/pytest -n $(JOBS) --dist worksteal --benchmark-disable $(COVERAGE)

# Branch coverage takes a quarter to two thirds more CPU time than `make test`.
coverage: COVERAGE := --cov --cov-report=term
coverage: test

# Pages are tested in a real browser.
browser:
	@command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq -o DPkg::Lock::Timeout=300 chromium >/dev/null; \
	  else \
	    echo "no Chromium: install Debian's package chromium (browser tests are skipped; with CI=true they fail)"; \
	  fi; }

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases tests

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

perf: $(VENV)/.dev browser
	$(BIN)/pytest benchmarks/perf --benchmark-only -p no:xdist

# Executed notebooks are kept in build/notebooks until they or the code change.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

release: $(VENV)/.dev
	.ci/release

clean:
	rm -rf $(VENV) build dist site *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .coverage*

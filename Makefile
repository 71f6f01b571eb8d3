# One command each, the same here and in CI. Needs only Python 3.11-3.13 (with venv), make and git.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
export DAGSTER_DISABLE_TELEMETRY := 1
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: venv demo test test-long lint up bench sample clean help

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

venv: $(STAMP)   ## .venv with everything from the hash-locked requirements.lock
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Python 3.11, 3.12 or 3.13 is needed, this is %d.%d; set PYTHON=" % v)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q $(VENV)/lib governance_pipeline assets_defs || true
	@touch $@

demo: venv       ## audit data/sample, then refuse, approve and publish one round through Dagster
	@$(BIN)/govern audit data/sample/rounds --report data/out/report.html --fail-on never
	@echo
	@$(BIN)/python -m assets_defs.demo
	@echo "Report     data/out/report.html"
	@echo "Web UI     make up, then http://127.0.0.1:3000"

lint: venv       ## format, lint, types, import contracts, Dagster definitions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/dg check defs

test: lint       ## everything CI runs (under 10 minutes on two cores)
	$(BIN)/python -m pytest -m "not long" -n 2

test-long: lint  ## also what needs minutes, ptrace, a browser or hundreds of logs
	$(BIN)/python -m pytest

up: venv         ## read-only UI on http://127.0.0.1:3000, the operator's on 3001, and the inbox; history in .dagster_home
	GOVERN_LANDING=$${GOVERN_LANDING:-data/sample/rounds} GOVERN_LAKE=$${GOVERN_LAKE:-data/out/lake} $(BIN)/python -m assets_defs.up

bench: venv      ## ratios against the peers, one file per workload
	@for f in bench/*.py; do echo "== $$f"; $(BIN)/python $$f || exit 1; done

sample: venv     ## write data/sample again (deterministic)
	$(BIN)/python data/sample/generate.py

clean:           ## remove what can be made again
	rm -rf $(VENV) data/out lake .dagster_home build *.egg-info

# `make up` installs Primer into this checkout and starts the service; `make test` runs every check.
# Needs Python >= 3.11 (choose one with PYTHON=...) and network access to a Python package index.

PYTHON ?= python3
UV_VERSION := 0.13.9
UV := .uv/bin/uv
BIN := .venv/bin
OUT ?= out/sample

export UV_PYTHON_DOWNLOADS := never
# Trust what the system trusts: many networks have an authority of their own.
export UV_SYSTEM_CERTS := true
# Processes are many and short: what they import is compiled once, whatever the environment says about keeping it.
export UV_COMPILE_BYTECODE := 1
export PYTHONDONTWRITEBYTECODE :=

WORKBENCH := frontend/dist/index.html
WORKBENCH_TOOLS := frontend/node_modules/.installed
WORKBENCH_SOURCES := $(shell find frontend/src frontend/public -type f) frontend/index.html frontend/vite.config.ts
HAS_NODE := $(shell node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && echo yes)

.DEFAULT_GOAL := help
.PHONY: help no-node screenshots up sample install test lint soak bench clean

help:  ## What can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: install  ## Install, then start the service; it curates the bundled sample. Ctrl-C stops it.
	$(BIN)/primer up

sample: install  ## Install, then curate the bundled sample without the service and say where everything is.
	$(BIN)/primer run curation/sample/shards --out $(OUT)
	@echo
	@echo "Explain one text:    $(BIN)/primer explain README.md"
	@echo "Another boundary:    $(BIN)/primer decide $(OUT) --profile published"
	@echo "All commands:        $(BIN)/primer --help"

install: $(BIN)/.installed $(if $(HAS_NODE),$(WORKBENCH),no-node)  ## Install into .venv from uv.lock; build the workbench.

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Primer needs Python 3.11 or newer: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(BIN)/.installed: $(UV) pyproject.toml uv.lock
	$(UV) sync --locked --quiet --python $(PYTHON)
	@touch $@

$(WORKBENCH_TOOLS): frontend/package-lock.json
	cd frontend && npm ci --no-audit --no-fund --silent
	@touch $@

$(WORKBENCH): $(WORKBENCH_TOOLS) $(WORKBENCH_SOURCES)
	cd frontend && npm run --silent build -- --logLevel warn
	@touch $@

no-node:
	@echo "The workbench in the browser is not built: that needs Node 20 or newer. Everything else works."

lint: install  ## Style, types and the direction of imports.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(if $(HAS_NODE),cd frontend && npm run --silent check)

test: lint  ## Lint, then every test.
	$(BIN)/pytest -n 3 --dist loadgroup -m "not soak"

soak: install  ## The long versions: more kills, more fuzz, mutations. Results go to benchmarks/results/.
	$(BIN)/pytest -n 2 --dist worksteal -m soak
	$(BIN)/python -m benchmarks.mutate

bench: install  ## Every performance claim, as ratios measured in one run.
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.service

screenshots: install  ## Pictures of every page into docs/screenshots, by Chromium.
	$(BIN)/python tests/browser/screenshots.py

clean:  ## Remove what was installed and made.
	rm -rf .venv .uv out frontend/dist frontend/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

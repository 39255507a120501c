# The words of this repository: make lab, make test, make test-unit, make test-ui, make vm-test, make bench, make lint, make format.
# Python >= 3.11, Node.js >= 20 and make must be there; everything else goes into .venv and lab/node_modules.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
LAB_BUILT := lab/gdviz_lab/labextension/package.json
LAB_SOURCES := $(shell find lab/src -name '*.ts') lab/package.json lab/yarn.lock lab/tsconfig.json lab/.yarnrc.yml
NOTEBOOK := notebooks/en/00-tour.ipynb

# jlpm and jupyter-builder come from .venv.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: lab install test test-unit test-ui vm-test bench lint format clean
.DEFAULT_GOAL := lab

lab: install ## open JupyterLab on the tour
	$(BIN)/jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/$(NOTEBOOK) \
	  $(if $(filter 0,$(shell id -u)),--allow-root) $(ARGS)

install: $(VENV)/.lab ## install both distributions into .venv

test: $(VENV)/.lab $(VENV)/.dev ## everything that this machine can run
	$(BIN)/python -m pytest $(ARGS)

test-unit: $(VENV)/.lab $(VENV)/.dev ## without browser, whole notebooks and guests
	$(BIN)/python -m pytest -m "not ui and not notebook and not vm" $(ARGS)

test-ui: $(VENV)/.lab $(VENV)/.dev ## JupyterLab in a real browser; pictures in artefacts/ui
	$(BIN)/python -m pytest -m ui tests $(ARGS)

vm-test: $(VENV)/.lab $(VENV)/.dev ## real verbs: soft-RoCE in a QEMU guest
	$(BIN)/python -m pytest -m vm tests $(ARGS)

bench: $(VENV)/.lab $(VENV)/.dev ## measured, not judged
	$(BIN)/python -m pytest tests/benchmarks -o python_files='bench_*.py' -s --timeout=1200 $(ARGS)

lint: $(VENV)/.lab $(VENV)/.dev ## style, arrows between rooms, types, TypeScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	cd lab && jlpm check

format: $(VENV)/.dev
	$(BIN)/ruff check --fix-only -q .
	$(BIN)/ruff format -q .

clean: ## remove what was built and installed here
	rm -rf $(VENV) lab/node_modules lab/.yarn lab/lib lab/gdviz_lab/labextension lab/tsconfig.tsbuildinfo
	rm -rf artefacts dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# ---- what the words stand on; each stamp is remade when its sources change

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gdviz needs Python 3.11 or newer; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.lab: pyproject.toml lab/pyproject.toml lab/jupyter-config/gdviz_lab.json $(LAB_BUILT) | $(VENV)/.python
	$(PIP) install -e '.[lab]'
	$(PIP) install -e ./lab
	$(BIN)/jupyter-builder develop --overwrite lab > $(VENV)/develop.log 2>&1 || { cat $(VENV)/develop.log; exit 1; }
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.python $(VENV)/.lab
	$(PIP) install -e '.[dev]'
	@touch $@

$(VENV)/.tools: | $(VENV)/.python
	$(PIP) install 'jupyter-builder>=1.2,<2'
	@touch $@

$(LAB_BUILT): $(LAB_SOURCES) | $(VENV)/.tools
	@node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' 2> /dev/null || \
	  { echo "gdviz-lab is built with Node.js 20 or newer, and there is none (found: $$(node --version 2> /dev/null || echo nothing))"; exit 1; }
	cd lab && jlpm install --immutable > ../$(VENV)/jlpm.log 2>&1 || { tail -n 40 ../$(VENV)/jlpm.log; exit 1; }
	cd lab && jlpm build:prod > ../$(VENV)/build.log 2>&1 || { tail -n 40 ../$(VENV)/build.log; exit 1; }

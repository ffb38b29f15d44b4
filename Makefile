# Everything happens in .venv, which is made when it is missing and renewed when pyproject.toml changes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test lint format docs schema build clean

help:
	@echo "make demo    lint, fix and verify the programs in fixtures/demo"
	@echo "make test    run the tests"
	@echo "make lint    ruff and mypy"
	@echo "make format  let ruff put the code in order"
	@echo "make docs    build the documentation site in build/site; a broken link is an error"
	@echo "make schema  write the JSON schema of the configuration to docs/"
	@echo "make build   make the source archive and the wheel in dist/"
	@echo "make clean   remove .venv and what was built"

$(STAMP): pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "jaxlint needs Python 3.11 or newer; say which with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	$(BIN)/jaxlint --isolated fixtures/demo || test $$? -eq 1
	$(BIN)/jaxlint --isolated --unsafe-fixes --diff --verify --jobs 2 fixtures/demo || test $$? -eq 1

test: $(STAMP)
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

docs: $(STAMP)
	$(BIN)/python -m sphinx -W -n -q --keep-going -c docs -b html . build/site

schema: $(STAMP)
	$(BIN)/jaxlint schema > docs/jaxlint.schema.json

build: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) build dist *.egg-info

# Each target sets up what it needs: a virtual environment in .venv, made from pyproject.toml.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint bench experiments clean

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("shoal needs Python 3.11 or newer: make PYTHON=python3.11 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY)
	@rm -rf demo && mkdir demo
	$(BIN)/shoal example demo/patients.csv --rows 1000
	$(BIN)/shoal look demo/patients.csv -o demo/roles.toml
	$(BIN)/shoal protect demo/patients.csv --roles demo/roles.toml --method mdav -p k=5 -p refine=swap -o demo/run
	$(BIN)/shoal verify demo/run/release.csv demo/run/certificate.json
	$(BIN)/shoal compare demo/patients.csv --roles demo/roles.toml --method mdav -p k=3,5,10,25 -o demo/compare.html
	@echo
	@echo "The report is       $(CURDIR)/demo/run/report.html"
	@echo "The comparison is   $(CURDIR)/demo/compare.html"

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m benchmarks

experiments: $(READY)
	$(BIN)/python -m experiments.abril_2014
	$(BIN)/python -m experiments.armengol_torra_2016
	$(BIN)/python -m experiments.kisilevich_2010
	$(BIN)/python -m experiments.zouinina_2020

clean:
	rm -rf .venv demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

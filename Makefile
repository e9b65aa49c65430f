# Every target sets up its own virtual environment: nothing else needs to be done first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2
# One BLAS thread per test worker: two workers on two cores, not two times two.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: demo test plain-install soak fuzz check format screenshots bench clean

demo: $(READY)
	$(BIN)/fairpool demo

test: $(READY) plain-install
	$(BIN)/coverage erase
	$(ONE_THREAD) $(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# What users get: the wheel without any extra, in an environment of its own outside of this folder.
plain-install: $(READY)
	$(BIN)/python -m pytest -m plain_install tests/test_plain_install.py

# What takes longer than a change should wait for: the tests marked soak, and every property with many more examples.
soak: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m 'soak or hypothesis' --hypothesis-profile soak

# Hostile input at random, a minute for each fuzzer: make fuzz FUZZ_SECONDS=600 for more. A failure prints its seed.
fuzz: $(READY)
	$(ONE_THREAD) FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m fuzz tests/fuzz

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "fairpool needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

screenshots: $(READY)
	$(BIN)/python -m docs.take_screenshots

# The peers get environments of their own under .bench/; QUICK=1 takes under three minutes once these are there,
# and writes to .bench/quick/ instead of docs/.
bench: $(READY)
	$(BIN)/python -m bench.run $(if $(QUICK),--quick)

clean:
	rm -rf $(VENV) build dist .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

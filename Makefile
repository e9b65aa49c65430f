# Every target sets up its own virtual environment: nothing else needs to be done first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2
# One BLAS thread per test worker: two workers on two cores, not two times two.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: demo serve test plain-install test-lowest test-python dist soak fuzz check format docs screenshots bench clean

demo: $(READY)
	$(BIN)/fairpool demo

# Three hospitals in the middle of a round, as a service on this machine: PORT=8001 for another port.
serve: $(READY)
	$(BIN)/fairpool serve --demo --port $(or $(PORT),8000)

# COVERED=1 measures what the tests reach, too, and fails below the bound of pyproject.toml: they take half as long again.
test: $(READY) plain-install
ifdef COVERED
	$(BIN)/coverage erase
	$(ONE_THREAD) $(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
else
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
endif

# What users get: the wheel without any extra, in an environment of its own outside of this folder; what a party runs also
# with a newer Python, where one is on this machine.
plain-install: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m plain_install tests/test_plain_install.py tests/test_newer_python.py

# The lowest version of every dependency that pyproject.toml allows, in an environment of its own. Newer packages beside
# them warn of what they will take away, which is not what is tested here. LOWEST_TESTS=tests is everything.
LOWEST := .venv-lowest
LOWEST_TESTS ?= tests/test_pages.py tests/test_readme.py tests/test_command.py tests/test_cluster.py tests/values tests/rewards tests/exchange tests/tables tests/consortium/test_reading.py tests/consortium/test_streaming.py src/fairpool
test-lowest: $(LOWEST)/.ready
	$(ONE_THREAD) $(LOWEST)/bin/python -m pytest -n $(JOBS) --dist worksteal -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning $(LOWEST_TESTS)

$(LOWEST)/.ready: pyproject.toml tests/support/lowest.py
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tests/support/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --constraint $(LOWEST)/constraints.txt
	touch $@

# All tests with another Python, in an environment of its own: make test-python VERSION=3.13. Without a version it is the
# newest that pyproject.toml names and that is on this machine.
test-python: $(READY)
	found=$$($(BIN)/python tests/support/pythons.py $(VERSION)) && \
	  $(MAKE) test PYTHON=$$found VENV=.venv-$$($$found -c 'import sys; print("%d.%d" % sys.version_info[:2])')

# Wheel and source archive, as they would be published: checked, and installed without extras by make plain-install.
dist: $(READY)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

# What takes longer than a change should wait for: the tests marked soak, and every property with many more examples.
soak: $(READY) test-lowest
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m 'soak or hypothesis' --hypothesis-profile soak

# Hostile input at random, a minute for each fuzzer: make fuzz FUZZ_SECONDS=600 for more. A failure prints its seed.
fuzz: $(READY)
	$(ONE_THREAD) FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m fuzz tests/fuzz

# A provider for single sign-on, which the tests start: in an environment of its own, made when it is first needed.
PROVIDER := .venv-provider
$(PROVIDER)/.ready: tests/server/single_sign_on/requirements.txt
	test -x $(PROVIDER)/bin/python || $(PYTHON) -m venv $(PROVIDER)
	$(PROVIDER)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

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

# The site of docs/, to be read from the disk or put on any web server: build/site/index.html. A broken link is an error.
docs: $(READY)
	$(BIN)/python -m sphinx -W --keep-going -q docs build/site

screenshots: $(READY)
	$(BIN)/python -m docs.take_screenshots
	$(BIN)/python -m docs.draw_ideas

# The peers get environments of their own under .bench/; QUICK=1 takes under three minutes once these are there,
# and writes to .bench/quick/ instead of docs/.
bench: $(READY)
	$(BIN)/python -m bench.run $(if $(QUICK),--quick)

clean:
	rm -rf $(VENV) .venv-* build dist .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

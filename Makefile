# dualgate, without root and without a key. `make` alone lists what there is.

.DEFAULT_GOAL := help
.PHONY: help install install-dev demo serve test lint bench mutation clean lock browser
.DELETE_ON_ERROR:

VENV    := .venv
BIN     := $(VENV)/bin
# One test process per core; WORKERS=2 takes less of the machine.
WORKERS ?= auto
# Arguments for pytest: make test TESTS="tests/unit -k status"
TESTS   ?=
PIP     := $(BIN)/python -m pip --disable-pip-version-check --no-input
# Every package as a wheel, exactly as locked: no compiler is needed and no build is isolated.
LOCKED  := $(PIP) install --quiet --require-hashes --only-binary :all:

export PIP_NO_WARN_SCRIPT_LOCATION := 1

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

install: $(VENV)/.installed  ## make .venv and install dualgate into it

install-dev: $(VENV)/.installed-dev  ## the same, with the tools for tests and checks

demo: install  ## play weeks of conversation; show what is remembered, and why
	@$(BIN)/dualgate demo

serve: install  ## serve REST and the panel on 127.0.0.1, for this machine alone
	@$(BIN)/dualgate serve --keyless

test: install-dev  ## run all tests
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) $(TESTS)

lint: install-dev  ## check style, types and import rules
	$(BIN)/ruff check src tests docs examples
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install-dev  ## measure the speed, one table
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/speed.py

# Some modules of domain/, with what each survivor changes: make mutation MUTATION="decision --show"
MUTATION ?=

mutation: install-dev  ## plant small faults in the rules; tell which the tests miss
	@$(PIP) install --quiet mutmut==3.8.1
	OMP_NUM_THREADS=1 $(BIN)/python bench/mutation.py $(MUTATION)

browser:  ## install Chromium for the tests of the panel, where there is none (Debian; needs root)
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
	    --no-install-recommends chromium fonts-wqy-microhei >/dev/null; }

# Another size: make bench-stability STABILITY="--users 200 --days 91 --seeds 5"; --write renews the page.
STABILITY ?= --users 20 --days 21 --seeds 1 --pool held-out

bench-stability: install-dev  ## months of simulated talk through dualgate and the usual designs
	$(BIN)/python bench/stability $(STABILITY)
	$(BIN)/python bench/stability $(STABILITY) --extractor perfect

# A short one: make bench-soak SOAK="--minutes 0.5 --processes 3 --users 30"; --write renews the page.
SOAK ?= --minutes 30 --processes 8 --users 1000

bench-soak: install-dev  ## many processes over one file, and everything goes wrong: is anything lost?
	$(BIN)/python bench/soak.py $(SOAK)

lock:  ## renew both locks from pyproject.toml; needs uv
	uv pip compile pyproject.toml --extra server --group build --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
	  --quiet -o requirements.lock
	uv pip compile pyproject.toml --all-extras --group build --group dev --constraint requirements.lock \
	  --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --custom-compile-command "make lock" --quiet -o requirements-dev.lock

clean:  ## remove what the other targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist bench/out mutants
	find src tests docs examples bench training -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@python=; for each in $(or $(PYTHON),python3 python3.13 python3.12 python3.11); do \
	  if $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    python=$$each; break; fi; done; \
	if [ -z "$$python" ]; then \
	  echo "dualgate needs Python 3.11 or newer; none of" \
	    "'$(or $(PYTHON),python3 python3.13 python3.12 python3.11)' is one." \
	    "Name yours: make install PYTHON=/path/to/python" >&2; exit 1; fi; \
	"$$python" -m venv $(VENV) || { rm -rf $(VENV); echo "$$python cannot make a virtual" \
	  "environment; on Debian and Ubuntu the package python3-venv is missing." >&2; exit 1; }

$(VENV)/.installed: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing dualgate into $(VENV) …"
	@$(LOCKED) -r requirements.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(VENV)/.installed-dev: requirements-dev.lock $(VENV)/.installed
	@echo "Installing the tools for tests and checks …"
	@$(LOCKED) -r requirements-dev.lock
	@touch $@

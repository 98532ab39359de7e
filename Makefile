# `make demo` runs the main job, `make test` passes all tests, `make check` the quick ones: lint, types, contracts and
# what decides. Each sets up all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

DECIDING := api apply approvals architecture conformance desired formats observe reconcile removals rollout schedule snapshots state status views works

.PHONY: demo test check mutants lint bench clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@# An environment from before the distribution had its name would have every plug-in twice.
	$(BIN)/pip uninstall --quiet --yes gitfleet 2>/dev/null
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed
	$(BIN)/gitfleet demo

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint
	@# Showing the values in a failed assertion costs an eighth of the time: what failed is run once more for that.
	HYPOTHESIS_PROFILE=quick; export HYPOTHESIS_PROFILE; set -- $(wildcard $(addprefix tests/,$(DECIDING))); \
	$(BIN)/pytest -q --assert=plain "$$@" || { $(BIN)/pytest -q --lf "$$@"; exit 1; }

test: lint
	$(BIN)/pytest -n auto --dist loadfile

PACKAGE ?=

mutants: $(VENV)/.installed
	$(BIN)/python -m tests.mutants $(PACKAGE)

bench: $(VENV)/.installed
	for name in fleet runs scheduling reconcile apply; do $(BIN)/python -m benchmarks.$$name || exit 1; done

clean:
	rm -rf $(VENV) build dist .demo .mutants

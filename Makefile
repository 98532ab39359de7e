# `make demo` runs the main job, `make test` passes all tests, `make check` the quick ones: lint, types, contracts and
# what decides. Each sets up all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

DECIDING := api apply approvals architecture conformance desired formats observe pull reconcile removals rollout schedule snapshots state status views works

.PHONY: demo test check mutants lint bench lock sbom image-check clean

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
	for name in fleet runs scheduling reconcile apply webhook_to_applied; do $(BIN)/python -m benchmarks.$$name || exit 1; done

# What the image installs, and what builds gitfleet in it: exact versions with hashes. No registry is named, so that a
# mirror may be used.
IMAGE_EXTRAS := forges otel sops
COMPILE = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

$(VENV)/.release: pyproject.toml $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[release]'
	touch $@

lock: $(VENV)/.release
	$(COMPILE) pyproject.toml $(addprefix --extra ,$(IMAGE_EXTRAS)) --output-file locks/runtime.txt
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
	| $(COMPILE) - --output-file locks/build.txt

# What the image is made of, as CycloneDX: the packages of the lock, and the Go modules in its helm and its kustomize.
GOMOD := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0

sbom: $(VENV)/.release
	mkdir -p build/sbom
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --output-format JSON \
	--output-file build/sbom/python.json locks/runtime.txt
	for name in helm kustomize; do \
	go run $(GOMOD) mod -json -noserial -output build/sbom/$$name.json tests/realparts/$$name || exit 1; done

# Runs the Dockerfile's steps in root file systems (Linux, root, debootstrap; minutes) and starts what they leave.
image-check: $(VENV)/.release
	$(BIN)/pytest -v --capture=no tests/image/image_check.py

clean:
	rm -rf $(VENV) build dist .demo .mutants

# `make demo` runs the main job. `make check` passes the quick tests (lint, types, contracts and what decides), `make test`
# all but the dearest, `make soak` those. Each sets up all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Compiled modules are kept: without them each of the many processes of a run compiles everything again.
export PYTHONDONTWRITEBYTECODE :=

# The folders of tests that need no program and no server, but for what is marked `real` or `slow` in them.
PURE := agent analysis api apply approvals architecture branches conformance desired fleet formats loop model observe payload pull reconcile removals \
	rendered rollout schedule serving snapshots state status views workload works

.PHONY: demo check test soak real-parts mutants lint bench lock sbom image-check clean

# The plain package, as a user has it.
$(VENV)/.plain: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@echo "Installing gitfleet and what it needs into $(VENV) (about a minute):"
	@$(BIN)/pip install --disable-pip-version-check --editable . | sed -n 's/^Collecting \([^ ]*\).*/  \1/p; /^Successfully/p'
	@$(BIN)/pip show --quiet gitfleet-hub
	touch $@

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ $(VENV)/.plain

demo: $(VENV)/.plain
	$(BIN)/gitfleet demo

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports

# At most 90 CPU seconds once mypy's cache is warm.
check: lint
	@# Showing the values in a failed assertion costs an eighth of the time: what failed is run once more for that. A timer
	@# in a thread for each test costs half a millisecond, a signal next to nothing.
	HYPOTHESIS_PROFILE=quick; export HYPOTHESIS_PROFILE; \
	set -- -m 'not real and not slow' $(wildcard $(addprefix tests/,$(PURE))); \
	$(BIN)/pytest -q --assert=plain -o timeout_method=signal "$$@" || { $(BIN)/pytest -q --lf "$$@"; exit 1; }

# What tests start for real: kube-apiserver with etcd and controllers, helm, kustomize, Prometheus; in `make soak` sops, too.
# Built once.
real-parts: $(VENV)/.installed
	$(BIN)/python -m tests.realparts.assets control-plane helm kustomize prometheus

# A third of the time of a test is waiting for a server or a process: three workers for two cores.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(3 * os.cpu_count() // 2)')

# A run ends when a worker died: xdist 3.8 hangs when it replaces one (pytest-dev/pytest-xdist#1323, #1378).
PARALLEL := --dist loadgroup --no-loadscope-reorder --max-worker-restart=0

# 15 minutes on 2 cores and 900 to 1,500 CPU seconds, by machine, with a reserve. A run that exceeds a budget fails
# and names the file.
test: lint real-parts
	@$(BIN)/python -m compileall -q gitfleet benchmarks tests # before several workers do so at once
	@# Rewriting the assertions to show their values costs each worker more than collecting the tests: --showlocals instead.
	HYPOTHESIS_PROFILE=ci $(BIN)/pytest -n $(WORKERS) $(PARALLEL) --budget 1800 \
	--session-timeout 1500 --assert=plain --showlocals

# What is too dear for `make test`; each part takes at most 30 minutes, a test of it with thousands of examples some. Its
# random examples differ from run to run.
PART ?= all
ifndef SEED
SEED := $(shell $(PYTHON) -c 'import random; print(random.randrange(2**32))')
endif

soak: $(VENV)/.installed real-parts
	$(BIN)/python -m tests.realparts.assets sops
	@echo "soak $(PART): make soak PART=$(PART) SEED=$(SEED) repeats this run"
	HYPOTHESIS_PROFILE=soak $(BIN)/pytest -n $(WORKERS) $(PARALLEL) --timeout 900 --soak $(PART) --hypothesis-seed $(SEED)

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
	@# A binary lists its own modules. The go.mod also requires those of the control plane.
	cd tests/realparts/programs && CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags="-s -w" \
	-o $(CURDIR)/build/sbom/ helm.sh/helm/v3/cmd/helm sigs.k8s.io/kustomize/kustomize/v5
	for name in helm kustomize; do \
	go run $(GOMOD) bin -json -noserial -output build/sbom/$$name.json build/sbom/$$name || exit 1; done

# Runs the Dockerfile's steps in root file systems (Linux, root, debootstrap; minutes) and starts what they leave.
image-check: $(VENV)/.release
	$(BIN)/pytest -v --capture=no tests/image/image_check.py

clean:
	rm -rf $(VENV) build dist .demo .mutants

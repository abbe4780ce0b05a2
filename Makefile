# Everything a newcomer or CI needs. `make demo` and `make test` set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WHEELS := .wheels
PACKS := $(wildcard plugins/*/pyproject.toml)
PACK_FOLDERS := $(patsubst %/pyproject.toml,%,$(PACKS))

.PHONY: setup demo test lint docs packs wheels clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt $(PACKS) $(wildcard occamkit/kernel/native/*)
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "setting up $(VENV): this takes one to three minutes the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' $(addprefix -e ./,$(PACK_FOLDERS))
	@touch $(READY)

demo: setup
	$(BIN)/occamkit check examples/planets/planets.toml
	$(BIN)/occamkit run examples/planets/planets.toml

test: setup
	$(BIN)/python -m pytest -n 2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: setup
	$(BIN)/sphinx-build -W --keep-going -n -q -b html docs docs/_build/html

packs: setup
	@set -e; for folder in $(PACK_FOLDERS); do echo "$$folder"; $(BIN)/python -m pytest -c $$folder/pyproject.toml --rootdir $$folder $$folder/tests; done

wheels: $(WHEELS)/.ready
	bash .ci/packs try $(WHEELS)

$(WHEELS)/.ready: $(PACKS) pyproject.toml $(shell find occamkit plugins -name '*.py' -o -name '*.[ch]')
	PYTHON=$(PYTHON) bash .ci/packs install $(WHEELS)
	@touch $@

clean:
	rm -rf $(VENV) $(WHEELS) docs/_build dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

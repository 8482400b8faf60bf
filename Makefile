# Every target does its own set-up in .venv; PYTHON may name another interpreter.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test soak bench studies docs explore lint clean

run: .venv/.core
	$(BIN)/pushforward simulate --n 64 --d 3 --beta 9 --t1 20 --seed 0 \
	  --out out/first-run --picture out/first-run.png --movie out/first-run.mp4

test: .venv/.dev lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

soak: .venv/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.bench
	$(BIN)/python -m benchmarks

studies: .venv/.dev
	$(BIN)/pushforward study verify

docs: .venv/.dev
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.core: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $@

.venv/.bench: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev --group bench
	touch $@

clean:
	rm -rf .venv out docs/_build .pytest_cache .mypy_cache .ruff_cache

# make demo   set everything up, and watch katachi learn and play
# make test   set everything up, and run the tests
# Every target is safe to repeat. PYTHON chooses the interpreter (3.11 or newer).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KATACHI := $(BIN)/katachi
# Passed by the environment, so that the pins hold in pip's build environments too.
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check
STAMP := $(VENV)/.installed
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

.PHONY: help setup system demo play test lint bench fuzz docs site pictures models clean

help:
	@sed -n 's/^# //p' Makefile | head -3

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "katachi needs Python 3.11 or newer; use make PYTHON=/path/to/python3"; exit 1; }
	@test -x $(BIN)/python || { echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing katachi and the pinned versions of what it needs"
	@$(PIP) --editable '.[dev]'
	@touch $@

# Other programs that the tests need. Installed if you are root; otherwise the tests that need them are skipped.
system:
	@PATH="$$PATH:/usr/games"; for program in gnugo g++ chromium; do \
		if command -v $$program >/dev/null; then continue; fi; \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "installing Debian's $$program"; \
			(apt-get install -y -qq $$program || { apt-get update -qq && apt-get install -y -qq $$program; }) >/dev/null 2>&1 || echo "$$program could not be installed"; \
		else echo "$$program is missing: tests that need it will be skipped (Debian: apt install $$program)"; fi; \
	done

demo: setup
	@$(KATACHI) warmup
	@$(BIN)/python examples/demo.py

play: setup
	@$(KATACHI) play

lint: setup
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo 2>/dev/null | tail -n 1

test: setup system lint
	@$(BIN)/python -m pytest -q -n $(CORES)

bench: setup
	@$(PIP) --editable '.[bench]'
	@$(KATACHI) bench playouts

# A million executions of each parser by a coverage-guided fuzzer.
fuzz: setup
	@$(PIP) --editable '.[fuzz]'
	@$(BIN)/python benchmarks/fuzz_sgf.py -runs=1000000
	@$(BIN)/python benchmarks/fuzz_gtp.py -runs=1000000

# These commands print the figures in docs/.
docs: setup system
	@$(KATACHI) tournament examples/simple-players.toml --jobs $(CORES) --run runs/simple-players \
		--markdown docs/simple-players.md --title "The simple players"

# The documentation as a site that needs no network: open build/site/index.html.
site: setup
	@$(PIP) --editable '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "the site is in build/site"

# Screenshots in docs/ of the browser board (Debian's package chromium).
pictures: setup system
	@$(BIN)/python docs/make_pictures.py

# The pretrained models, trained by their recipes in src/katachi/pretrained/recipes and measured; each size grows from the last.
models: setup
	@for name in shapes-5 shapes-9 shapes-liberties-9 shapes-13 shapes-19; do $(KATACHI) models make $$name --jobs $(CORES) || exit 1; done

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis

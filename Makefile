# make demo   install katachi, and watch it learn and play
# make test   install what the tests need too, and run them
# Every target is safe to repeat. PYTHON chooses the interpreter (3.11 or newer).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KATACHI := $(BIN)/katachi
# Passed by the environment, so that the pins hold in pip's build environments too.
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

.PHONY: help setup setup-dev setup-locked lock system other-programs demo play test lint warmup bench fuzz campaign mutants sbom docs site pictures models wheel clean

help:
	@sed -n 's/^# //p' Makefile | head -3

# What plays, learns shapes and opens the board; setup-dev is that and all other extras, and what the tests need.
setup: $(STAMP)
setup-dev: $(DEV_STAMP)

# The same as setup, but pip takes only files whose SHA-256 requirements.lock names (make lock renews it).
setup-locked:
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

lock: setup
	@$(BIN)/python tools/lock.py requirements.lock

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "katachi needs Python 3.11 or newer; use make PYTHON=/path/to/python3"; exit 1; }
	@test -x $(BIN)/pip || { echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing katachi and its board in the browser: about a minute, and 500 MB"
	@$(PIP) --editable '.[web]'
	@touch $@

$(DEV_STAMP): $(STAMP)
	@echo "installing what trains networks and what the tests need: some minutes, and 2 GB"
	@$(PIP) --editable '.[dev]'
	@touch $@

# Other programs that the tests need. Installed if you are root, unless KATACHI_NO_SYSTEM=1; tests that need others are skipped.
system:
	@PATH="$$PATH:/usr/games"; missing=; \
	for program in gnugo g++ chromium; do command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$${KATACHI_NO_SYSTEM:-0}" != 0 ] || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "tests that need these programs will be skipped:$$missing (Debian: apt install$$missing)"; exit 0; fi; \
	echo "installing these packages of Debian, for some tests:$$missing"; \
	echo "(KATACHI_NO_SYSTEM=1 make test installs none, and skips those tests)"; \
	for program in $$missing; do \
		(apt-get install -y -qq $$program || { apt-get update -qq && apt-get install -y -qq $$program; }) >/dev/null 2>&1 || echo "$$program could not be installed"; \
	done

# Programs that drive katachi in the tests, from PyPI and npm into build/; KATACHI_NO_OTHERS=1 installs none.
other-programs: setup
	@[ "$${KATACHI_NO_OTHERS:-0}" != 0 ] || $(BIN)/python tools/other_programs.py

demo: setup
	@echo "now katachi compiles what it needs, learns 5×5 Go, and shows what it learned"
	@$(BIN)/python examples/demo.py

play: setup
	@$(KATACHI) play

lint: setup-dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo 2>/dev/null | tail -n 1

warmup: setup
	@$(KATACHI) warmup

test: setup-dev system
	@$(MAKE) --no-print-directory -j3 lint warmup other-programs
	@$(BIN)/python -m pytest -q -n $(CORES)

bench: setup
	@$(PIP) --editable '.[bench]'
	@$(KATACHI) bench playouts

# A million executions of each parser by a coverage-guided fuzzer; RUNS=10000 is quicker.
RUNS ?= 1000000
fuzz: setup
	@$(PIP) --editable '.[fuzz]'
	@$(BIN)/python benchmarks/fuzz_sgf.py -runs=$(RUNS)
	@$(BIN)/python benchmarks/fuzz_gtp.py -runs=$(RUNS)
	@for target in json card safetensors onnx toml; do $(BIN)/python benchmarks/fuzz_files.py $$target -runs=$(RUNS) || exit 1; done

# Kills, games with a clock, memory, browsers and fuzzers for hours, in the background; the same command resumes, and prints
# the table so far. RUN is the folder that keeps it, and log.txt there says what is done.
RUN ?= runs/campaign
campaign: setup-dev
	@$(PIP) --editable '.[fuzz]'
	@mkdir -p $(RUN)
	@nohup $(BIN)/python benchmarks/campaign.py --run $(RUN) >>$(RUN)/log.txt 2>&1 &
	@$(BIN)/python benchmarks/campaign.py --run $(RUN) --table

# Changes for the worse, and how many of them the tests notice: 200 of all, for an hour; the same command resumes.
mutants: setup-dev
	@$(BIN)/python tools/mutate.py

# These commands print the figures in docs/.
docs: setup system
	@$(KATACHI) tournament examples/simple-players.toml --allow-commands --jobs $(CORES) --run runs/simple-players \
		--markdown docs/simple-players.md --title "The simple players"

# The documentation as a site that needs no network: open build/site/index.html.
site: setup-dev
	@$(PIP) --editable '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "the site is in build/site"

# Screenshots in docs/ of the browser board (Debian's package chromium).
pictures: setup-dev system
	@$(BIN)/python docs/make_pictures.py

# The pretrained models, trained by their recipes in src/katachi/pretrained/recipes and measured; each size grows from the last.
models: setup
	@for name in shapes-5 shapes-9 shapes-liberties-9 shapes-13 shapes-19; do $(KATACHI) models make $$name --jobs $(CORES) || exit 1; done

# What katachi is made of, with versions and licenses, as CycloneDX JSON.
sbom: setup
	@$(BIN)/python tools/sbom.py build/sbom.json

# A wheel that carries compiled kernels, for this Python and platform: its users need not compile.
wheel: setup-dev
	@$(BIN)/python tools/build_wheel.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis

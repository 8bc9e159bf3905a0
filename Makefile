# Every target sets itself up: `make demo` and `make test` are all that a new machine needs.

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
READY   = $(VENV)/.ready
TOOLS   = $(VENV)/.tools
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# A process each: threads that a client leaves behind must not disturb what comes next.
PURE   ?= zktop,tests/model,tests/config,tests/output,tests/txnlog,tests/test_recording.py,tests/test_house.py
SUITES ?= tests/zk tests/terminal tests/ui tests/soak tests/faults,--ignore=$(IDLE) tests/clients \
          tests/cli,tests/app tests/whole tests/demo $(PURE) tests/readme tests/bench tests/sandbox
IDLE   ?= tests/faults/minutes  # waits for minutes, beside the others
JOBS   ?= 3  # suites at a time, the longest first; they wait far more than they compute

.PHONY: demo test older kerberos check bench soak pictures man clean

demo: $(READY)  ## a moving deadlock, nothing else installed
	@env -u ZKTOP_HOSTS $(BIN)/zktop demo

test: $(TOOLS)  ## everything; says what it could not run
	@tests/get-zookeeper || echo "no real ZooKeeper could be had; what needs one is left out" >&2
	@tests/get-prometheus $(VENV)/prometheus || echo "no Prometheus could be had" >&2
	@tests/get-chromium || echo "no Chromium could be had" >&2
	@tests/suite $(BIN)/python $(IDLE) & idle=$$!; \
	    printf '%s\n' $(SUITES) | xargs -P $(JOBS) -n 1 tests/suite $(BIN)/python; others=$$?; \
	    wait $$idle && test $$others = 0 || { echo "failed; what is above says where" >&2; exit 1; }

OLDER ?= $(VENV)/zookeepers

older: $(TOOLS)  ## real servers of 3.4, 3.5, 3.6 and 3.9, fetched once: 1.2 GB
	@ZKTOP_OLDER_ZOOKEEPERS=$$(tests/get-older-zookeepers $(OLDER) $(BIN)/pip) \
	    $(BIN)/python -m pytest -q tests/zk/test_older.py tests/clients/test_import_versions.py

kerberos: $(TOOLS)  ## a login at a Kerberos realm of its own; on Debian, as root
	@tests/get-kerberos $(BIN)/pip
	@$(BIN)/python -m pytest -q tests/zk/connect/test_kerberos.py

check: $(TOOLS)  ## format, lint, types, import directions
	@$(BIN)/ruff format --check --quiet . || { echo "run: $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo > $(VENV)/imports.txt || { cat $(VENV)/imports.txt; exit 1; }

bench: $(TOOLS)  ## the budgets, one line a figure
	@$(BIN)/python -m bench

SOAK    ?= 600
DAY     ?= 1200
UI_SOAK ?= 3600

soak: $(TOOLS)  ## SOAK seconds of churn, a day of services in DAY, UI_SOAK of random keys: nothing may grow
	@$(BIN)/python -m bench.soak $(SOAK)
	@$(BIN)/python -m bench.soak_services $(DAY)
	@$(BIN)/python -m bench.soak_ui $(UI_SOAK)

pictures: $(READY)  ## the pictures in docs/, drawn by the code
	@$(BIN)/python docs/pictures.py
	@$(BIN)/zktop report --from docs/incident.zktop -o docs/incident.html
	@tests/get-chromium && $(BIN)/python tests/browser.py docs/incident.html docs/report.png 960 1180

man: $(READY)  ## the man page in docs/, from the help of all commands, and the list of findings
	@$(BIN)/python docs/man_page.py
	@$(BIN)/python docs/findings_page.py

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(f"zktop needs Python 3.11 or newer; $(PYTHON) is {v[0]}.{v[1]}. Try: make PYTHON=python3.12 ..." if v < (3, 11) else 0)'
	@echo "setting up $(VENV) ..." >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	@$(PIP) --upgrade 'pip>=25.1'
	@$(PIP) --editable .
	@touch $@

$(TOOLS): $(READY)
	@$(PIP) --group test --group lint
	@touch $@

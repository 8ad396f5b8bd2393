# The few commands people repeat. `make demo` and `make test` need only Python >= 3.11, git and make.
PYTHON ?= python3
CORES ?= 2
BIN := .venv/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TESTS ?= tests --ignore=tests/cli --ignore=tests/cluster

.PHONY: demo demo-all test check bench soak rehearse smoke-vc clean

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fairtrial needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	@$(BIN)/python -m compileall -q workflow/fairtrial  # also where PYTHONDONTWRITEBYTECODE is set: a start costs half
	@touch $@

.venv/installed-test: .venv/installed
	$(PIP) --editable '.[test]'
	@touch $@

demo: .venv/installed
	@$(RUN) snakemake --cores $(CORES) --logger fairtrial

demo-all: .venv/installed
	@$(RUN) snakemake --cores $(CORES) --logger fairtrial --configfile config/all.yaml

test: .venv/installed-test
	@$(RUN) python -m pytest -n $(CORES) --dist loadfile $(TESTS)

check: .venv/installed-test
	@$(RUN) sh .ci/check

bench: .venv/installed-test
	@$(RUN) python -m tests.bench $(if $(CHECK),--check) $(FIGURES)

rehearse: .venv/installed
	@$(BIN)/python .ci/rehearse.py install
	@PATH="$(CURDIR)/$(BIN):$(CURDIR)/.rehearse/bin:$$PATH" snakemake --cores $(CORES) --logger fairtrial --configfile config/rehearse.yaml
	@$(BIN)/python .ci/rehearse.py look

smoke-vc: .venv/installed
	@$(RUN) snakemake --cores $(CORES) --quiet all --until grade --configfile config/vc.yaml
	@$(BIN)/python .ci/smoke_vc.py

soak: .venv/installed-test
	@$(RUN) python -m pytest tests/workflow/test_kills.py tests/workflow/test_soak.py --soak

environment.yml: pyproject.toml .ci/environment_yml.py
	$(PYTHON) .ci/environment_yml.py > $@

docs/tasks.md: .venv/installed .ci/tasks_md.py $(wildcard tasks/*/*/task.toml)
	$(BIN)/python .ci/tasks_md.py > $@

clean:
	rm -rf .venv .snakemake bench.json

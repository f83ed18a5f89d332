# One verb per derived artefact; each is one line over `python -m book`. `make help` lists them.
PYTHON ?= python3
ifeq ($(OS),Windows_NT)
VENV_PYTHON := .venv/Scripts/python
else
VENV_PYTHON := .venv/bin/python
endif

.DEFAULT_GOAL := help
.PHONY: help environment book test test-launch test-links serve check notebooks bench-site clean

help: ## list these commands
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

environment: ## make .venv with the pinned versions
	@$(PYTHON) code/book/bootstrap.py

book: environment ## execute all cells and build both languages into _build/site/
	@$(VENV_PYTHON) -m book build

test: environment ## run every test
	@$(VENV_PYTHON) -m pytest -n auto --maxprocesses 4 --dist loadgroup

test-launch: environment ## run the published notebooks in a real JupyterLab (minutes; makes an environment from binder/)
	@$(VENV_PYTHON) -m pytest -m launch

test-links: environment ## follow the links to the outside (needs the network)
	@$(VENV_PYTHON) -m book links

serve: environment ## serve both languages; rebuild and reload on save
	@$(VENV_PYTHON) -m book serve

check: environment ## compare the two languages and check the sources (seconds)
	@$(VENV_PYTHON) -m book check

notebooks: environment ## write the notebooks that learners launch
	@$(VENV_PYTHON) -m book notebooks

bench-site: environment ## measure the site beside a default Jupyter Book of the same chapters
	@$(VENV_PYTHON) -m book bench-site

clean: ## remove everything that was built
	@cd code && $(PYTHON) -m book clean

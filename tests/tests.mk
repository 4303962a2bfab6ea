# SPDX-License-Identifier: Apache-2.0
#
# Builds the tests' programs, and has the goals that test more than `make check`: sanitizers, benchmarks, devices,
# fuzzing, torture. The Makefile at the top includes this file after kernels/cuda/cuda.mk.
UNITS    := $(patsubst %.c,$(BUILD)/%,$(shell find tests/unit tests/parity -name 'test_*.c'))
GPU_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/gpu/test_*.c))
BENCHES  := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/bench_*.c))
FUZZER   := $(BUILD)/tests/fuzz/fuzz
EMULATED_LIB := $(if $(CUDA_LIB),$(BUILD)/tests/emulation/libmc-cuda.so)
TUNE_AND_KERNELS = $(if $(CUDA_LIB),$(addprefix $(BUILD)/tests/$(1)/,tune kernels))
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1

programs-of-tests: $(BUILD)/tests/memory/failing.so $(BUILD)/tests/reference/ops $(UNITS) $(BENCHES) $(FUZZER) \
                   $(EMULATED_LIB) $(call TUNE_AND_KERNELS,emulation) $(if $(EMULATED_LIB),$(GPU_TESTS))
fuzzer: $(FUZZER)

# ---- goals on this machine

# NVCC=: leave out the emulated device, which has its own sanitizers in every build (EMULATED_SANITIZE).
sanitize: ## run every test with the address and undefined-behaviour sanitizers
	$(PACKAGES)
	+$(SUBMAKE) BUILD=build-sanitize NVCC= EXTRA_CFLAGS='$(SANITIZE)' all programs-of-tests
	@MC_UNDER=sanitize tests/run build-sanitize

valgrind: ## run unit and CLI tests under valgrind, on the portable kernels
	$(PACKAGES) valgrind
	+$(SUBMAKE) all programs-of-tests
	@MC_UNDER=valgrind tests/run $(BUILD) unit cli

check-slurm: all ## test slurm.sh on a temporary cluster of one node (Debian: slurm-wlm)
	@tests/slurm/check $(BUILD)

bench: all $(BENCHES) ## compare this suite's speed with its peers'
	@for b in $(sort $(wildcard tests/bench/*.sh)); do echo "== $$b"; $(HERE) $$b || exit 1; done

tune: $(BUILD)/tests/bench/tune ## choose the convolutions' algorithms by timing them on this machine
	tests/bench/write-table cpu $(BUILD)

# fuzz and torture check their duration before they build anything.
number = @echo '$($(1))' | grep -qxE '$(2)' || { echo '$(1) must be a $(3)number (got "$($(1))")' >&2; exit 1; }
FUZZ_SECONDS ?= 60
FUZZ_BUILD := BUILD=build-fuzz NVCC= CC='$(filter ccache,$(CC)) clang' CFLAGS=-g LDFLAGS=-fsanitize=fuzzer FUZZ_MAIN= \
	LIB_SRC='$(filter libcommon/% formats/%,$(LIB_SRC))' \
	EXTRA_CFLAGS='-fsanitize=fuzzer-no-link,address,undefined $(filter-out -fsanitize=%,$(SANITIZE))'
fuzz: ## run libFuzzer on every kind of input for FUZZ_SECONDS each, with the sanitizers
	$(call number,FUZZ_SECONDS,[1-9][0-9]*,whole )
	$(PACKAGES) clang libclang-rt-14-dev libomp-dev
	+$(SUBMAKE) $(FUZZ_BUILD) fuzzer
	@tests/fuzz/run build-fuzz $(FUZZ_SECONDS)

TORTURE_MINUTES ?= 60
torture: ## test failing calls, kills and races for TORTURE_MINUTES (default: 60); ends with a table of gates
	$(call number,TORTURE_MINUTES,[0-9]*\.?[0-9]+)
	$(PACKAGES) strace clang libomp-dev
	+$(SUBMAKE) all programs-of-tests
	@tests/torture.sh $(BUILD) $(TORTURE_MINUTES)

# ---- goals on a device

gpu-check: all ## test the CUDA backend on a device (DEVICE=cuda:1: another)
	@$(HERE) bash -c '. tests/gpu/device.bash $@ $(BUILD) "nothing was checked"'
	+@$(SUBMAKE) programs-of-tests $(GPU_TESTS)
	@$(HERE) tests/gpu/check $(BUILD)

gpu-memcheck: all ## fewer tests, under compute-sanitizer
	@$(HERE) bash -c '. tests/gpu/device.bash $@ $(BUILD) "nothing was checked"'
	+@$(SUBMAKE) programs-of-tests $(GPU_TESTS)
	@$(HERE) tests/gpu/check $(BUILD) memcheck

gpu-tune: all $(if $(CUDA_LIB),$(BUILD)/tests/gpu/tune) ## choose cuDNN's engines by timing them on a device
	@$(HERE) tests/gpu/tune-table $(BUILD)

gpu-bench: all $(BUILD)/tests/bench/bench_train $(if $(CUDA_LIB),$(BUILD)/tests/gpu/kernels) ## compare training steps on a device with PyTorch's (PYTHON=; KERNELS=yes: per kernel)
	@$(HERE) tests/gpu/bench $(BUILD) $(if $(KERNELS),--kernels)

# Check before the build, which can take long.
ifneq ($(filter gpu-pack,$(MAKECMDGOALS)),)
$(if $(CUDA_LIB),,$(error gpu-pack: the CUDA library cannot be built here (it needs nvcc and cuDNN)))
endif
ifneq ($(and $(filter gpu-pack,$(MAKECMDGOALS)),$(DATA)),)
$(if $(shell [ ! -d '$(subst ','\'',$(DATA))' ] || echo it),,$(error DATA="$(DATA)": no such folder))
endif
gpu-pack: all programs-of-tests $(if $(CUDA_LIB),$(GPU_TESTS)) $(call TUNE_AND_KERNELS,$(if $(filter yes,$(EMULATED)),emulation,gpu)) ## pack the programs and tests for a GPU machine that cannot install packages (DATA=)
	@$(HERE) tests/gpu/pack $(BUILD)

# ---- programs

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(HARDEN_LINK) $(LDFLAGS) -lcmocka $(LIBS) -o $@

# This test wraps cpu_arena_place.
$(BUILD)/tests/unit/kernels/test_fusion: override LDFLAGS += -Wl,--wrap=cpu_arena_place

# The rate of multiply-adds is a limit only if they are fused and in registers.
$(BUILD)/tests/bench/bench_kernels.o: ALL_CFLAGS += -O3 -ffp-contract=fast

# Tests preload this library to make allocations fail. It must not need any library that itself allocates.
$(BUILD)/tests/memory/failing.so: tests/memory/failing.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fopenmp -fsanitize%,$(ALL_CFLAGS)) -shared $< -o $@

# libFuzzer contains a main function. With other compilers, replay.c's runs the inputs named by its arguments.
FUZZ_MAIN ?= $(BUILD)/tests/fuzz/replay.o
$(FUZZER): $(patsubst %,$(BUILD)/tests/fuzz/%.o,fuzz archives images streams texts) $(FUZZ_MAIN) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(LDFLAGS) $(LIBS) -o $@

# tests/coverage counts only the branches of formats/.
$(BUILD)/formats/%.o: ALL_CFLAGS += $(COVERAGE)

# The programs that time engines and count kernels contain the backend, because they call its internal functions.
TUNE_LIBS := $(filter-out -Wl%,$(LIBS))
$(addprefix $(BUILD)/tests/gpu/,tune.o kernels.o): ALL_CFLAGS += -DMC_BACKEND_INTERFACE=$(INTERFACE) $(CUDA_INCLUDES)
$(addprefix $(BUILD)/tests/gpu/,tune kernels): %: %.o $(CUDA_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(NVCC) $(CUDA_ARCH) -Xcompiler -fopenmp $^ -o $@ $(TUNE_LIBS) -lcublas $(LINK_CUDNN) -Xlinker -rpath=$(CUDA)/lib64

# ---- the emulated device: the CUDA backend compiled for the host (tests/emulation)

EMULATED_OBJ := $(patsubst kernels/cuda/%.cu,$(BUILD)/tests/emulation/%.cu.o,$(wildcard kernels/cuda/*.cu)) \
                $(patsubst %.cc,$(BUILD)/%.o,$(wildcard tests/emulation/*.cc)) $(filter-out %.cu.o,$(CUDA_OBJ))
# A device faults on an unaligned vector load, but the host does not, so a sanitizer checks it.
EMULATED_SANITIZE := -fsanitize=alignment,bounds -fno-sanitize-recover=all
# _FORTIFY_SOURCE and the address sanitizer mistake a fiber's jump between stacks for damage.
CXX_FLAGS := $(EMULATED_SANITIZE) -std=c++17 -O3 -g -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Wshadow -Werror \
             -U_FORTIFY_SOURCE -DMC_EMULATED -I. -I$(BUILD)/tests/gpu $(CUDA_INCLUDES)
# cuDNN creates plans without a device. tests/emulation/cudnn.cc wraps the functions that need one.
EMULATED_LIBS := $(patsubst %,-Wl$(comma)--wrap=%,cudnnGetLastErrorString $(patsubst %,cudnnBackend%,CreateDescriptor DestroyDescriptor SetAttribute Finalize)) \
                 -L$(CUDA)/lib64 $(LINK_CUDNN) -Wl,-rpath=$(CUDA)/lib64

$(BUILD)/tests/emulation/device.o: $(BUILD)/tests/gpu/h100.inc
$(BUILD)/tests/emulation/%.cu.o: kernels/cuda/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CXX   $<")
	$(Q)$(CXX) -x c++ $(CXX_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/tests/emulation/%.o: tests/emulation/%.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CXX   $<")
	$(Q)$(CXX) $(CXX_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/tests/emulation/libmc-cuda.so: $(EMULATED_OBJ) $(CUDA_COMMON) kernels/cuda/exports.map
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CXX) $(EMULATED_SANITIZE) -shared $(filter %.o,$^) -o $@ -Wl,--version-script=kernels/cuda/exports.map \
		-Wl,--no-undefined -lm $(EMULATED_LIBS)
$(addprefix $(BUILD)/tests/emulation/,tune kernels): $(BUILD)/tests/emulation/%: $(BUILD)/tests/gpu/%.o $(EMULATED_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CXX) $(EMULATED_SANITIZE) -fopenmp $^ -o $@ $(TUNE_LIBS) $(EMULATED_LIBS)

.PHONY: programs-of-tests fuzzer sanitize valgrind check-slurm bench tune fuzz torture gpu-check gpu-memcheck gpu-tune gpu-bench gpu-pack

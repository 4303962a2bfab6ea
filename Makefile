# SPDX-License-Identifier: Apache-2.0
#
# make            build everything into build/
# make demo       install what is missing, build, run the main job on synthetic data, draw the picture
# make check      every test
# make help       the other goals (any with V=1: show every command)

comma   := ,
unexport $(shell sed -n 's/^unset //p' pipelines/include/environment.sh)
BUILD   ?= build
PREFIX  ?= /usr/local
VERSION := 0.1.0

WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat-security -Werror
CFLAGS  ?= -O2 -g
# Against what a mistake in reading a stranger's file would allow; HARDEN= leaves it out. _FORTIFY_SOURCE needs an
# optimiser, and hides from the sanitizers what they look for.
GIVEN   := $(CFLAGS) $(EXTRA_CFLAGS)
FORTIFY := $(if $(findstring -fsanitize,$(GIVEN)),,$(if $(filter-out -O0,$(lastword $(filter -O%,$(GIVEN)))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
HARDEN  ?= -fstack-protector-strong -fstack-clash-protection $(FORTIFY)
HARDEN_LINK := $(if $(HARDEN),-pie -Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now$(comma)-z$(comma)noexecstack)
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -DMC_VERSION='"$(VERSION)"' $(WARN) -fopenmp -fPIC \
              -I. $(HARDEN) $(CFLAGS) $(EXTRA_CFLAGS)
LIBS    := -Wl,--as-needed -ldnnl -llapacke -lblas -lmsgpackc -lzstd -lxxhash -ljansson -lzip -lturbojpeg -lpng -lz -lm

# The headers that a backend's library shares with the programs: programs and libraries built from other headers refuse
# each other.
INTERFACE := $(shell cat $$($(CC) -MM -I. kernels/abi.h 2>/dev/null | tr -d '\\\n' | cut -d: -f2) | cksum | cut -d' ' -f1)u

LIB_SRC  := $(sort $(filter-out kernels/cuda/%,$(shell find libcommon kernels formats tools/*/ -name '*.c')))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
LIB      := $(BUILD)/libmc.a
NAMES    := $(patsubst tools/%.c,%,$(wildcard tools/mc-*.c))
TOOLS    := $(NAMES:%=$(BUILD)/bin/%)
MAN      := $(NAMES:%=$(BUILD)/man/%.1)
SCRIPTS  := $(wildcard tools/plot/*.gp)
SHARED   := $(SCRIPTS:tools/plot/%=$(BUILD)/share/mc/%)
UNITS    := $(patsubst %.c,$(BUILD)/%,$(shell find tests/unit tests/parity -name 'test_*.c'))
GPU_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/gpu/test_*.c))
BENCHES  := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/bench_*.c))
FUZZER   := $(BUILD)/tests/fuzz/fuzz

# The CUDA backend is a library of its own, loaded at run time, and built where nvcc and cuDNN are
# (NVCC= leaves it out): code for Hopper, and what the driver makes code for other devices from, Ampere
# and later, when a program first starts there. CUDNN: a folder with cuDNN's include and lib or lib64,
# where it is not with the toolkit or the system; Python's package of it has no libcudnn.so, but a
# libcudnn.so.9.
CUDA_ARCH ?= -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90
NVCC     ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA     := $(if $(NVCC),$(abspath $(dir $(realpath $(NVCC)))/..))
CUDNN    ?=
CUDNN_H  := $(firstword $(wildcard $(addsuffix /cudnn.h,$(if $(CUDNN),$(abspath $(CUDNN))/include,\
              $(CUDA)/include /usr/local/include /usr/include /usr/include/$(shell uname -m)-linux-gnu))))
# of 9.8 or later: it describes devices
CUDNN_H  := $(if $(CUDNN_H),$(if $(shell grep -ls CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR $(dir $(CUDNN_H))cudnn_graph*.h),$(CUDNN_H)))
CUDNN_SO := $(if $(CUDNN),$(firstword $(sort $(wildcard $(addsuffix /libcudnn.so*,$(addprefix $(abspath $(CUDNN)),/lib64 /lib))))))
ifneq ($(and $(CUDA),$(CUDNN)),)
$(if $(and $(CUDNN_H),$(CUDNN_SO)),,$(error CUDNN=$(CUDNN): no include/cudnn.h of cuDNN 9.8 or later, or no libcudnn.so in lib64 or lib))
endif
LINK_CUDNN := $(if $(CUDNN_SO),-L$(dir $(CUDNN_SO)) -l:$(notdir $(CUDNN_SO)) -Xlinker -rpath=$(dir $(CUDNN_SO)),-lcudnn)
CUDA_LIB := $(if $(and $(CUDA),$(CUDNN_H)),$(BUILD)/lib/libmc-cuda.so)
CUDA_OBJ := $(patsubst %,$(BUILD)/%.o,$(basename $(wildcard kernels/cuda/*.c))) \
            $(patsubst %,$(BUILD)/%.cu.o,$(basename $(wildcard kernels/cuda/*.cu)))
CUDA_COMMON := $(addprefix $(BUILD)/,libcommon/base/alloc.o libcommon/base/error.o libcommon/graph/soft_permutation.o libcommon/graph/uses.o kernels/roles.o kernels/conv_table.o libcommon/base/precision.o \
               kernels/backend_facts.o)
# The same backend for tests on a device that the host emulates (tests/emulation).
EMULATED_LIB := $(if $(CUDA_LIB),$(BUILD)/tests/emulation/libmc-cuda.so)
EMULATED_OBJ := $(filter %.o,$(patsubst kernels/cuda/%.cu,$(BUILD)/tests/emulation/%.cu.o,$(wildcard kernels/cuda/*.cu)) \
                $(patsubst %.cc,$(BUILD)/%.o,$(wildcard tests/emulation/*.cc)))

PACKAGES := pipelines/setup/install-packages.sh
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1
Q        := $(if $(V),,@)
HERE      = build=$$(cd $(BUILD) && pwd) && MC_ROOT="$$PWD" MC_BUILD="$$build" PATH="$$build/bin:$$PATH"

# What all is compiled and linked with: a file that changes with it, so that everything is made anew.
FLAGS   := $(CC) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) $(LIBS)

all: $(TOOLS) $(SHARED) $(CUDA_LIB) $(if $(CUDA),$(if $(CUDNN_H),,no-cudnn)) ## build the programs into $(BUILD)/bin

no-cudnn:
	@echo "  no CUDA backend: nvcc is here, cudnn.h of 9.8 or later is not (CUDNN=FOLDER: its include and lib lie there)"

demo: ## install what is missing, build, run the main job on synthetic data, draw the picture
	$(PACKAGES)
	+$(MAKE) --no-print-directory all
	$(HERE) pipelines/demo.sh

check: ## every test; ends with "N passed, N failed" (ONLY=word runs those whose name holds it)
	@MC_ROOT="$$PWD" tests/layers.sh
	$(PACKAGES)
	+$(MAKE) --no-print-directory all programs-of-tests man
	@tests/run $(BUILD)

# without the CUDA backend: its emulated device has sanitizers of its own in every build (EMULATED_SANITIZE)
sanitize: ## the same tests built with the address and undefined-behaviour sanitizers
	$(PACKAGES)
	+$(MAKE) --no-print-directory BUILD=build-sanitize NVCC= EXTRA_CFLAGS='$(SANITIZE)' \
		all programs-of-tests
	@MC_UNDER=sanitize tests/run build-sanitize

valgrind: ## unit and CLI tests under valgrind, on the portable kernels
	$(PACKAGES) valgrind
	+$(MAKE) --no-print-directory all programs-of-tests
	@MC_UNDER=valgrind tests/run $(BUILD) unit cli

check-slurm: all ## slurm.sh on a cluster of one node that this sets up (Debian: slurm-wlm)
	@tests/slurm/check $(BUILD)

bench: all $(BENCHES) ## this suite and its peers in turn, with ratios
	@for b in $(sort $(wildcard tests/bench/*.sh)); do echo "== $$b"; $(HERE) $$b || exit 1; done

tune: $(BUILD)/tests/bench/tune ## choose the convolutions' algorithms by timing them here
	tests/bench/write-table cpu $(BUILD)

gpu-check: all ## the CUDA backend on a device (DEVICE=cuda:1: another)
	@$(HERE) bash -c '. tests/gpu/device.bash $@ $(BUILD) "nothing was checked"'
	+@$(MAKE) --no-print-directory programs-of-tests $(GPU_TESTS)
	@$(HERE) tests/gpu/check $(BUILD)

gpu-memcheck: all ## the same under compute-sanitizer
	@$(HERE) bash -c '. tests/gpu/device.bash $@ $(BUILD) "nothing was checked"'
	+@$(MAKE) --no-print-directory programs-of-tests $(GPU_TESTS)
	@$(HERE) tests/gpu/check $(BUILD) memcheck

gpu-tune: all $(if $(CUDA_LIB),$(BUILD)/tests/gpu/tune) ## choose cuDNN's engines by timing them on a device
	@$(HERE) tests/gpu/tune-table $(BUILD)

gpu-bench: all $(BUILD)/tests/bench/bench_train $(if $(CUDA_LIB),$(BUILD)/tests/gpu/kernels) ## training steps on a device beside PyTorch's (PYTHON=; KERNELS=yes: by kernel)
	@$(HERE) tests/gpu/bench $(BUILD) $(if $(KERNELS),--kernels)

# before what may be a long build
ifneq ($(and $(filter gpu-pack,$(MAKECMDGOALS)),$(DATA)),)
$(if $(shell [ ! -d '$(subst ','\'',$(DATA))' ] || echo it),,$(error DATA="$(DATA)": there is no such folder))
endif
gpu-pack: all programs-of-tests $(if $(CUDA_LIB),$(GPU_TESTS) $(addprefix $(BUILD)/tests/$(if $(filter yes,$(EMULATED)),emulation,gpu)/,tune kernels)) ## what a machine with a GPU needs that can install nothing (DATA=)
	@$(HERE) tests/gpu/pack $(BUILD)

# before anything is built
number = @echo '$($(1))' | grep -qxE '$(2)' || { echo '$(1)="$($(1))": a $(3)number is wanted' >&2; exit 1; }
FUZZ_SECONDS ?= 60
FUZZ_BUILD := BUILD=build-fuzz NVCC= CC='$(filter ccache,$(CC)) clang' CFLAGS=-g LDFLAGS=-fsanitize=fuzzer FUZZ_MAIN= \
	LIB_SRC='$(filter libcommon/% formats/% tools/plot/%,$(LIB_SRC))' \
	EXTRA_CFLAGS='-fsanitize=fuzzer-no-link,address,undefined $(filter-out -fsanitize=%,$(SANITIZE))'
fuzz: ## libFuzzer on every kind of input for FUZZ_SECONDS each, under the sanitizers
	$(call number,FUZZ_SECONDS,[1-9][0-9]*,whole )
	$(PACKAGES) clang libclang-rt-14-dev libomp-dev
	+$(MAKE) --no-print-directory $(FUZZ_BUILD) fuzzer
	@tests/fuzz/run build-fuzz $(FUZZ_SECONDS)

TORTURE_MINUTES ?= 60
torture: ## failing calls, kills, races: TORTURE_MINUTES in all (an hour), then a table of gates
	$(call number,TORTURE_MINUTES,[0-9]*\.?[0-9]+)
	$(PACKAGES) strace clang libomp-dev
	+$(MAKE) --no-print-directory all programs-of-tests
	@tests/torture.sh $(BUILD) $(TORTURE_MINUTES)

results: ## docs/results.md from pipelines/paper/
	@pipelines/results.sh > docs/results.md.part && mv docs/results.md.part docs/results.md

man: $(MAN) ## man pages from the programs' --help

install: all man ## into $(DESTDIR)$(PREFIX): programs, man pages, completion, scripts
	to="$(DESTDIR)$(PREFIX)" && share="$$to/share/mc" && completions="$$to/share/bash-completion/completions" && \
	install -d "$$to/bin" "$$share" "$$to/share/man/man1" "$$completions" && \
	install $(TOOLS) "$$to/bin" && \
	$(if $(CUDA_LIB),install -d "$$to/lib/mc" && install $(CUDA_LIB) "$$to/lib/mc" &&) \
	install -m 644 $(MAN) "$$to/share/man/man1" && \
	install -m 644 $(SCRIPTS) $(wildcard formats/exchange/maps/*.map formats/samples/*.json) "$$share" && \
	install formats/python/example_assign.py "$$share" && \
	share=$$(cd "$$share" && pwd) && (cd pipelines && \
		find . -type f ! -path '*/published/*' -exec cp --parents -t "$$share" {} +) && \
	install -d "$$share/mcz" && install -m 644 $(wildcard formats/python/mcz/*.py) "$$share/mcz" && \
	for n in $(NAMES); do ln -sfn ../../mc/setup/completion.bash "$$completions/$$n"; done

format: ## clang-format every C file
	clang-format -i $(shell git ls-files '*.c' '*.h')

clean: ## remove what was built
	rm -rf $(BUILD) build-sanitize build-fuzz build-tsan build-coverage

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST) | \
		sed 's,$$(BUILD),$(BUILD),; s,$$(DESTDIR)$$(PREFIX),$(DESTDIR)$(PREFIX),'

programs-of-tests: $(BUILD)/tests/memory/failing.so $(if $(EMULATED_LIB),$(EMULATED_LIB) $(addprefix $(BUILD)/tests/emulation/,tune kernels) $(GPU_TESTS)) $(UNITS) $(BENCHES) $(FUZZER)
fuzzer: $(FUZZER)

$(BUILD)/flags: export FLAGS_NOW = $(FLAGS)
$(BUILD)/cuda-flags: export FLAGS_NOW = $(CUDA_FLAGS)
$(BUILD)/flags $(BUILD)/cuda-flags: always
	@mkdir -p $(@D)
	@printf '%s\n' "$$FLAGS_NOW" | cmp -s - $@ || printf '%s\n' "$$FLAGS_NOW" >$@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The CPU's own kernels are compiled once an instruction set and picked at run time. Products and
# sums may become fused multiply-adds there; nothing else of -ffast-math.
$(BUILD)/kernels/cpu/isa_%.o: ALL_CFLAGS += -O3 -ffp-contract=fast -Wno-psabi
ifeq ($(shell uname -m),x86_64)
$(BUILD)/kernels/cpu/isa_avx512.o: ALL_CFLAGS += -march=x86-64-v4 -mprefer-vector-width=512
$(BUILD)/kernels/cpu/isa_avx2.o: ALL_CFLAGS += -march=x86-64-v3
endif

# tests/coverage counts the branches of the formats alone.
$(BUILD)/formats/%.o: ALL_CFLAGS += $(COVERAGE)

# Tables that a program has in itself, each as one C string.
TO_STRING = sed 's/[\\"]/\\&/g; s/\t/\\t/g; s/.*/"&\\n"/'
$(BUILD)/%.inc: %.tsv
	@mkdir -p $(@D)
	$(if $(V),,@echo "  GEN   $@")
	$(Q)$(TO_STRING) $< > $@
$(BUILD)/%.inc: %.json
	@mkdir -p $(@D)
	$(if $(V),,@echo "  GEN   $@")
	$(Q)$(TO_STRING) $< > $@
$(BUILD)/kernels/cpu/algorithms.o: $(BUILD)/kernels/cpu/algorithms.inc
$(BUILD)/kernels/cuda/choice.o: $(BUILD)/kernels/cuda/plans.inc
$(BUILD)/tests/emulation/device.o: $(BUILD)/tests/gpu/h200.inc
$(BUILD)/kernels/cpu/algorithms.o $(BUILD)/kernels/cuda/choice.o: ALL_CFLAGS += -I$(@D)

# No contraction on the device: a kernel's own arithmetic is then IEEE's, operation by operation.
NVCCFLAGS ?= -O3 -lineinfo
CUDA_FLAGS := -std=c++17 $(CUDA_ARCH) -fmad=false -I. $(NVCCFLAGS) -Xptxas -v \
              -Werror all-warnings -Xcompiler -fPIC,-Wall,-Wextra,-Wshadow
$(BUILD)/kernels/cuda/%.o $(BUILD)/kernels/open/open.o: ALL_CFLAGS += -DMC_BACKEND_INTERFACE=$(INTERFACE)
$(BUILD)/kernels/cuda/%.o: ALL_CFLAGS += -isystem $(CUDA)/include -isystem $(dir $(CUDNN_H))

# Beside the object stay what ptxas says of it and the intermediate code for sm_90, which a test reads.
$(BUILD)/kernels/cuda/%.cu.o: kernels/cuda/%.cu $(BUILD)/cuda-flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  NVCC  $<")
	@rm -rf $(@:.o=.kept) && mkdir $(@:.o=.kept)
	$(Q)$(NVCC) $(CUDA_FLAGS) --keep --keep-dir $(@:.o=.kept) -MMD -MP -MF $(@:.o=.d) -c $< -o $@ \
		2>$(@:.o=.ptxas) || { cat $(@:.o=.ptxas) >&2; exit 1; }
	@mv $(@:.o=.kept)/*90*.ptx $(@:.o=.ptx) 2>/dev/null || rm -f $(@:.o=.ptx)
	@rm -rf $(@:.o=.kept)

$(BUILD)/lib/libmc-cuda.so: $(CUDA_OBJ) $(CUDA_COMMON) kernels/cuda/exports.map
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(NVCC) $(CUDA_ARCH) -shared $(CUDA_OBJ) $(CUDA_COMMON) -o $@ -lcublas $(LINK_CUDNN) \
		-Xlinker --version-script=kernels/cuda/exports.map -Xlinker -rpath=$(CUDA)/lib64 \
		-Xlinker --no-undefined

# Programs that time engines and count kernels call the backend's own functions, so they contain them.
TUNE_LIBS := $(filter-out -Wl%,$(LIBS))
$(addprefix $(BUILD)/tests/gpu/,tune.o kernels.o): ALL_CFLAGS += -DMC_BACKEND_INTERFACE=$(INTERFACE) \
    -isystem $(CUDA)/include -isystem $(dir $(CUDNN_H))
$(addprefix $(BUILD)/tests/gpu/,tune kernels): %: %.o $(CUDA_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(NVCC) $(CUDA_ARCH) -Xcompiler -fopenmp $^ -o $@ $(TUNE_LIBS) -lcublas $(LINK_CUDNN) -Xlinker -rpath=$(CUDA)/lib64
$(addprefix $(BUILD)/tests/emulation/,tune kernels): $(BUILD)/tests/emulation/%: $(BUILD)/tests/gpu/%.o $(EMULATED_OBJ) $(filter-out %.cu.o,$(CUDA_OBJ)) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CXX) $(EMULATED_SANITIZE) -fopenmp $^ -o $@ $(TUNE_LIBS) $(EMULATED_LIBS)

# Fibers jump between stacks, which _FORTIFY_SOURCE takes for damage, as the address sanitizer does. The host forgives
# vector loads that are not aligned; a device does not.
EMULATED_SANITIZE := -fsanitize=alignment,bounds -fno-sanitize-recover=all
CXX_FLAGS := $(EMULATED_SANITIZE) -std=c++17 -O3 -g -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Wshadow -Werror \
             -U_FORTIFY_SOURCE -DMC_EMULATED -I. -I$(BUILD)/tests/gpu \
             -isystem $(CUDA)/include -isystem $(dir $(CUDNN_H))
# cuDNN makes plans without a device; what runs on one is emulated (tests/emulation/cudnn.cc).
comma := ,
EMULATED_LIBS := $(patsubst %,-Wl$(comma)--wrap=%,cudnnGetLastErrorString $(patsubst %,cudnnBackend%,CreateDescriptor DestroyDescriptor SetAttribute Finalize)) \
                 -L$(CUDA)/lib64 $(LINK_CUDNN) -Wl,-rpath=$(CUDA)/lib64
$(BUILD)/tests/emulation/%.cu.o: kernels/cuda/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CXX   $<")
	$(Q)$(CXX) -x c++ $(CXX_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/tests/emulation/%.o: tests/emulation/%.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CXX   $<")
	$(Q)$(CXX) $(CXX_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/tests/emulation/libmc-cuda.so: $(EMULATED_OBJ) $(filter-out %.cu.o,$(CUDA_OBJ)) $(CUDA_COMMON) \
                                        kernels/cuda/exports.map
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CXX) $(EMULATED_SANITIZE) -shared $(filter %.o,$^) -o $@ -Wl,--version-script=kernels/cuda/exports.map \
		-Wl,--no-undefined -lm $(EMULATED_LIBS)

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/bin/mc-%: $(BUILD)/tools/mc-%.o $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(HARDEN_LINK) $(LDFLAGS) $(LIBS) -o $@

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(HARDEN_LINK) $(LDFLAGS) -lcmocka $(LIBS) -o $@

# preloaded by tests in which allocations fail: by nothing that it would have to allocate for
$(BUILD)/tests/memory/failing.so: tests/memory/failing.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fopenmp -fsanitize%,$(ALL_CFLAGS)) -shared $< -o $@

# libFuzzer brings a main; where the compiler has none, this one runs the inputs that are named.
FUZZ_MAIN ?= $(BUILD)/tests/fuzz/replay.o
$(FUZZER): $(patsubst %,$(BUILD)/tests/fuzz/%.o,fuzz archives images streams texts) $(FUZZ_MAIN) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(LDFLAGS) $(LIBS) -o $@

$(BUILD)/share/mc/%: tools/plot/%
	@mkdir -p $(@D)
	@cp $< $@

$(BUILD)/man/%.1: $(BUILD)/bin/%
	@mkdir -p $(@D)
	$(if $(V),,@echo "  MAN   $@")
	$(Q)pipelines/setup/man.sh $< > $@

# keep objects of the pattern chains, so that a second make does nothing
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

.PHONY: all demo check check-slurm sanitize valgrind bench tune gpu-check gpu-memcheck gpu-tune gpu-bench gpu-pack fuzz torture results man install format clean help \
        programs-of-tests fuzzer always no-cudnn

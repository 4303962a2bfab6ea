# SPDX-License-Identifier: Apache-2.0
#
# make            build everything into build/
# make demo       install missing packages, build, align and connect two networks, and draw the paths
# make check      run every test
# make help       list the other goals (V=1 with any goal prints every command)
#
# kernels/cuda/cuda.mk builds the CUDA backend. tests/tests.mk builds the tests and has the goals that run them.

comma   := ,
unexport $(shell sed -n 's/^unset //p' pipelines/include/environment.sh)
BUILD   ?= build
PREFIX  ?= /usr/local
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' formats/python/mcz/__init__.py)
# --version of a build between releases names its commit. What programs write does not.
COMMIT  := $(shell export GIT_CEILING_DIRECTORIES="$$(dirname "$$PWD")"; \
	[ "$$(git describe --tags --exact-match --match v$(VERSION) --dirty 2>&-)" = v$(VERSION) ] || git describe --always --dirty --exclude '*' 2>&-)
# the Python of mc-plot: Debian's, which has Debian's matplotlib
PYTHON3 := $(or $(wildcard /usr/bin/python3),$(shell command -v python3))

WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat-security -Werror
CFLAGS  ?= -O2 -g
# Hardening limits the harm of a bug in a reader of untrusted files; HARDEN= disables it. _FORTIFY_SOURCE requires
# optimisation, and it hides errors from the sanitizers.
USER_CFLAGS := $(CFLAGS) $(EXTRA_CFLAGS)
FORTIFY := $(if $(findstring -fsanitize,$(USER_CFLAGS)),,$(if $(filter-out -O0,$(lastword $(filter -O%,$(USER_CFLAGS)))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
HARDEN  ?= -fstack-protector-strong -fstack-clash-protection $(FORTIFY)
HARDEN_LINK := $(if $(HARDEN),-pie -Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now$(comma)-z$(comma)noexecstack)
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -DMC_VERSION='"$(VERSION)"' $(WARN) -fopenmp -fPIC \
              -I. $(HARDEN) $(CFLAGS) $(EXTRA_CFLAGS)
LIBS    := -Wl,--as-needed -ldnnl -llapacke -lblas -lmsgpackc -lzstd -lxxhash -ljansson -lzip -lturbojpeg -lpng -lz -lm

# A checksum of the headers that a backend's library shares with the programs. A program does not load a library that was
# built from other headers.
INTERFACE := $(shell cat $$($(CC) -MM -I. kernels/abi.h 2>/dev/null | tr -d '\\\n' | cut -d: -f2) | cksum | cut -d' ' -f1)u

LIB_SRC  := $(sort $(filter-out kernels/cuda/%,$(shell find libcommon kernels formats tools/*/ -name '*.c')))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
LIB      := $(BUILD)/libmc.a
NAMES    := $(sort $(basename $(notdir $(wildcard tools/mc-*))))
TOOLS    := $(NAMES:%=$(BUILD)/bin/%)
MAN      := $(NAMES:%=$(BUILD)/man/%.1)
PACKAGES := pipelines/setup/install-packages.sh
Q        := $(if $(V),,@)
# Each build uses all cores, unless the user sets -j.
SUBMAKE   = $(MAKE) --no-print-directory $(if $(filter -j%,$(MFLAGS)),,-j$(shell nproc))
HERE      = build=$$(cd $(BUILD) && pwd) && MC_ROOT="$$PWD" MC_BUILD="$$build" PATH="$$build/bin:$$PATH"

timed     = start=$$(date +%s) && $(2) && echo "demo: $(1) took $$(($$(date +%s) - start)) s"

# The compile and link command. The file $(BUILD)/flags records it, so that everything is rebuilt when it changes.
FLAGS   := $(CC) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) $(LIBS)

all: $(TOOLS) ## build the programs into $(BUILD)/bin

include kernels/cuda/cuda.mk tests/tests.mk

# NVCC=: the demo does not need the CUDA backend, which is half of the build's time.
demo: ## install missing packages, build, align and connect two networks, draw the paths
	$(Q)$(call timed,packages,$(PACKAGES))
	+$(Q)$(call timed,build,$(SUBMAKE) NVCC= all)
	$(Q)$(call timed,run,$(HERE) pipelines/demo.sh)

check: ## run every test, or those whose path contains a word (ONLY=word); ends with "N passed, N failed"
	@MC_ROOT="$$PWD" tests/layers.sh
	$(PACKAGES)
	+$(SUBMAKE) all programs-of-tests man
	@tests/run $(BUILD)

results: ## make docs/results/ from pipelines/paper/results/
	@pipelines/paper/pages.py results docs/results

reference: $(TOOLS) $(BUILD)/tests/reference/ops ## make docs/reference/ from --help and docstrings, and ops.json and graph.md's tables from the C code
	@pipelines/setup/reference.sh $(sort $(TOOLS)) > $(BUILD)/programs.md && cp $(BUILD)/programs.md docs/reference/
	@pipelines/setup/reference_python.py > $(BUILD)/python.md && cp $(BUILD)/python.md docs/reference/
	@$(BUILD)/tests/reference/ops > $(BUILD)/ops.json && cp $(BUILD)/ops.json formats/python/mcz/
	@pipelines/setup/reference_graph.py > $(BUILD)/graph.md && cp $(BUILD)/graph.md formats/codecs/

notebook: all ## execute docs/notebooks/align.py into align.ipynb; PYTHON needs PyTorch, matplotlib, nbclient, ipykernel
	@$(HERE) PYTHONPATH="$$PWD/formats/python" && export MC_ROOT PATH PYTHONPATH && $(or $(PYTHON),python3) pipelines/setup/notebook.py docs/notebooks/align.py

man: $(MAN) ## make man pages from the programs' --help

install: all man ## install programs, man pages, completion and scripts into $(DESTDIR)$(PREFIX)
	to="$(DESTDIR)$(PREFIX)" && share="$$to/share/mc" && completions="$$to/share/bash-completion/completions" && \
	zsh="$$to/share/zsh/site-functions" && fish="$$to/share/fish/vendor_completions.d" && \
	install -d "$$to/bin" "$$share" "$$to/share/man/man1" "$$completions" "$$zsh" "$$fish" && \
	install $(TOOLS) "$$to/bin" && \
	$(if $(CUDA_LIB),install -d "$$to/lib/mc" && install $(CUDA_LIB) "$$to/lib/mc" &&) \
	install -m 644 $(MAN) "$$to/share/man/man1" && \
	install -m 644 $(wildcard formats/exchange/maps/*.map formats/samples/*.json) "$$share" && \
	install formats/python/example_assign.py "$$share" && \
	share=$$(cd "$$share" && pwd) && (cd pipelines && \
		find . -type f ! -path '*/published/*' ! -name '*.pyc' ! -name build_wheel.py -exec cp --parents -t "$$share" {} +) && \
	(cd formats/python && find mcz -type f ! -name '*.pyc' -exec install -D -m 644 {} "$$share/{}" \;) && \
	for n in $(NAMES); do ln -sfn ../../mc/setup/completion.bash "$$completions/$$n" && \
		pipelines/setup/completion.py zsh $(BUILD)/bin/$$n > "$$zsh/_$$n" && \
		pipelines/setup/completion.py fish $(BUILD)/bin/$$n > "$$fish/$$n.fish" || exit; done

# The programs find their libraries relative to themselves. RPATH, unlike RUNPATH, also applies to libraries of libraries.
# Without build ids and symbols, programs do not depend on the folder of the build. pip installs mcz as a package and
# writes the script of mc-plot.
WHEELS ?= $(BUILD)-wheel
wheel: ## make a file that pip installs without compiler or root: programs, libraries, Python package (WHEELS=FOLDER)
	$(PACKAGES)
	rm -rf $(BUILD)-wheel/stage
	+$(SUBMAKE) BUILD=$(BUILD)-wheel NVCC= PREFIX=/usr DESTDIR=$(BUILD)-wheel/stage \
		LDFLAGS='-Wl,-rpath,\$$$$ORIGIN/../lib/mc -Wl,--disable-new-dtags -Wl,--build-id=none' install
	rm -r $(BUILD)-wheel/stage/usr/share/mc/mcz $(BUILD)-wheel/stage/usr/bin/mc-plot
	strip $(filter-out %/mc-align %/mc-plot,$(TOOLS:$(BUILD)/%=$(BUILD)-wheel/stage/usr/%))
	pipelines/setup/build_wheel.py $(BUILD)-wheel/stage "$(WHEELS)"

lint: ## run clang-format, shellcheck, cppcheck, ruff and mypy; one line if they find nothing
	@$(PACKAGES) clang-format shellcheck cppcheck
	@tests/lint

format: ## run clang-format on every C, CUDA and C++ file, and ruff on the Python package
	clang-format -i $(shell git ls-files '*.[ch]' '*.cu' '*.cuh' '*.cc')
	PATH=$$PWD/build/lint/bin:$$PATH ruff format --quiet formats/python pipelines/setup/build_wheel.py

clean: ## remove all builds
	rm -rf $(BUILD) $(BUILD)-wheel build-sanitize build-fuzz build-tsan build-coverage

help: ## list the goals
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(filter-out %.d,$(MAKEFILE_LIST)) | \
		sed 's,$$(BUILD),$(BUILD),; s,$$(DESTDIR)$$(PREFIX),$(DESTDIR)$(PREFIX),'

define RECORD_FLAGS
@mkdir -p $(@D)
@printf '%s\n' "$$FLAGS_NOW" | cmp -s - $@ || printf '%s\n' "$$FLAGS_NOW" >$@
endef
$(BUILD)/flags: export FLAGS_NOW = $(FLAGS)
$(BUILD)/commit: export FLAGS_NOW = $(COMMIT)
$(BUILD)/flags $(BUILD)/commit: always
	$(RECORD_FLAGS)
$(BUILD)/tools/cli/parse.o: $(BUILD)/commit
$(BUILD)/tools/cli/parse.o: ALL_CFLAGS += $(if $(COMMIT),-DMC_COMMIT='"$(COMMIT)"')

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The CPU kernels are compiled once per instruction set and selected at run time. They and the products of weights may use
# fused multiply-adds, but no other liberty of -ffast-math.
$(BUILD)/kernels/cpu/isa_%.o $(BUILD)/tools/align/products.o: ALL_CFLAGS += -O3 -ffp-contract=fast -Wno-psabi
ifeq ($(shell uname -m),x86_64)
$(BUILD)/kernels/cpu/isa_avx512.o: ALL_CFLAGS += -march=x86-64-v4 -mprefer-vector-width=512
$(BUILD)/kernels/cpu/isa_avx2.o: ALL_CFLAGS += -march=x86-64-v3
# gcc 12 loads pairs of int32 through MMX registers, which breaks the sums in long double that follow.
$(BUILD)/libcommon/assign/assign.o: ALL_CFLAGS += -mno-mmx
endif

# Loops of linear assignment and over all values of a network: gcc vectorises them well only with -O3. clang warns of
# minima of float64, which it does not vectorise.
$(BUILD)/libcommon/assign/assign.o: ALL_CFLAGS += -O3 -Wno-pass-failed
$(BUILD)/libcommon/base/narrow.o $(BUILD)/libcommon/base/planes.o $(BUILD)/formats/network/combine.o: ALL_CFLAGS += -O3

# Embed tables in programs, each as one C string.
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
$(BUILD)/kernels/cpu/algorithms.o: ALL_CFLAGS += -I$(@D)
$(BUILD)/kernels/open/open.o: ALL_CFLAGS += -DMC_BACKEND_INTERFACE=$(INTERFACE)

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/bin/mc-%: $(BUILD)/tools/mc-%.o $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(HARDEN_LINK) $(LDFLAGS) $(LIBS) -o $@

$(BUILD)/bin/mc-align: tools/mc-align.sh
	@mkdir -p $(@D)
	$(Q)install $< $@

# It finds the Python package in ../share/mc.
$(BUILD)/bin/mc-plot: tools/mc-plot.py Makefile
	@mkdir -p $(@D) $(BUILD)/share/mc
	@ln -sfn "$$PWD/formats/python/mcz" $(BUILD)/share/mc/mcz
	$(Q)sed '1s|.*|#!$(PYTHON3)|' $< > $@ && chmod +x $@

$(BUILD)/man/%.1: $(BUILD)/bin/%
	@mkdir -p $(@D)
	$(if $(V),,@echo "  MAN   $@")
	$(Q)pipelines/setup/man.sh $< > $@

# Keep the objects of chained pattern rules, so that a second make does nothing.
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

.PHONY: all demo check results reference notebook man install wheel lint format clean help always

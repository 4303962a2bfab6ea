# SPDX-License-Identifier: Apache-2.0
#
# How the graphs work. Settings reach recipes as environment variables: "$$NAME". $(call settings,STAGE,NAMES)
# is a file that changes when one of these settings does. A pair A:B has the folder OUT/A-B. In a recipe for a
# file in it, $(a) and $(b) are its two networks and $(@D) is the folder.
here  := $(patsubst %include/machinery.mk,%,$(lastword $(MAKEFILE_LIST)))
files-read := $(filter-out $(MAKEFILES),$(MAKEFILE_LIST)) $(here)include/settings.mk
space := $() $()
comma := ,
include $(here)include/settings.mk
names := $(shell sed -nE 's/^([A-Z][A-Z0-9_]*) *\?=.*/\1/p' $(files-read))
export $(names)
export PATH := $(if $(BIN),$(abspath $(BIN)):)$(PATH)
export LC_ALL := C.UTF-8# as in environment.sh
unexport CDPATH POSIXLY_CORRECT
override SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: all cost help start always shared pair
options := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
dry-run := $(findstring n,$(options))
$(if $(findstring i,$(options)),$(error make -i ignores failures: use -k))
given   := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(v)))),$(v)))
define newline


endef
quote    = '$(subst $(newline), ,$(subst ','\'',$(1)))'
values   = $(foreach n,$(1),$(n)=$(call quote,$($(n))))# for $(shell), which does not see exported variables
ifeq ($(filter help,$(MAKECMDGOALS)),)
$(shell $(call values,$(names) PATH) $(here)include/check-settings $(files-read) -- $(given) $(dry-run:n=-n))
$(if $(filter-out 0,$(.SHELLSTATUS)),$(error settings of $(firstword $(files-read)) are wrong))
endif

override OUT  := $(patsubst %/,%,$(patsubst ~/%,$(HOME)/%,$(OUT)))
override FROM := $(patsubst %/,%,$(patsubst ~/%,$(HOME)/%,$(FROM)))
variants ?= unaligned aligned
paths := $(foreach v,$(variants),line-$(v) curve-$(v))
pairs := $(addprefix $(OUT)/,$(subst :,-,$(PAIRS)))
seeds := $(sort $(subst :, ,$(PAIRS)))
nets  := $(seeds:%=$(OUT)/net-%.mcz)
# what a make of net-SEED or pair works on
unit  := $(strip $(filter net-%,$(MAKECMDGOALS)) $(if $(filter pair,$(MAKECMDGOALS)),$(notdir $(pairs))))
where := $(if $(unit),,$(OUT)) $(pairs)#              folders of tables: of all pairs, and of each
of     = $(if $(filter $(OUT),$(@D)),$(pairs),$(@D))# folders of the pairs in a table
each   = $(foreach f,$(1),$(pairs:%=%/$(f)))#         these files of each pair
seed-a = $(firstword $(subst -, ,$(notdir $(@D))))
a      = $(OUT)/net-$(seed-a).mcz
b      = $(OUT)/net-$(lastword $(subst -, ,$(notdir $(@D)))).mcz
# the second end of the path line-V or curve-V
second = $(if $(filter line-unaligned curve-unaligned,$(1)),$(b),$(permuted))
permuted = $(@D)/$(patsubst curve-%,b-%,$(1:line-%=b-%)).mcz
device := --threads "$$THREADS" --device "$$DEVICE" --precision "$$PRECISION"
whole   = > $@.part && mv $@.part $@#                 a table that a kill leaves whole or not at all
begin   = @$(here)include/begin $@ $^
resume  = $(MESSAGES) --checkpoint $(@:.mcz=.checkpoint) --resume --log-json $(@:.mcz=.log.json)
made    = @rm -f $(foreach f,$(filter $(OUT)/.settings/%,$^),$(f)~ $(f)~results)# see include/settings
trained = $(made) $(@:.mcz=.checkpoint)
had     = $(if $(unmade),$(1),$(patsubst $(FROM)/%,$(OUT)/%,$(wildcard $(patsubst $(OUT)/%,$(FROM)/%,$(1)))))
of-seed = $(filter $(or $(CURVE_SEED:%=$(OUT)/%-%),$(OUT)/%),$(1))
taken  := $(if $(FROM),$(nets) $(call had,$(OUT)/train.mcz $(OUT)/test.mcz $(call each,permutation.mcz) \
              $(call of-seed,$(call each,$(variants:%=curve-%.mcz)))))
# goals that work side by side share these files, so that none of them makes one
common := $(if $(unit),$(OUT)/train.mcz $(OUT)/test.mcz $(if $(filter pair,$(MAKECMDGOALS)),$(nets)))
shared  = $(if $(filter $@,$(common)),@echo '$@ is missing or of other settings: make shared' >&2; exit 1)

all:
help: ; @$(here)include/check-settings --help $(files-read)
cost:
	@commands=$$($(MAKE) --no-print-directory -n -f $(firstword $(files-read)) all) && \
	$(here)include/cost <<< "$$commands"
start:
	@mkdir -p $(pairs) && $(here)include/one-make $$PPID $(OUT) $(unit)
ifeq ($(dry-run),)
settings = $(eval $(OUT)/.settings/$(1): export names := $(2))$(OUT)/.settings/$(1)
$(OUT)/.settings/%: always | start
	@$(here)include/settings $@ $$names
else
# files that an earlier run of a dry run would make
$(taken:$(OUT)/%=$(FROM)/%): ;
settings = $(shell $(call values,$(2)) $(here)include/settings -n $(call quote,$(OUT)/.settings/$(1)) $(2))
# with the settings the commands can be read, and run
$(foreach n,$(names),$(info export $(n)=$(call quote,$($(n)))))
endif
shared: $(OUT)/train.mcz $(OUT)/test.mcz $(nets)
pair: all
$(seeds:%=net-%): net-%: $(OUT)/net-%.mcz
$(taken): $(OUT)/%: $(FROM)/% | start
	$(shared)
	mkdir -p $(@D) && cp -p $< $@.part && mv $@.part $@
	@[ ! -e $(<:.mcz=.log.json) ] || cp -p $(<:.mcz=.log.json) $(@D)

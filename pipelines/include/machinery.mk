# SPDX-License-Identifier: Apache-2.0
#
# How the experiments work. $(call settings,STAGE,NAMES) is a file that changes when one of these settings
# does. Each network and each pair has its own, so pairs with different settings can be made in one OUT.
# $(call arg,$(NAME)) is a setting as one word of a command, whatever its characters. A pair A:B has the
# folder OUT/A-B. In a recipe for a file in it, $(a) and $(b) are its two networks and $(@D) is the folder.
# V=1 prints the commands.
ifeq ($(as-given),)
include $(dir $(lastword $(MAKEFILE_LIST)))remembered.mk
endif
files-read := $(filter-out $(MAKEFILES),$(MAKEFILE_LIST)) $(here)include/settings.mk
comma := ,
$(if $(filter-out $(wildcard $(files-read)),$(files-read)),$(error the path must not contain spaces))
$(if $(filter SEEDS,$(given)),,$(if $(remembered-PAIRS),$(eval PAIRS ?= $$(remembered-PAIRS))))
include $(here)include/settings.mk
names := $(shell LC_ALL=C sed -nE 's/^([A-Z][A-Z0-9_]*) *\?=.*/\1/p' $(files-read))
export $(names)
export PATH := $(if $(BIN),$(abspath $(BIN)):)$(PATH)
export LC_ALL := C.UTF-8# as in environment.sh
unexport CDPATH POSIXLY_CORRECT
override SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: all cost help always shared pair report confirm
options := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
dry-run := $(findstring n,$(options))
export QUIET := $(findstring s,$(options))
$(if $(findstring i,$(options)),$(error make -i ignores failures: use -k))
from-command-line := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(v)))),$(v)))
quote    = '$(subst $(newline), ,$(subst ','\'',$(1)))'
special := ' " ` \ ; & | < > ( ) * ? [ ] { } ! ~ \# $$
unsafe   = $(if $(findstring $(space),$(1)),yes)$(foreach c,$(special),$(findstring $(c),$(1)))
arg      = $(if $(if $(1),$(strip $(unsafe)),''),$(call quote,$(1)),$(1))
values   = $(foreach n,$(1),$(n)=$(call quote,$($(n))))# for $(shell), which does not see exported variables
# CHECKED is OUT if paper.mk has checked the settings
ifeq ($(filter help,$(MAKECMDGOALS))$(filter $(OUT),$(CHECKED)),)
$(shell $(call values,$(names) PATH OWN_ALIGNMENT) $(here)include/check-settings $(files-read) -- \
    $(from-command-line) $(dry-run:n=-n))
$(if $(filter-out 0,$(.SHELLSTATUS)),$(error invalid settings of $(firstword $(files-read))))
endif

override OUT  := $(patsubst ./%,%,$(patsubst %/,%,$(patsubst ~/%,$(HOME)/%,$(OUT))))
override FROM := $(patsubst ./%,%,$(patsubst %/,%,$(patsubst ~/%,$(HOME)/%,$(FROM))))
include $(here)include/names.mk
# lock OUT before make looks at any result
ifeq ($(dry-run)$(filter cost help,$(MAKECMDGOALS)),)
start := $(shell date +%s)
export JOBS := $(shell mkdir -p $(pairs) && $(here)include/one-make $$PPID $(OUT) $(unit))
$(if $(filter-out 0,$(.SHELLSTATUS)),$(error OUT=$(OUT) cannot be locked))
endif

# the prerequisites of all are the results
report: all
report := $(filter report,$(MAKECMDGOALS))
$(if $(and $(report),$(unit)),$(error report shows all pairs: run it without pair or net-SEED))
all:
	$(if $(report),@$(here)tables/report $(files-read) -- $^ > $(OUT)/report.html.part && \
	    mv $(OUT)/report.html.part $(OUT)/report.html)
	@$(here)include/finished $(OUT) $(start) $^
ifeq ($(V),)
.SILENT:
endif
help: ; @$(here)include/check-settings --help $(files-read)
cost:
	@commands=$$($(MAKE) --no-print-directory -n -f $(firstword $(files-read)) OUT=$(OUT) \
	    CHECKED=$(OUT) OWN_ALIGNMENT='$(OWN_ALIGNMENT)' all) && \
	$(here)include/cost <<< "$$commands"

# Before any work, a dry run finds what would be lost. LOSSES=yes: other files may hold the same data.
remembered = $(filter-out OUT RUN RUN_LIGHT BIN MESSAGES RATES CHANGE PAIRS SEEDS, \
                 $(filter $(given) $(loaded),$(names))) $(if $(unit),,$(or $(remember-seeds),PAIRS))
overridden = $(foreach n,$(as-given),$(if $(filter override,$(origin $(n))), \
                 $(1)$(n)=$(call quote,$(given-$(n)))))
$(OUT)/train.mcz $(OUT)/test.mcz $(copied): | confirm
own-settings = $(OUT)/.settings$(if $(filter $(nets),$@),/$(basename $(@F)),$(@D:$(OUT)%=%))
ignored  = $(LOSSES:yes=DATA_DIR=% DATA_FILES=%)
words-of = $(filter-out $(ignored),$(subst $(newline), ,$(1)))
own-words  = $(call words-of,$(foreach n,$(1),$(subst $(space),␣,$(n)=$($(n)))))
file-words = $(call words-of,$(subst $(space),␣,$(file <$(1))))
if-same  = $(if $(subst <$(file-words)>,,<$(call own-words,$(2))>),always,$(1))
ifeq ($(dry-run),)
taken := $(if $(QUIET)$(filter cost help,$(MAKECMDGOALS)),,$(filter $(names),$(loaded)))
$(if $(taken),$(info Settings of $(OUT)/settings: $(call values,$(taken))))
confirm:
	+@$(overridden) $(MAKE) --no-print-directory -nf $(firstword $(files-read)) OUT=$(OUT) CHECKED=$(OUT) \
	    LOSSES=yes OWN_ALIGNMENT='$(OWN_ALIGNMENT)' \
	    $(if $(unit),$(MAKECMDGOALS),all $(filter-out all report,$(MAKECMDGOALS))) | \
	    $(call overridden,given_) $(here)include/confirm $(OUT) $(remembered)
settings = $(eval names-$(1) := $(2))$$(own-settings)/$(1)
$(OUT)/.settings/%: $$(filter always,$$(call if-same,$$@,$$(names-$$(@F)))) | confirm
	@$(here)include/settings $@ $(names-$(@F))
else
confirm: ;
# in a dry run, files of FROM that another experiment has yet to make
$(copied:$(OUT)/%=$(FROM)/%): ;
settings = $$(call if-same,$$(own-settings)/$(1),$(2))
# print the settings, so that the printed commands can be run
$(foreach n,$(names),$(info export $(n)=$(call quote,$($(n)))))
endif
shared: $(OUT)/train.mcz $(OUT)/test.mcz $(nets)
pair: all
$(seeds:%=net-%): net-%: $(OUT)/net-%.mcz
$(copied): $(OUT)/%: $(FROM)/% $(call settings,from,FROM)
	$(begin)
	@mkdir -p $(@D)
	@from=$(<:.mcz=.log.json) to=$(@:.mcz=.log.json); \
	[ ! -e $$from ] || { cp $$from $$to.part && mv $$to.part $$to; }
	cp $< $@.part && mv $@.part $@

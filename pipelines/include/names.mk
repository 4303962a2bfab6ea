# SPDX-License-Identifier: Apache-2.0
#
# Variables for rules and recipes: the files of each pair, and in a recipe for a pair's file its two networks.
variants ?= unaligned aligned
paths := $(foreach v,$(variants),line-$(v) curve-$(v))
pairs := $(addprefix $(OUT)/,$(subst :,-,$(PAIRS)))
seeds := $(sort $(subst :, ,$(PAIRS)))
nets  := $(seeds:%=$(OUT)/net-%.mcz)
# the networks or pairs that a make of net-SEED or pair is limited to
unit  := $(strip $(filter net-%,$(MAKECMDGOALS)) $(if $(filter pair,$(MAKECMDGOALS)),$(notdir $(pairs))))
folders := $(if $(unit),,$(OUT)) $(pairs)#            folders of tables: OUT for all pairs, and one per pair
members  = $(if $(filter $(OUT),$(@D)),$(pairs),$(@D))# folders of the pairs in a table
each   = $(foreach f,$(1),$(pairs:%=%/$(f)))#         these files of each pair
seed-a = $(firstword $(subst -, ,$(notdir $(@D))))
a      = $(OUT)/net-$(seed-a).mcz
b      = $(OUT)/net-$(lastword $(subst -, ,$(notdir $(@D)))).mcz
# the second end of the path line-V or curve-V
second = $(if $(filter line-unaligned curve-unaligned,$(1)),$(b),$(permuted))
permuted = $(@D)/$(patsubst curve-%,b-%,$(1:line-%=b-%)).mcz
device := --threads $(THREADS) --device $(DEVICE) --precision $(PRECISION)
whole   = > $@.part && mv $@.part $@#                 standard output becomes the target only when complete
begin   = $(if $(filter $@,$(common)),@echo '$@ is missing or has other settings: make shared' >&2; exit 1, \
              @$(here)include/begin $@ $^)
resume  = $(MESSAGES) --checkpoint $(@:.mcz=.checkpoint) --resume --log-json $(@:.mcz=.log.json)
finish  = @rm -f $(basename $@).checkpoint
# files that FROM has; all of them in a dry run before FROM exists
no-from := $(if $(dry-run),$(if $(wildcard $(FROM)/.),,$(FROM)))
in-from  = $(if $(no-from),$(1),$(patsubst $(FROM)/%,$(OUT)/%,$(wildcard $(1:$(OUT)/%=$(FROM)/%))))
of-seed = $(filter $(or $(CURVE_SEED:%=$(OUT)/%-%),$(OUT)/%),$(1))
curves-from := $(patsubst %,curve-%.mcz,$(filter unaligned aligned pam-%,$(variants)))
copied := $(if $(FROM),$(nets) $(call in-from,$(OUT)/train.mcz $(OUT)/test.mcz $(call each,permutation.mcz) \
              $(call of-seed,$(call each,$(curves-from)))))
aligned := %/permutation.mcz %/curve-aligned.mcz %/curve-pam-aligned.mcz
copied  := $(filter-out $(if $(OWN_ALIGNMENT),$(aligned)),$(copied))
# net-SEED and pair must not make the files that they share, because they may run at the same time
common := $(if $(unit),$(OUT)/train.mcz $(OUT)/test.mcz $(if $(filter pair,$(MAKECMDGOALS)),$(nets)))

# SPDX-License-Identifier: Apache-2.0
#
# Names for rules and recipes: the files of each pair, and in a recipe for a pair's file its two networks.
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
# ends what begin began: see include/settings
made    = @rm -f $(foreach f,$(filter $(OUT)/.settings/%,$^),$(f)~ $(f)~results) $(kept:%=$(basename $@).%~)
kept   := log.json summary.tsv marks.tsv
trained = $(made) $(@:.mcz=.checkpoint)
# make -n may run before FROM is made
unmade := $(if $(dry-run),$(if $(wildcard $(FROM)/.),,$(FROM)))
had     = $(if $(unmade),$(1),$(patsubst $(FROM)/%,$(OUT)/%,$(wildcard $(1:$(OUT)/%=$(FROM)/%))))
of-seed = $(filter $(or $(CURVE_SEED:%=$(OUT)/%-%),$(OUT)/%),$(1))
curves-from := $(patsubst %,curve-%.mcz,$(filter unaligned aligned pam-%,$(variants)))
taken  := $(if $(FROM),$(nets) $(call had,$(OUT)/train.mcz $(OUT)/test.mcz $(call each,permutation.mcz) \
              $(call of-seed,$(call each,$(curves-from)))))
# goals that work side by side share these files, so that none of them makes one
common := $(if $(unit),$(OUT)/train.mcz $(OUT)/test.mcz $(if $(filter pair,$(MAKECMDGOALS)),$(nets)))
shared  = $(if $(filter $@,$(common)),@echo '$@ is missing or of other settings: make shared' >&2; exit 1)

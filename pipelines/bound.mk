# SPDX-License-Identifier: Apache-2.0
#
# The bound of the paper's theorem 3.1 on the barrier of straight lines, for several ways to align, and the
# barrier itself. For an mlp without batch norm.
#
#   make -f pipelines/bound.mk DATA=cifar10 DATA_DIR=~/data EPOCHS=20 SCHEDULE=onecycle LR=0.02 OUT=out
#
# OUT/A-B/ has bound.tsv with a row per way, and ranks.tsv with the ranks of the ways by bound and by barrier.
# OUT/ has the same for all pairs.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
NET ?= mlp:256,256#     an mlp without batch norm
include $(here)include/ways.mk
$(if $(filter mlp:bn%,$(NET))$(filter-out mlp mlp:% %.json,$(NET)),$(error NET must be an mlp without batch \
    norm, such as mlp:256,256 (got '$(NET)')))

all: $(foreach f,bound.tsv ranks.tsv,$(folders:%=%/$(f)))
way = $(patsubst bound-%.tsv,%,$(patsubst barrier-%.tsv,%,$(@F)))
by  = $(if $(filter unaligned,$(way)),,$(@D)/permutation$(patsubst %-aligned,%,-$(way)).mcz)
bound-deps := $(call settings,bound,POINTS $(compute))
$(call each,$(variants:%=bound-%.tsv)): $$(a) $$(b) $$(@D)/moments-pre.mcz $$(by) $(bound-deps)
	$(begin)
	$(RUN) mc-bound --points $(POINTS) $(filter %.mcz,$^) -o $@
$(call each,$(variants:%=barrier-%.tsv)): $$(@D)/line-$$(way).mcz $(OUT)/train.mcz $$(@D)/moments-pre.mcz \
    $(bound-deps)
	$(begin)
	$(RUN) mc-eval --data train=$(OUT)/train.mcz --samples \
	    $$(mc-info --json $(@D)/moments-pre.mcz | sed 's/.*"images":\([0-9]*\).*/\1/') \
	    --points $(POINTS) $(device) --summary $(@:.tsv=.summary.tsv) $< -o $@

bounds = $(call files,$(variants:%=bound-%.tsv))
$(folders:%=%/bound.tsv) $(folders:%=%/ranks.tsv): $$(bounds) $$(call files,$(variants:%=barrier-%.tsv))
	$(begin)
	$(call table,$(basename $(@F))) $(bounds) $(whole)
$(OUT)/bound.tsv $(OUT)/ranks.tsv: $(all-pairs)

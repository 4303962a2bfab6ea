# SPDX-License-Identifier: Apache-2.0
#
# The bound of the paper's theorem 3.1 beside what it bounds: how far the loss can rise along the straight line
# between the ends (mc-bound), and how far it does (mc-eval), on the images that the moments count, in evaluation
# mode: to the second end as it was trained (unaligned), and in the ways to align of measures.mk.
#
#   make -f pipelines/bound.mk DATA=cifar10 DATA_DIR=~/data NET=mlp:256,256 PAIRS="1:2 3:4 5:6" \
#        EPOCHS=5 SCHEDULE=onecycle LR=0.02 OUT=out
#
# It is for mlp without batch norm. Settings, and how results are kept, resumed and shared, are those of
# connect.mk. What a pair gives lies in OUT/A-B: bound.tsv has the maximum and the mean of the bound and of the
# loss over the line between the ends' losses; OUT/bound.tsv mean and deviation over the pairs. ranks.tsv says
# whether the bound orders the ways as the measured loss does: both orders, the least first, and how many couples
# of ways are ordered alike.
NET ?= mlp:256,256#     an mlp without batch norm
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))ways.mk),$(error no ways.mk beside this graph, or a blank in the path to it))

ifneq ($(if $(filter help,$(MAKECMDGOALS)),,$(filter mlp:bn%,$(NET))$(filter-out mlp mlp:% %.json,$(NET))),)
$(error NET="$(NET)": the bound is for mlp without batch norm, mlp:256,256)
endif

all: $(foreach where,$(everywhere),$(where)/bound.tsv $(where)/ranks.tsv)

# ---- the bound, and the loss along the line --------------------------------------------------------
bound_set = $(strip $(POINTS) points)
$(call made-with,bound,$(call each,$(foreach v,$(variants),bound-$(v).tsv barrier-$(v).tsv)))
way = $(patsubst bound-%.tsv,%,$(patsubst barrier-%.tsv,%,$(@F)))
# the permutation of a way
by  = $(if $(filter unaligned,$(way)),,$(@D)/permutation$(if $(filter aligned,$(way)),,-$(way)).mcz)

$(call each,$(variants:%=bound-%.tsv)): $$(@D)/moments-pre.mcz $$(by) $$(a) $$(b)
	$(RUN) mc-bound --points $(POINTS) $(a) $(b) $< $(by) -o $@
	$(call keep,bound)
$(call each,$(variants:%=barrier-%.tsv)): $(OUT)/train.mcz $$(@D)/line-$$(way).mcz $$(@D)/moments-pre.mcz
	$(RUN) mc-eval --data train=$< --samples \
	    $$(mc-info --json $(@D)/moments-pre.mcz | sed 's/.*"images":\([0-9]*\).*/\1/') \
	    --points $(POINTS) $(device) --summary $(@:.tsv=.summary.tsv) $(@D)/line-$(way).mcz -o $@
	$(call keep,bound)

# ---- the tables ------------------------------------------------------------------------------------
bounds = $(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(1) -f $(here)spread.awk -f $(here)bound.awk \
             $(foreach pair,$(of),pair=$(pair) $(foreach v,$(variants),way=$(patsubst aligned,correlation,$(v)) \
             $(OUT)/$(pair)/bound-$(v).tsv $(OUT)/$(pair)/barrier-$(v).summary.tsv)) $(whole)
results = $(call files,$(foreach v,$(variants),bound-$(v).tsv barrier-$(v).tsv)) $(here)spread.awk $(here)bound.awk
$(everywhere:%=%/bound.tsv): $$(results)
	$(call bounds)
$(everywhere:%=%/ranks.tsv): $$(results)
	$(call bounds,-v ranks=1)
$(OUT)/bound.tsv $(OUT)/ranks.tsv: $(OUT)/pairs

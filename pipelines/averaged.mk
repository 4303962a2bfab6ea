# SPDX-License-Identifier: Apache-2.0
#
# The straight lines between the ends, unaligned, aligned by activations (`aligned`) and by the weights alone (`weights`:
# mc-match; Ainsworth et al. 2023), with batch norm's statistics averaged as the weights are, as barriers are given in
# later literature; beside them the same lines with re-estimated statistics.
#
#   make -f pipelines/averaged.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk: networks, alignments and lines that it
# made with the same settings in the same OUT are taken as they are. What a pair gives lies in OUT/A-B: averaged.tsv, rows
# line-V-averaged and line-V; the same of all pairs, mean and deviation, in OUT. EVAL_FLAGS of batch norm have no effect
# on averages.
variants := unaligned aligned weights
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

all: $(everywhere:%=%/averaged.tsv)

averaged    := $(variants:%=line-%-averaged)
bn-less     := $(filter-out --bn-% $(if $(findstring --attack,$(EVAL_FLAGS)),,--seed=%),$(subst --seed ,--seed=,$(subst --bn-samples ,--bn-samples=,$(strip $(EVAL_FLAGS)))))
averaged_set = $(strip $(POINTS) points $(bn-less))
end          = $(if $(findstring -unaligned-,$(@F)),$(b),$(@D)/b-$(patsubst line-%-averaged.tsv,%,$(@F)).mcz)
$(call made-with,averaged,$(call each,$(averaged:=.tsv)))

$(call each,$(averaged:=.tsv)): $(OUT)/train.mcz $(OUT)/test.mcz $$(a) $$(end)
	$(RUN) mc-eval --line --bn average --data $(OUT)/train.mcz --data $(OUT)/test.mcz --points $(POINTS) $(bn-less) \
	    $(device) --summary $(@:.tsv=.summary.tsv) $(a) $(end) -o $@
	$(call keep,averaged)

rows := $(averaged) $(variants:%=line-%)
$(everywhere:%=%/averaged.tsv): $$(call files,$(rows:=.tsv)) $(filter-out -f,$(table))
	$(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(table) $(call files,$(rows:=.summary.tsv)) $(whole)
$(OUT)/averaged.tsv: $(OUT)/pairs

# SPDX-License-Identifier: Apache-2.0
#
# The ways to align compared, as figure 2 of the paper does: the same ends, joined by a curve each: to the second
# end as it was trained (unaligned), and aligned by the correlation of post-activations, the L2 distance of
# post- or of pre-activations, and that of post-activations under the constraint of the paper's appendix C.3; and
# by the weights alone (mc-match; Ainsworth et al. 2023).
#
#   make -f pipelines/measures.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" \
#        EPOCHS=20 CURVE_EPOCHS=10 SCHEDULE=onecycle CURVE_LR=0.03 OUT=out
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk: networks and curves that it
# made with the same settings in the same OUT are taken as they are. What a pair gives lies in OUT/A-B:
# measures.tsv, measures.svg; the same of all pairs, mean and deviation, in OUT. The constrained assignment says
# its multiplier and duality gap a group; where the constraint does not bind (multiplier 0 in each), its row is
# that of l2-post.
more := weights
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))ways.mk),$(error no ways.mk beside this graph, or a blank in the path to it))

all: $(foreach where,$(everywhere),$(addprefix $(where)/measures.,tsv svg png))

# ---- the table and the picture ---------------------------------------------------------------------
label-unaligned   := unaligned
label-aligned     := correlation
label-l2-post     := L2, post-activations
label-l2-pre      := L2, pre-activations
label-constrained := L2, constrained
label-weights     := weights
learned           := $(variants:%=curve-%)

# rows are called by the measure
$(everywhere:%=%/measures.tsv): $$(call files,$(learned:=.tsv)) $(filter-out -f,$(table))
	$(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(table) $(call files,$(learned:=.summary.tsv)) > $@.part
	@sed -i 's/\bcurve-aligned\b/correlation/; s/\bcurve-//' $@.part && mv $@.part $@
$(everywhere:%=%/measures.svg) $(everywhere:%=%/measures.png): $$(call files,$(learned:=.tsv))
	$(RUN_LIGHT) mc-plot path --data test $(title) \
	    $(foreach v,$(variants),'$(label-$(v))=$(call joined,$(call files,curve-$(v).tsv))') -o $@
$(addprefix $(OUT)/measures.,tsv svg png): $(OUT)/pairs

# SPDX-License-Identifier: Apache-2.0
#
# The ways to align compared, as figure 2 of the paper does: the same ends, joined by a curve each: to the second
# end as it was trained (unaligned), and aligned by the correlation of post-activations, the L2 distance of
# post- or of pre-activations, and that of post-activations under the constraint of the paper's appendix C.3.
#
#   make -f pipelines/measures.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" \
#        EPOCHS=20 CURVE_EPOCHS=10 SCHEDULE=onecycle CURVE_LR=0.03 OUT=out
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk: networks and curves that it
# made with the same settings in the same OUT are taken as they are. What a pair gives lies in OUT/A-B:
# measures.tsv, measures.svg; the same of all pairs, mean and deviation, in OUT. The constrained assignment says
# its multiplier and duality gap a group; where the constraint does not bind (multiplier 0 in each), its row is
# that of l2-post.
variants := unaligned aligned l2-post l2-pre constrained
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

ifneq ($(filter --measure% --at%,$(CORR_FLAGS) $(ACTS_FLAGS)),)
$(error CORR_FLAGS, ACTS_FLAGS: --measure and --at are what this graph compares)
endif

all: $(foreach where,$(everywhere),$(addprefix $(where)/measures.,tsv svg png))

# ---- the alignments --------------------------------------------------------------------------------
$(call made-with,align,$(call each,moments-pre.mcz))
$(call made-with,assign,$(call each,$(filter-out permutation-unaligned.mcz permutation-aligned.mcz,\
    $(variants:%=permutation-%.mcz))))

$(call each,moments-pre.mcz): $$(a) $$(b)
	$(RUN) mc-acts --data $(OUT)/train.mcz $(call images,ALIGN_IMAGES) $(ACTS_FLAGS) --at pre $(device) \
	    $(a) $(b) -o $@
	$(call keep,align)
$(call each,matrices-l2-post.mcz): $$(@D)/moments.mcz
	$(RUN) mc-corr --measure l2 $< -o $@
$(call each,matrices-l2-pre.mcz): $$(@D)/moments-pre.mcz
	$(RUN) mc-corr --measure l2 $< -o $@
$(call each,permutation-l2-post.mcz permutation-l2-pre.mcz): $$(@D)/matrices-$$(patsubst permutation-%,%,$$(@F))
	$(RUN) mc-hungarian $(HUNGARIAN_FLAGS) $< -o $@
	$(call keep,assign)
$(call each,permutation-constrained.mcz): $$(@D)/matrices-l2-post.mcz $$(@D)/matrices-l2-pre.mcz
	$(RUN) mc-hungarian $(or $(MESSAGES),-v) $(HUNGARIAN_FLAGS) --constraint $(@D)/matrices-l2-pre.mcz $< -o $@
	$(call keep,assign)

# ---- the table and the picture ---------------------------------------------------------------------
label-unaligned   := unaligned
label-aligned     := correlation
label-l2-post     := L2, post-activations
label-l2-pre      := L2, pre-activations
label-constrained := L2, constrained
learned           := $(variants:%=curve-%)

# rows are called by the measure
$(everywhere:%=%/measures.tsv): $$(call files,$(learned:=.tsv)) $(filter-out -f,$(table))
	$(RUN) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(table) $(call files,$(learned:=.summary.tsv)) > $@.part
	@sed -i 's/\bcurve-aligned\b/correlation/; s/\bcurve-//' $@.part && mv $@.part $@
$(everywhere:%=%/measures.svg) $(everywhere:%=%/measures.png): $$(call files,$(learned:=.tsv))
	$(RUN) mc-plot path --data test $(title) \
	    $(foreach v,$(variants),'$(label-$(v))=$(call joined,$(call files,curve-$(v).tsv))') -o $@
$(addprefix $(OUT)/measures.,tsv svg png): $(OUT)/pairs

# SPDX-License-Identifier: Apache-2.0
#
# The ways to align that measures.mk and bound.mk compare, and how each is made; it includes common.mk. `more`: ways that
# the graph adds and makes.
variants := unaligned aligned l2-post l2-pre constrained $(more)
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

ifneq ($(filter --measure% --at%,$(CORR_FLAGS) $(ACTS_FLAGS)),)
$(error CORR_FLAGS, ACTS_FLAGS: --measure and --at are what this graph compares)
endif

# ---- the alignments --------------------------------------------------------------------------------
$(call made-with,align,$(call each,moments-pre.mcz))
$(call made-with,assign,$(call each,$(patsubst %,permutation-%.mcz,$(filter-out unaligned aligned $(more),$(variants)))))

$(call each,moments-pre.mcz): $$(a) $$(b) | $(OUT)/train.mcz
	$(RUN) mc-acts --data $(OUT)/train.mcz $(call images,ALIGN_IMAGES) $(ACTS_FLAGS) --at pre $(device) \
	    $(a) $(b) -o $@
	$(call keep,align)
$(call each,matrices-l2-post.mcz): $$(@D)/moments.mcz
	$(RUN_LIGHT) mc-corr --measure l2 $< -o $@
$(call each,matrices-l2-pre.mcz): $$(@D)/moments-pre.mcz
	$(RUN_LIGHT) mc-corr --measure l2 $< -o $@
$(call each,permutation-l2-post.mcz permutation-l2-pre.mcz): $$(@D)/matrices-$$(patsubst permutation-%,%,$$(@F))
	$(RUN_LIGHT) mc-hungarian $(HUNGARIAN_FLAGS) $< -o $@
	$(call keep,assign)
$(call each,permutation-constrained.mcz): $$(@D)/matrices-l2-post.mcz $$(@D)/matrices-l2-pre.mcz
	$(RUN_LIGHT) mc-hungarian $(or $(MESSAGES),-v) $(HUNGARIAN_FLAGS) --constraint $(@D)/matrices-l2-pre.mcz $< -o $@
	$(call keep,assign)

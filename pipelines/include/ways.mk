# SPDX-License-Identifier: Apache-2.0
#
# The ways to align that measures.mk and bound.mk compare: correlation (aligned), L2 distance of post- and of
# pre-activations (l2-post, l2-pre), and L2 distance of post-activations under the constraint of the paper's
# appendix C (constrained).
variants := unaligned aligned l2-post l2-pre constrained $(more)
include $(dir $(lastword $(MAKEFILE_LIST)))stages.mk
$(if $(filter --measure --measure=%,$(CORR_FLAGS))$(filter --at --at=%,$(ACTS_FLAGS)),$(error CORR_FLAGS and \
    ACTS_FLAGS must not have --measure or --at, which this experiment compares))

$(call each,moments-pre.mcz): $$(a) $$(b) $(acts-deps) | $(OUT)/train.mcz
	$(begin)
	$(call acts,$(ALIGN_IMAGES:%=--samples %)) --at pre $(a) $(b) -o $@
l2-deps := $(call settings,measure-l2,MEASURE)
$(call each,matrices-l2-post.mcz): %/matrices-l2-post.mcz: %/moments.mcz $(l2-deps)
	$(begin)
	$(RUN_LIGHT) $(MEASURE) --measure l2 $< $(whole)
$(call each,matrices-l2-pre.mcz): %/matrices-l2-pre.mcz: %/moments-pre.mcz $(l2-deps)
	$(begin)
	$(RUN_LIGHT) $(MEASURE) --measure l2 $< $(whole)
ways-deps := $(call settings,ways,ALIGN HUNGARIAN_FLAGS)
$(call each,permutation-l2-post.mcz permutation-l2-pre.mcz): \
    $$(@D)/$$(patsubst permutation%,matrices%,$$(@F)) $(ways-deps)
	$(begin)
	$(RUN_LIGHT) $(ALIGN) $(HUNGARIAN_FLAGS) $< $(whole)
$(call each,permutation-constrained.mcz): %/permutation-constrained.mcz: %/matrices-l2-post.mcz \
    %/matrices-l2-pre.mcz $(ways-deps)
	$(begin)
	$(RUN_LIGHT) mc-hungarian $(or $(MESSAGES),-v) $(HUNGARIAN_FLAGS) \
	    --constraint $*/matrices-l2-pre.mcz $< -o $@

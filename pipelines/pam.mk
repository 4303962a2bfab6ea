# SPDX-License-Identifier: Apache-2.0
#
# Proximal alternating minimisation beside the plain curves, the rows of the paper's table 1: the same ends
# joined by a curve to the second end as it was trained (unaligned) and as it is aligned, and by curves whose
# permutation mc-pam learned, from the identity (PAM unaligned) and from the alignment (PAM aligned).
#
#   make -f pipelines/pam.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" EPOCHS=20 \
#        PERMUTATION_EPOCHS=5 CURVE_EPOCHS=15 SCHEDULE=onecycle CURVE_LR=0.03 OUT=out
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk: networks and curves that it
# made with the same settings in the same OUT are taken as they are. What a pair gives lies in OUT/A-B: pam.tsv
# (a row a path), pam.svg and pam.png (the learned curves), and objective.tsv (what each step of each run made of
# the objective); the same of all pairs in OUT, and training.tsv with their rows. tables.sh takes both.
PERMUTATION_EPOCHS ?= 20#      epochs of a permutation step; CURVE_EPOCHS are those of a curve step
PAM_FLAGS          ?=#         more for mc-pam: --outer 2, --nu-permutation 1e4
settings := PERMUTATION_EPOCHS PAM_FLAGS
counts   := PERMUTATION_EPOCHS
variants := unaligned aligned pam-unaligned pam-aligned
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

# its epochs would be those of permutation and curve steps together
ifneq ($(filter --stop%,$(CURVE_FLAGS)),)
$(error CURVE_FLAGS: --stop-after counts the epochs of all of mc-pam's steps, so it is not for these curves)
endif

all: $(foreach where,$(everywhere),$(addprefix $(where)/,pam.tsv pam.svg pam.png objective.tsv)) \
     $(if $(unit),,$(if $(logged),$(OUT)/training.tsv))

# ---- permutation and curve together ----------------------------------------------------------------
pam_set = $(strip $(PERMUTATION_EPOCHS) permutation epochs $(PAM_FLAGS) $(curve_set))
pams   := $(call here-made,$(of-pam))
first   = $(if $(filter pam-aligned,$(variant)),$(@D)/permutation.mcz)
$(call made-with,pam,$(of-pam))

$(pams): $(OUT)/train.mcz $$(a) $$(b) $$(first)
	$(RUN) mc-pam --data $< $(if $(first),--perm $(first)) --seed $(curve-seed-$(call pair-of,$@)) \
	    --permutation-epochs $(PERMUTATION_EPOCHS) --epochs $(CURVE_EPOCHS) --lr $(CURVE_LR) --batch $(CURVE_BATCH) \
	    --schedule $(CURVE_SCHEDULE) $(CURVE_FLAGS) $(PAM_FLAGS) $(device) $(MESSAGES) \
	    --checkpoint $(call checkpoint,$(@:.mcz=),$(call data_set,$<) $(train_set) $(align_set) $(corr_set) \
	        $(assign_set) $(call pam_set,$@)) --resume \
	    --log-json $(@:.mcz=.log.json) $(a) $(b) -o $@
	$(call keep,pam)
$(call each,b-pam-unaligned.mcz b-pam-aligned.mcz): $$(@D)/curve-$$(patsubst b-%,%,$$(@F)) $$(b)
	$(RUN_LIGHT) mc-permute $< $(b) -o $@

# ---- tables and the picture ------------------------------------------------------------------------
label-unaligned     := unaligned
label-aligned       := aligned
label-pam-unaligned := PAM, from the identity
label-pam-aligned   := PAM, from the alignment
learned             := $(variants:%=curve-%)

$(everywhere:%=%/pam.tsv): $$(call files,$(paths:=.tsv)) $(filter-out -f,$(table))
	$(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(table) $(call files,$(paths:=.summary.tsv)) $(whole)
$(everywhere:%=%/pam.svg) $(everywhere:%=%/pam.png): $$(call files,$(learned:=.tsv))
	$(RUN_LIGHT) mc-plot path --data test $(title) \
	    $(foreach v,$(variants),'$(label-$(v))=$(call joined,$(call files,curve-$(v).tsv))') -o $@
$(everywhere:%=%/objective.tsv): $$(call files,curve-pam-unaligned.mcz curve-pam-aligned.mcz) $(here)objective.awk
	$(RUN_LIGHT) awk -f $(here)objective.awk $(foreach pair,$(of),$(foreach v,pam-unaligned pam-aligned,pair=$(pair) \
	    path=curve-$(v) $(OUT)/$(pair)/curve-$(v).log.json)) $(whole)
$(addprefix $(OUT)/,pam.tsv pam.svg pam.png objective.tsv): $(OUT)/pairs

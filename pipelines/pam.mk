# SPDX-License-Identifier: Apache-2.0
#
# Proximal alternating minimisation (PAM) compared with plain curves, the rows of the paper's table 1: curves
# to the second end as trained and as aligned, and curves whose permutation mc-pam learns, from the identity
# and from the alignment.
#
#   make -f pipelines/pam.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS=1:2 EPOCHS=20 \
#        PERMUTATION_EPOCHS=5 CURVE_EPOCHS=15 SCHEDULE=onecycle CURVE_LR=0.03 OUT=out
#
# With the same settings and OUT it uses the networks and curves of connect.mk. OUT/A-B/ has the results of a
# pair: pam.tsv, pam.svg and objective.tsv (what each step made of the objective). OUT/ has the same of all
# pairs, and training.tsv.
PERMUTATION_EPOCHS ?= 20#      epochs of a permutation step; CURVE_EPOCHS are those of a curve step
PAM_FLAGS          ?=#         more options for mc-pam: --outer 2, --nu-permutation 1e4
variants := unaligned aligned pam-unaligned pam-aligned
include $(dir $(lastword $(MAKEFILE_LIST)))include/stages.mk
$(if $(filter --stop%,$(CURVE_FLAGS)),$(error CURVE_FLAGS must not have --stop-after, which counts the \
    epochs of the permutation step too))

all: $(foreach f,pam.tsv pam.svg pam.png objective.tsv,$(where:%=%/$(f))) $(if $(unit),,$(OUT)/training.tsv)

# ---- permutation and curve together ----------------------------------------------------------------
first = $(if $(filter curve-pam-aligned%,$(@F)),$(@D)/permutation.mcz)
$(filter-out $(taken),$(call each,curve-pam-unaligned.mcz curve-pam-aligned.mcz)): \
    $(OUT)/train.mcz $$(a) $$(b) $$(first) $(curving) $(call settings,pam,PERMUTATION_EPOCHS PAM_FLAGS)
	$(begin)
	$(RUN) mc-pam --data $< $(first:%=--perm %) --permutation-epochs $$PERMUTATION_EPOCHS $(learn) \
	    $(PAM_FLAGS) $(a) $(b) -o $@
	$(trained)
$(call each,b-pam-unaligned.mcz b-pam-aligned.mcz): $$(@D)/curve-$$(patsubst b-%,%,$$(@F)) $$(b)
	$(RUN_LIGHT) mc-permute $< $(b) -o $@

# ---- tables and the picture ------------------------------------------------------------------------
curves := $(variants:%=curve-%)
logs   := $(if $(filter-out 0,$(EPOCHS)),$(nets:.mcz=.log.json)) \
          $(if $(filter-out 0,$(CURVE_EPOCHS)),$(call each,$(curves:=.log.json)))
$(where:%=%/pam.tsv): $$(call files,$(paths:=.tsv))
	$(call table,paths) $(call files,$(paths:=.summary.tsv)) $(whole)
$(where:%=%/objective.tsv): $$(call files,curve-pam-unaligned.mcz curve-pam-aligned.mcz)
	$(call table,objective) $(call files,curve-pam-unaligned.log.json curve-pam-aligned.log.json) $(whole)
# again if connect.mk left the rows of these curves out
rows-left := $(if $(findstring curve-pam,$(logs)),$(shell grep -s curve-pam $(OUT)/training.tsv))
$(OUT)/training.tsv: $(nets) $(call each,$(curves:=.mcz)) $(if $(rows-left),,always)
	$(call table,training) $(logs) $(whole)
$(foreach x,svg png,$(where:%=%/pam.$(x))): $$(call files,$(curves:=.tsv))
	$(RUN_LIGHT) mc-plot path --data test $(title) 'unaligned=$(call joined,curve-unaligned.tsv)' \
	    'aligned=$(call joined,curve-aligned.tsv)' \
	    'PAM, from the identity=$(call joined,curve-pam-unaligned.tsv)' \
	    'PAM, from the alignment=$(call joined,curve-pam-aligned.tsv)' -o $@
$(addprefix $(OUT)/,pam.tsv pam.svg pam.png objective.tsv training.tsv): $(all-pairs)

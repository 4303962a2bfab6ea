# SPDX-License-Identifier: Apache-2.0
#
# Proximal alternating minimisation (PAM) compared with plain curves, the rows of the paper's table 1: curves
# to the second end unaligned and aligned, and curves whose permutation mc-pam learns, starting from the
# identity and from the alignment.
#
#   make -f pipelines/pam.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS=1:2 EPOCHS=20 \
#        PERMUTATION_EPOCHS=5 CURVE_EPOCHS=15 SCHEDULE=onecycle CURVE_LR=0.03 OUT=out
#
# With the same OUT it uses the settings, networks and curves of connect.mk. OUT/A-B/ has the results of a
# pair: pam.tsv, pam.svg and objective.tsv (the objective before and after each step). OUT/ has the same for
# all pairs, and training.tsv.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
PERMUTATION_EPOCHS ?= 20#      epochs per permutation step; CURVE_EPOCHS is the number per curve step
PAM_FLAGS          ?=#         more options for mc-pam: --outer 2, --nu-permutation 1e4
variants := unaligned aligned pam-unaligned pam-aligned
include $(here)include/stages.mk
$(if $(filter --stop%,$(CURVE_FLAGS)),$(error CURVE_FLAGS must not have --stop-after, which counts the \
    epochs of the permutation step too))

all: $(foreach f,pam.tsv pam.svg pam.png objective.tsv,$(folders:%=%/$(f))) $(if $(unit),,$(OUT)/training.tsv)

# ---- permutation and curve together ----------------------------------------------------------------
first = $(if $(filter curve-pam-aligned%,$(@F)),$(@D)/permutation.mcz)
$(filter-out $(copied),$(call each,curve-pam-unaligned.mcz curve-pam-aligned.mcz)): \
    $(OUT)/train.mcz $$(a) $$(b) $$(first) $(curve-deps) $(call settings,pam,PERMUTATION_EPOCHS PAM_FLAGS)
	$(begin)
	$(RUN) mc-pam --data $< $(first:%=--perm %) --permutation-epochs $(PERMUTATION_EPOCHS) $(learn) \
	    $(PAM_FLAGS) $(a) $(b) -o $@
	$(finish)
$(call each,b-pam-unaligned.mcz b-pam-aligned.mcz): $$(@D)/curve-$$(patsubst b-%,%,$$(@F)) $$(b)
	$(begin)
	$(RUN_LIGHT) mc-permute $< $(b) -o $@

# ---- tables and the picture ------------------------------------------------------------------------
curves := $(variants:%=curve-%)
logs   := $(if $(filter-out 0,$(EPOCHS)),$(nets:.mcz=.log.json)) \
          $(if $(filter-out 0,$(CURVE_EPOCHS)),$(call each,$(curves:=.log.json)))
$(folders:%=%/pam.tsv): $$(call files,$(paths:=.tsv))
	$(begin)
	$(call table,paths) $(call files,$(paths:=.summary.tsv)) $(whole)
$(folders:%=%/objective.tsv): $$(call files,curve-pam-unaligned.mcz curve-pam-aligned.mcz)
	$(begin)
	$(call table,objective) $(call files,curve-pam-unaligned.log.json curve-pam-aligned.log.json) $(whole)
# rebuild it if connect.mk wrote it without the rows of PAM's curves
pam-rows := $(if $(findstring curve-pam,$(logs)),$(shell grep -s curve-pam $(OUT)/training.tsv))
$(OUT)/training.tsv: $(nets) $(call each,$(curves:=.mcz)) $(if $(pam-rows),,always)
	$(begin)
	$(call table,training) $(logs) $(whole)
$(foreach x,svg png,$(folders:%=%/pam.$(x))): $$(call files,$(curves:=.tsv)) $(plot-deps)
	$(begin)
	$(RUN_LIGHT) mc-plot path --data test $(look) 'unaligned=$(call joined,curve-unaligned.tsv)' \
	    'aligned=$(call joined,curve-aligned.tsv)' \
	    'PAM, from the identity=$(call joined,curve-pam-unaligned.tsv)' \
	    'PAM, from the alignment=$(call joined,curve-pam-aligned.tsv)' -o $@
$(addprefix $(OUT)/,pam.tsv pam.svg pam.png objective.tsv training.tsv): $(all-pairs)

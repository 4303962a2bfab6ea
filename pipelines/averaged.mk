# SPDX-License-Identifier: Apache-2.0
#
# Straight lines between the ends as later literature measures them: with batch norm's statistics averaged
# like the weights, compared with re-estimated statistics. The second end is unaligned, aligned by activations
# (aligned), or aligned by the weights alone (weights: mc-match; Ainsworth et al. 2023).
#
#   make -f pipelines/averaged.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# With the same OUT it uses the settings, networks and lines of connect.mk. OUT/A-B/averaged.tsv has rows
# line-V-averaged and line-V for each V of unaligned, aligned and weights; OUT/averaged.tsv has mean and
# deviation over all pairs. Rows with averaged statistics ignore the options of batch norm in EVAL_FLAGS.
variants := unaligned aligned weights
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/stages.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))

all: $(folders:%=%/averaged.tsv)
$(call each,permutation-weights.mcz): $$(a) $$(b)
	$(begin)
	$(RUN) mc-match --threads $(THREADS) $(a) $(b) -o $@

# EVAL_FLAGS without options of batch norm, and without the seed that only these and an attack use
averaged := $(variants:%=line-%-averaged)
flags    := $(subst --seed ,--seed=,$(subst --bn-samples ,--bn-samples=,$(strip $(EVAL_FLAGS))))
flags    := $(filter-out --bn-% $(if $(findstring --attack,$(flags)),,--seed=%),$(flags))
ends      = $(a) $(call second,$(patsubst %-averaged.tsv,%,$(@F)))
$(call each,$(averaged:=.tsv)): $$(ends) $(eval-deps)
	$(begin)
	$(RUN) mc-eval --line --bn average --data $(OUT)/train.mcz --data $(OUT)/test.mcz --points $(POINTS) \
	    $(flags) $(device) --summary $(@:.tsv=.summary.tsv) $(ends) -o $@

rows := $(averaged) $(variants:%=line-%)
$(folders:%=%/averaged.tsv): $$(call files,$(rows:=.tsv))
	$(begin)
	$(call table,paths) $(call files,$(rows:=.summary.tsv)) $(whole)
$(OUT)/averaged.tsv: $(all-pairs)

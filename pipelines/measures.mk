# SPDX-License-Identifier: Apache-2.0
#
# Ways to align, compared by the resulting curves, the paper's figure 2: none, correlation, L2 distance of
# post- and pre-activations, L2 distance under the constraint of appendix C, and the weights alone (mc-match).
#
#   make -f pipelines/measures.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# With the same OUT it uses the settings, networks and curves of connect.mk. OUT/A-B/ has measures.tsv, a
# row per way, and measures.svg; OUT/ has the same for all pairs.
more := weights
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/ways.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))

all: $(foreach x,tsv svg png,$(folders:%=%/measures.$(x)))
$(call each,permutation-weights.mcz): $$(a) $$(b)
	$(begin)
	$(RUN) mc-match --threads $(THREADS) $(a) $(b) -o $@

curves := $(variants:%=curve-%)
$(folders:%=%/measures.tsv): $$(call files,$(curves:=.tsv))
	$(begin)
	$(call table,measures) $(call files,$(curves:=.summary.tsv)) $(whole)
$(foreach x,svg png,$(folders:%=%/measures.$(x))): $$(call files,$(curves:=.tsv)) $(plot-deps)
	$(begin)
	$(RUN_LIGHT) mc-plot path --data test $(look) 'unaligned=$(call joined,curve-unaligned.tsv)' \
	    'correlation=$(call joined,curve-aligned.tsv)' \
	    'L2, post-activations=$(call joined,curve-l2-post.tsv)' \
	    'L2, pre-activations=$(call joined,curve-l2-pre.tsv)' \
	    'L2, constrained=$(call joined,curve-constrained.tsv)' \
	    'weights=$(call joined,curve-weights.tsv)' -o $@
$(foreach x,tsv svg png,$(OUT)/measures.$(x)): $(all-pairs)

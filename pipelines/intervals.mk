# SPDX-License-Identifier: Apache-2.0
#
# How sure a pair's figures are for the images they are measured on: intervals over the test images, of both curves and of
# what the aligned one has more, by mc-bootstrap from every image's loss. They are for these networks; what other seeds
# give is the spread over pairs, which connect.mk's tables have.
#
#   make -f pipelines/intervals.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk: networks and curves that it made with
# the same settings in the same OUT are taken as they are. What a pair gives lies in OUT/A-B: losses-unaligned.mcz,
# losses-aligned.mcz, and intervals.tsv, a row a quantity and figure; the same of all pairs, one after the other, in OUT.
BOOTSTRAP_FLAGS ?=#           more for mc-bootstrap: --resamples 10000 --level .99
settings := BOOTSTRAP_FLAGS
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

all: $(everywhere:%=%/intervals.tsv)

losses        := $(variants:%=losses-%.mcz)
intervals_set  = $(strip $(BOOTSTRAP_FLAGS))
$(call made-with,eval,$(call each,$(losses)))
$(call made-with,intervals,$(call each,intervals.tsv))

$(call each,$(losses)): $(OUT)/train.mcz $(OUT)/test.mcz $$(@D)/$$(patsubst losses-%,curve-%,$$(@F))
	$(RUN) mc-eval --data $(OUT)/test.mcz --bn-data $(OUT)/train.mcz --points $(POINTS) $(EVAL_FLAGS) $(device) \
	    --losses $@ $(lastword $(filter-out %.anew,$^)) -o /dev/null
	$(call keep,eval)
$(call each,intervals.tsv): $$(call files,$(losses))
	$(RUN) mc-bootstrap $(BOOTSTRAP_FLAGS) --threads $(THREADS) $(filter-out %.anew,$^) -o $@.part
	@sed -i '1s/first/unaligned/g; 1s/second/aligned/g' $@.part && mv $@.part $@
	$(call keep,intervals)
$(OUT)/intervals.tsv: $(call each,intervals.tsv) $(OUT)/pairs
	$(RUN_LIGHT) awk 'FNR == 1 { if (NR == 1) print "pair\t" $$0; next } { print pair "\t" $$0 }' \
	    $(foreach p,$(pairs),pair=$(p) $(OUT)/$(p)/intervals.tsv) $(whole)

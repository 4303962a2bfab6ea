# SPDX-License-Identifier: Apache-2.0
#
# Confidence intervals over the test images, by mc-bootstrap: for both curves of a pair, and for their
# difference on the same images. They apply to these networks only. The deviation over pairs in connect.mk's
# tables is over networks of different seeds.
#
#   make -f pipelines/intervals.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# With the same OUT it uses the settings, networks and curves of connect.mk. OUT/A-B/ has the loss of each
# image, losses-unaligned.mcz and losses-aligned.mcz, and intervals.tsv, a row per quantity. OUT/intervals.tsv
# has all pairs.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
BOOTSTRAP_FLAGS ?=#           more options for mc-bootstrap: --resamples 10000 --level .99
include $(here)include/stages.mk

all: $(folders:%=%/intervals.tsv)
curve = $(@D)/$(patsubst losses-%,curve-%,$(@F))
$(call each,losses-unaligned.mcz losses-aligned.mcz): $$(curve) $(eval-deps)
	$(begin)
	$(RUN) mc-eval --data $(OUT)/test.mcz --bn-data $(OUT)/train.mcz --points $(POINTS) $(EVAL_FLAGS) \
	    $(device) --losses $@ $< -o /dev/null
$(call each,intervals.tsv): $$(@D)/losses-unaligned.mcz $$(@D)/losses-aligned.mcz \
    $(call settings,intervals,BOOTSTRAP_FLAGS)
	$(begin)
	$(RUN) mc-bootstrap $(BOOTSTRAP_FLAGS) --threads $(THREADS) $(filter %.mcz,$^) | \
	    sed '1s/first/unaligned/g; 1s/second/aligned/g' $(whole)
$(OUT)/intervals.tsv: $(call each,intervals.tsv) $(all-pairs)
	$(begin)
	$(call table,joined) $(call each,intervals.tsv) $(whole)

# SPDX-License-Identifier: Apache-2.0
#
# How many images an alignment needs: the same ends aligned by 2,500, 5,000, 10,000 and all training images.
# In the paper, the first three give equal results. The table has, for each alignment, the number of units
# that it matches differently from the alignment by 10,000 images, and the straight line to its aligned end.
#
#   make -f pipelines/subsets.mk DATA=cifar100 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# With the same OUT it uses the settings and networks of connect.mk. OUT/A-B/subsets.tsv has a row per
# alignment; OUT/subsets.tsv has mean and deviation over all pairs. SUBSETS replaces ALIGN_IMAGES.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
images    := '$(subst ','\'',$(or $(TRAIN_IMAGES),10001))'
fewer     := $(shell for n in 2500 5000 10000; do [ $$n -ge $(images) ] 2>&1 || echo $$n; done)
SUBSETS   ?= $(fewer) all#       numbers of images to align by, the first ones
REFERENCE ?= $(or $(filter 10000,$(SUBSETS)),$(lastword $(SUBSETS)))# number to compare the others with
variants   = $(SUBSETS:%=subset-%)
alignments = $(variants)
include $(here)include/stages.mk
$(if $(filter $(SUBSETS),$(REFERENCE)),,$(error REFERENCE must be one of SUBSETS (got '$(REFERENCE)')))
$(if $(filter-out all,$(SUBSETS)),,$(warning SUBSETS is only `all`: for few images set SUBSETS="200 400 all"))

all: $(folders:%=%/subsets.tsv)

# ---- the alignments --------------------------------------------------------------------------------
count   = $(patsubst moments-subset-%.mcz,%,$(@F))
labels := "labels","dtype":"[a-z0-9]*","shape":\[
every   = $$(mc-info --json $(OUT)/train.mcz | grep -o '$(labels)[0-9]*' | grep -o '[0-9]*$$')
subset-deps := $(call settings,acts-subset,ACTS_FLAGS ACTS $(compute))
$(call each,$(variants:%=moments-%.mcz)): $$(a) $$(b) $(subset-deps) | $(OUT)/train.mcz
	$(begin)
	$(call acts,--samples $(if $(filter all,$(count)),"$(every)",$(count))) $(a) $(b) -o $@

# ---- the table: an alignment composed with the reference's inverse moves only units that differ ----
reference = $(@D)/permutation-subset-$(REFERENCE).mcz
$(call each,$(variants:%=%.moved)): $$(@D)/permutation-$$(basename $$(@F)).mcz $$(reference) $$(b)
	$(begin)
	$(RUN_LIGHT) mc-permute --inverse $(reference) | mc-permute --compose $< - | \
	    mc-permute -v - $(b) -o /dev/null 2> $@.part && mv $@.part $@
$(folders:%=%/subsets.tsv): $$(call files,$(variants:=.moved) $(variants:%=line-%.tsv)) \
    $(call settings,subsets,SUBSETS REFERENCE)
	$(begin)
	export REFERENCE=$(REFERENCE); $(call table,subsets) $(call files,$(variants:=.moved)) $(whole)
$(OUT)/subsets.tsv: $(all-pairs)

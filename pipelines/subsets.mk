# SPDX-License-Identifier: Apache-2.0
#
# How many images an alignment needs: the same ends aligned by 2,500, 5,000, 10,000 and all training images. The paper
# has the first three agree. Here is how many units each matches otherwise than 10,000 images do, and the straight line
# to each aligned end.
#
#   make -f pipelines/subsets.mk DATA=cifar100 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk: networks that it made with the same
# settings in the same OUT are taken as they are. What a pair gives lies in OUT/A-B: subsets.tsv, a row an alignment; the
# same of all pairs, mean and deviation, in OUT. ALIGN_IMAGES, that connect.mk aligns by, has no effect here.
SUBSETS   ?= $(if $(TRAIN_IMAGES),$(shell echo '2500 5000 10000' | tr ' ' '\n' | awk '$$1 < $(TRAIN_IMAGES) + 0'),2500 5000 10000) all# images to align by, the first ones
REFERENCE ?= $(or $(filter 10000,$(SUBSETS)),$(lastword $(SUBSETS)))# what the others are compared with; 10000, or the last
variants   = $(SUBSETS:%=subset-%)
settings  := SUBSETS REFERENCE
ifeq ($(origin SUBSETS) $(strip $(SUBSETS)),file all)
$(info subsets.mk: TRAIN_IMAGES=$(TRAIN_IMAGES) leaves no subset but all: give SUBSETS="200 400 all" or the like)
endif
ifneq ($(words $(SUBSETS)),$(words $(sort $(SUBSETS))))
$(error SUBSETS="$(SUBSETS)": a number is there twice)
endif
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

$(foreach n,$(filter-out all,$(SUBSETS)),$(if $(call digits,$(n)),$(error SUBSETS="$(SUBSETS)": numbers of images are wanted, or all)))
ifeq ($(filter $(SUBSETS),$(REFERENCE)),)
$(error REFERENCE="$(REFERENCE)": one of SUBSETS is wanted ($(SUBSETS)))
endif

all: $(everywhere:%=%/subsets.tsv)

# ---- the alignments --------------------------------------------------------------------------------
subset     = $(lastword $(subst -, ,$(basename $(notdir $(1)))))
subset_set = $(strip images $(call subset,$(1)) $(ACTS_FLAGS))
every     := $$(mc-info --json $(OUT)/train.mcz | sed 's/.*"name":"labels","dtype":"[a-z0-9]*","shape":\[\([0-9]*\).*/\1/')
$(call made-with,subset,$(call each,$(variants:%=moments-%.mcz)))
$(call made-with,corr,$(call each,$(variants:%=matrices-%.mcz)))
$(call made-with,assign,$(call each,$(variants:%=permutation-%.mcz)))

$(call each,$(variants:%=moments-%.mcz)): $$(a) $$(b) | $(OUT)/train.mcz
	$(RUN) mc-acts --data $(OUT)/train.mcz --samples $(if $(filter all,$(call subset,$@)),$(every),$(call subset,$@)) \
	    $(ACTS_FLAGS) $(device) $(a) $(b) -o $@
	$(call keep,subset)
$(call each,$(variants:%=matrices-%.mcz)): $$(@D)/$$(patsubst matrices-%,moments-%,$$(@F))
	$(RUN_LIGHT) mc-corr $(CORR_FLAGS) $< -o $@
	$(call keep,corr)
$(call each,$(variants:%=permutation-%.mcz)): $$(@D)/$$(patsubst permutation-%,matrices-%,$$(@F))
	$(RUN_LIGHT) mc-hungarian $(HUNGARIAN_FLAGS) $< -o $@
	$(call keep,assign)

# ---- the table: an alignment after the inverse of another moves the units that they match otherwise --
$(call each,$(variants:%=%.moved)): $$(@D)/permutation-$$(patsubst %.moved,%.mcz,$$(@F)) $$(@D)/permutation-subset-$(REFERENCE).mcz $$(b)
	$(RUN_LIGHT) mc-permute --inverse $(@D)/permutation-subset-$(REFERENCE).mcz | mc-permute --compose $< - | mc-permute -v - $(b) -o /dev/null 2> $@.part
	@mv $@.part $@
$(everywhere:%=%/subsets.tsv): $$(call files,$(variants:=.moved) $(variants:%=line-%.tsv)) $(here)spread.awk $(here)subsets.awk
	$(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) -v reference=$(REFERENCE) -f $(here)spread.awk \
	    -f $(here)subsets.awk $(foreach v,$(variants),images=$(call subset,$(v)) $(call files,$(v).moved) \
	    $(call files,line-$(v).summary.tsv)) $(whole)
$(OUT)/subsets.tsv: $(OUT)/pairs

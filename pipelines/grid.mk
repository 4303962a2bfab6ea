# SPDX-License-Identifier: Apache-2.0
#
# Curves with several learning rates and batch sizes between the same ends, the paper's table 3.
#
#   make -f pipelines/grid.mk DATA=cifar100 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# With the same OUT it uses the settings, networks and alignments of connect.mk, and its curves for
# CURVE_LR and CURVE_BATCH; FROM=FOLDER copies them from another OUT. OUT/A-B/grid.tsv has a row per curve;
# OUT/grid.tsv has mean and deviation over all pairs. Table 3 is its column arc_mean.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
GRID_LR    ?= 0.01 0.1 0.5#   learning rates of the curves
GRID_BATCH ?= 64 128 256#     images per step of the curves
include $(here)include/stages.mk

all: $(folders:%=%/grid.tsv)

# ---- the curves: curve-V-lrLR-batchBATCH -----------------------------------------------------------
rates  := $(foreach l,$(GRID_LR),$(GRID_BATCH:%=lr$(l)-batch%))
cells  := $(foreach r,$(rates),curve-unaligned-$(r)) $(foreach r,$(rates),curve-aligned-$(r))
# connect.mk's curves; rates are compared as numbers (0.1 is 1e-1)
same-lr := $(shell printf '%s\n' $(GRID_LR) | LC_ALL=C awk '$$1 + 0 == $(CURVE_LR)')
centre := $(filter $(foreach l,$(same-lr),%-lr$(l)-batch$(CURVE_BATCH)),$(cells))
cell    = $(subst -lr, ,$(subst -batch, ,$(basename $(@F))))#    curve-V LR BATCH
to      = $(call second,$(firstword $(cell)))
grid-deps := $(call settings,grid,CURVE_EPOCHS CURVE_SCHEDULE CURVE_SEED CURVE_FLAGS CURVE $(compute))
$(call each,$(patsubst %,%.mcz,$(filter-out $(centre),$(cells)))): $(OUT)/train.mcz $$(a) $$(to) $(grid-deps)
	$(begin)
	$(RUN) $(CURVE) --data $< $(learn) --lr $(word 2,$(cell)) --batch $(word 3,$(cell)) \
	    $(a) $(to) -o $@
	$(finish)
$(call each,$(centre:=.mcz)): $$(@D)/$$(firstword $$(cell)).mcz
	$(begin)
	cp -p $< $@.part && mv $@.part $@
$(call each,$(cells:=.tsv)): %.tsv: %.mcz $(eval-deps)
	$(begin)
	$(evaluate) $< -o $@

$(folders:%=%/grid.tsv): $$(call files,$(cells:=.tsv)) $(call settings,cells,GRID_LR GRID_BATCH)
	$(begin)
	$(call table,grid) $(call files,$(cells:=.summary.tsv)) $(whole)
$(OUT)/grid.tsv: $(all-pairs)

# SPDX-License-Identifier: Apache-2.0
#
# Curves of several learning rates and batch sizes between the same ends, the paper's table 3: networks and alignments
# stay, only the curves are trained again.
#
#   make -f pipelines/grid.mk DATA=cifar100 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4 5:6" OUT=out
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk: networks, and the curves of CURVE_LR
# and CURVE_BATCH, that it made with the same settings in the same OUT are taken as they are; FROM=FOLDER takes them from
# another OUT. What a pair gives lies in OUT/A-B: grid.tsv, a row a curve; the same of all pairs, mean and deviation,
# in OUT. Table 3 is its column arc_mean.
GRID_LR    ?= 0.01 0.1 0.5#   learning rates of the curves
GRID_BATCH ?= 64 128 256#     images a step of the curves
settings := GRID_LR GRID_BATCH
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

$(foreach n,$(GRID_LR),$(if $(call real,$(n))$(findstring /,$(n)),$(error GRID_LR="$(GRID_LR)": decimal numbers are wanted)))
$(foreach n,$(GRID_BATCH),$(if $(call digits,$(n)),$(error GRID_BATCH="$(GRID_BATCH)": whole numbers are wanted)))
$(foreach name,GRID_LR GRID_BATCH,$(if $($(name)),,$(error $(name)="": at least one number is wanted)))
$(foreach name,GRID_LR GRID_BATCH,$(if $(filter-out $(words $(sort $($(name)))),$(words $($(name)))),$(error $(name)="$($(name))": a number is there twice)))

all: $(everywhere:%=%/grid.tsv)

# ---- the curves: curve-V-lrLR-batchBATCH -----------------------------------------------------------
cells     := $(foreach v,$(variants),$(foreach l,$(GRID_LR),$(foreach n,$(GRID_BATCH),curve-$(v)-lr$(l)-batch$(n))))
words-of   = $(subst -lr, ,$(subst -batch, ,$(patsubst %.mcz,%,$(notdir $(1)))))
cell-lr    = $(word 2,$(words-of))
cell-batch = $(word 3,$(words-of))
cell-end   = $(if $(findstring -unaligned-,$(@F)),$(b),$(@D)/b-aligned.mcz)
same-lr   := $(shell printf '%s\n' $(GRID_LR) | awk '$$1 + 0 == $(CURVE_LR)')# 0.1 is 1e-1
centre    := $(filter $(foreach l,$(same-lr),%-lr$(l)-batch$(strip $(CURVE_BATCH))),$(cells))
others    := $(filter-out $(centre),$(cells))
cell_set   = $(strip $(CURVE_EPOCHS) epochs lr $(call cell-lr,$(1)) batch $(call cell-batch,$(1)) $(CURVE_SCHEDULE) seed \
                 $(curve-seed-$(call pair-of,$(1))) $(CURVE_FLAGS) $(THREADS) threads $(DEVICE) $(filter-out f32,$(PRECISION)))
$(call made-with,cell,$(call each,$(others:=.mcz)))
$(call made-with,eval,$(call each,$(cells:=.tsv)))

$(call each,$(others:=.mcz)): $(OUT)/train.mcz $$(a) $$(cell-end)
	$(RUN) mc-bezier --data $< --seed $(curve-seed-$(call pair-of,$@)) --epochs $(CURVE_EPOCHS) \
	    --lr $(call cell-lr,$@) --batch $(call cell-batch,$@) --schedule $(CURVE_SCHEDULE) $(CURVE_FLAGS) $(device) $(MESSAGES) \
	    --checkpoint $(call checkpoint,$(@:.mcz=),$(call data_set,$<) $(train_set) $(align_set) $(corr_set) \
	        $(assign_set) $(call cell_set,$@)) --resume \
	    --log-json $(@:.mcz=.log.json) $(a) $(cell-end) -o $@
	$(call keep,cell)
$(call each,$(centre:=.mcz)): $$(@D)/$$(firstword $$(subst -lr, ,$$(@F))).mcz
	ln -f $< $@ 2>/dev/null || cp -pf $< $@
$(call each,$(cells:=.tsv)): %.tsv: %.mcz $(OUT)/train.mcz $(OUT)/test.mcz
	$(evaluate) $< -o $@
	$(call keep,eval)

# ---- the table: a path's name as three columns -----------------------------------------------------
$(everywhere:%=%/grid.tsv): $$(call files,$(cells:=.tsv)) $(filter-out -f,$(table))
	$(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(table) $(call files,$(cells:=.summary.tsv)) > $@.part
	@sed -E -i 's/^path	|	path	/&lr	batch	/; s/(curve-[a-z]+)-lr([^	]*)-batch([0-9]+)/\1	\2	\3/' $@.part && mv $@.part $@
$(OUT)/grid.tsv: $(OUT)/pairs

# SPDX-License-Identifier: Apache-2.0
#
# The mean of several networks: trained from different seeds, aligned to one joint order, averaged and repaired.
# The table compares it with each network and with the mean of the unaligned networks.
#
#   make -f pipelines/soup.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2 3" EPOCHS=20 OUT=out
#
# With the same settings and OUT it uses the networks of connect.mk. OUT/soup.tsv has a row per network and per
# mean: mean-unaligned and mean-joint, each averaged, with re-estimated statistics of batch norm, and repaired.
# Rows of mean-joint have the objective of the joint order and that of the best network as reference.
# OUT/joint.mcz is the joint order, OUT/joint-SEED.mcz are the networks in it. Goals for clusters: shared,
# net-SEED, and pair, which makes only the matrices of PAIRS.
SEEDS  ?= 1 2 3#                seeds of the networks, at most 16
PAIRS  ?= $(call every-pair,$(sort $(SEEDS)))# computed: all pairs of SEEDS
ALIGN  ?= mc-hungarian --joint# command that reads the matrices of all pairs and writes a joint set
MERGE  ?= mc-merge#             command that writes the mean of networks
REPAIR ?= mc-repair#            command that repairs a mean
rest       = $(wordlist 2,$(words $(1)),$(1))
every-pair = $(strip $(if $(1),$(foreach n,$(rest),$(firstword $(1)):$(n)) $(call every-pair,$(rest))))
include $(dir $(lastword $(MAKEFILE_LIST)))include/stages.mk
$(if $(word 17,$(seeds)),$(error SEEDS must be at most 16 seeds (got $(words $(seeds)))))
$(if $(unit),,$(if $(filter-out $(pairs),$(subst :,-,$(patsubst %,$(OUT)/%,$(call every-pair,$(seeds))))), \
    $(error PAIRS must be all pairs of the networks: set SEEDS="$(seeds)" instead)))

all: $(if $(unit),$(call each,matrices.mcz),$(OUT)/soup.tsv)

# ---- the joint order -------------------------------------------------------------------------------
joint := $(seeds:%=$(OUT)/joint-%.mcz)
$(OUT)/joint.mcz: $(call each,matrices.mcz) $(call settings,joint,PAIRS ALIGN HUNGARIAN_FLAGS)
	$(begin)
	$(RUN_LIGHT) $(ALIGN) $(HUNGARIAN_FLAGS) --table $(@:.mcz=.summary.tsv) $(filter %.mcz,$^) $(whole)
	$(finish)
$(joint): $(OUT)/joint-%.mcz: $(OUT)/joint.mcz $(OUT)/net-%.mcz
	$(RUN_LIGHT) mc-permute $^ -o $@

# ---- the means -------------------------------------------------------------------------------------
means  := $(OUT)/mean-unaligned $(OUT)/mean-joint
merged  = $(if $(findstring unaligned,$(@F)),$(nets),$(joint))
$(means:=.mcz): $$(merged) $(call settings,merge,PAIRS MERGE)
	$(begin)
	$(RUN_LIGHT) $(MERGE) $(merged) -o $@
	$(finish)
repair = $(RUN) $(REPAIR) --data $(OUT)/train.mcz $(device) $<
repair-deps := $(OUT)/train.mcz $(call settings,repair,REPAIR $(compute))
# a network without batch norm has no statistics to re-estimate
$(means:=-reestimated.mcz): %-reestimated.mcz: %.mcz $(repair-deps)
	$(begin)
	if mc-info --json $< | grep running_mean > /dev/null; then $(repair) -o $@; \
	else cp $< $@.part && mv $@.part $@; fi
	$(finish)
$(means:=-repaired.mcz): %-repaired.mcz: %.mcz $$(merged) $(repair-deps)
	$(begin)
	$(repair) --ends $(merged) -o $@
	$(finish)

# ---- the table -------------------------------------------------------------------------------------
rows := $(nets) $(foreach m,$(means),$(m).mcz $(m)-reestimated.mcz $(m)-repaired.mcz)
$(OUT)/accuracy.tsv: $(rows) $(OUT)/test.mcz $(call settings,accuracy,PAIRS EVAL EVAL_FLAGS $(compute))
	$(begin)
	$(RUN) $(EVAL) --data $(OUT)/test.mcz $(EVAL_FLAGS) $(device) $(rows) -o $@
	$(finish)
$(OUT)/soup.tsv: $(OUT)/accuracy.tsv $(OUT)/joint.mcz
	$(call table,soup) $< $(OUT)/joint.summary.tsv $(whole)

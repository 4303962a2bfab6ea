# SPDX-License-Identifier: Apache-2.0
#
# The means of all networks in several orders: averaged, with re-estimated statistics of batch norm, and
# repaired. An experiment sets, before it includes this file,
#
#   orders  = unaligned joint mine
#   picture := soup
#
# `unaligned` are the networks as trained. Any other order, such as `mine`, is the joint set OUT/mine.mcz, for
# which the experiment has a rule; that of `joint` is here. OUT/accuracy-soup.tsv has the accuracies of
# networks and means.
ifeq ($(as-given),)
include $(dir $(lastword $(MAKEFILE_LIST)))remembered.mk
endif
remember-seeds := SEEDS
$(if $(remembered-SEEDS),$(eval SEEDS ?= $$(remembered-SEEDS)))
SEEDS  ?= 1 2 3#                seeds of the networks, at most 16
PAIRS  ?= $(call every-pair,$(sort $(SEEDS)))# computed: all pairs of SEEDS
$(if $(word 2,$(sort $(SEEDS))),,$(error SEEDS must be 2 to 16 different numbers (got "$(SEEDS)")))
JOINT  ?= mc-hungarian --joint# command that reads the matrices of all pairs and writes a joint set
MERGE  ?= mc-merge#             command that writes the mean of networks
REPAIR ?= mc-repair#            command that repairs a mean
rest       = $(wordlist 2,$(words $(1)),$(1))
every-pair = $(strip $(if $(1),$(foreach n,$(rest),$(firstword $(1)):$(n)) $(call every-pair,$(rest))))
include $(here)include/stages.mk
$(if $(word 17,$(seeds)),$(error SEEDS must be at most 16 seeds (got $(words $(seeds)))))
$(if $(unit),,$(if $(filter-out $(pairs),$(subst :,-,$(patsubst %,$(OUT)/%,$(call every-pair,$(seeds))))), \
    $(error PAIRS must be all pairs of the networks: set SEEDS="$(seeds)" instead)))

# ---- the orders ------------------------------------------------------------------------------------
$(OUT)/joint.mcz: $(call each,matrices.mcz) $(call settings,joint,PAIRS JOINT HUNGARIAN_FLAGS)
	$(begin)
	$(RUN_LIGHT) $(JOINT) $(HUNGARIAN_FLAGS) --table $(@:.mcz=.summary.tsv) $(filter %.mcz,$^) $(whole)
# the networks in an order: OUT/ORDER-SEED.mcz
in-order = $(if $(filter unaligned,$(1)),$(nets),$(seeds:%=$(OUT)/$(1)-%.mcz))
last  = $(lastword $(subst -, ,$(basename $(@F))))
$(foreach o,$(filter-out unaligned,$(orders)),$(call in-order,$(o))): \
    $$(patsubst %-$$(last).mcz,%.mcz,$$@) $$(OUT)/net-$$(last).mcz
	$(begin)
	$(RUN_LIGHT) mc-permute $^ -o $@

# ---- the means -------------------------------------------------------------------------------------
means  := $(orders:%=$(OUT)/mean-%)
merged  = $(call in-order,$(patsubst mean-%,%,$(patsubst %-repaired,%,$(basename $(@F)))))
$(means:=.mcz): $$(merged) $(call settings,merge,PAIRS MERGE)
	$(begin)
	$(RUN_LIGHT) $(MERGE) $(merged) -o $@
repairs = $(REPAIR) --data $(OUT)/train.mcz $(device)
repair  = $(RUN) $(repairs)
repair-deps := $(OUT)/train.mcz $(call settings,repair,REPAIR $(compute))
# a network without batch norm has no statistics to re-estimate
has-statistics = mc-info --json $(1) | grep running_mean > /dev/null
$(means:=-reestimated.mcz): %-reestimated.mcz: %.mcz $(repair-deps)
	$(begin)
	if $(call has-statistics,$<); then $(repair) $< -o $@; else cp $< $@.part && mv $@.part $@; fi
$(means:=-repaired.mcz): %-repaired.mcz: %.mcz $$(merged) $(repair-deps)
	$(begin)
	$(repair) $< --ends $(merged) -o $@

# MATCHINGS: the setting of methods.mk that decides the rows
rows := $(nets) $(foreach m,$(means),$(m).mcz $(m)-reestimated.mcz $(m)-repaired.mcz)
accuracy-deps := $(call settings,accuracy-$(picture), \
    PAIRS $(filter MATCHINGS,$(names)) EVAL EVAL_FLAGS $(compute))
$(OUT)/accuracy-$(picture).tsv: $(rows) $(OUT)/test.mcz $(accuracy-deps)
	$(begin)
	$(RUN) $(EVAL) --data $(OUT)/test.mcz $(EVAL_FLAGS) $(device) $(rows) -o $@
draw  = $(RUN_LIGHT) mc-plot dots --y-name "test accuracy (%)" \
            --title "$$($(tabulate) title $(seeds))" $(PLOT_FLAGS)

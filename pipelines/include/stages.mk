# SPDX-License-Identifier: Apache-2.0
#
# The stages that every experiment shares: data, networks, alignments, paths and their measurements. An
# experiment sets
#
#   variants := unaligned aligned mine
#
# before it includes this file. Each variant is a form of a pair's second end. `unaligned` is the network as
# trained, `aligned` is permuted by permutation.mcz, and any other, such as `mine`, by permutation-mine.mcz.
# The experiment has a rule that makes permutation-mine.mcz. If it sets `alignments := mine` too, this file
# makes it from moments-mine.mcz, for which the experiment has a rule. Tables and pictures follow in the
# experiment.
#
# Variables NAME-deps are prerequisites: settings files (see machinery.mk), and for eval-deps also the data.
include $(dir $(lastword $(MAKEFILE_LIST)))machinery.mk

# ---- data and networks -----------------------------------------------------------------------------
compute := THREADS DEVICE PRECISION
data-dir := $(if $(filter ~/%,$(firstword $(DATA_DIR))),$(HOME)/$(subst ^~/,,^$(DATA_DIR)),$(DATA_DIR))
source  := $(if $(filter synth,$(DATA)),--seed $(DATA_SEED),-- $(call arg,$(data-dir)))
images   = $(if $(filter %train.mcz,$@),$(TRAIN_IMAGES),$(TEST_IMAGES))
export DATA_FILES := $(shell $(call values,DATA DATA_DIR HOME) $(here)include/data-files)
set     := DATA DATA_DIR DATA_SEED DATA_FLAGS $(if $(DATA_FILES),DATA_FILES)
$(filter-out $(copied),$(OUT)/train.mcz): $(call settings,train-data,$(set) TRAIN_IMAGES)
$(filter-out $(copied),$(OUT)/test.mcz):  $(call settings,test-data,$(set) TEST_IMAGES)
$(filter-out $(copied),$(OUT)/train.mcz $(OUT)/test.mcz): $(OUT)/%.mcz:
	$(begin)
	$(RUN) mc-data $(DATA) --split $* $(patsubst %,--samples %,$(images)) $(DATA_FLAGS) \
	    -o $@.part $(source)
	$(here)include/renew $@ $^

# a network's graph file counts by its contents
graph-file := $(findstring /,$(NET))$(filter %.json,$(NET))
export NET_FILE := $(if $(graph-file),$(shell cksum < $(call quote,$(NET)) 2> /dev/null))
network := NET $(if $(NET_FILE),NET_FILE)
train-deps := $(call settings,train,$(network) EPOCHS LR BATCH SCHEDULE TRAIN_FLAGS TRAIN $(compute))
$(filter-out $(copied),$(nets)): $(OUT)/net-%.mcz: $(OUT)/train.mcz $(train-deps)
	$(begin)
	$(RUN) $(TRAIN) --net $(call arg,$(NET)) --data $< --seed $* --epochs $(EPOCHS) --lr $(LR) \
	    --batch $(BATCH) --schedule $(SCHEDULE) $(TRAIN_FLAGS) $(device) $(resume) -o $@
	$(finish)

# ---- alignment -------------------------------------------------------------------------------------
collect = $(ACTS) --data $(OUT)/train.mcz $(1) $(ACTS_FLAGS) $(device)
acts = $(RUN) $(collect)
acts-deps := $(call settings,acts,ALIGN_IMAGES ACTS_FLAGS ACTS $(compute))
$(call each,moments.mcz): $$(a) $$(b) $(acts-deps) | $(OUT)/train.mcz
	$(begin)
	$(call acts,$(ALIGN_IMAGES:%=--samples %)) $(a) $(b) -o $@
$(call each,matrices.mcz $(alignments:%=matrices-%.mcz)): $$(@D)/$$(patsubst matrices%,moments%,$$(@F)) \
    $(call settings,measure,MEASURE CORR_FLAGS)
	$(begin)
	$(RUN_LIGHT) $(MEASURE) $(CORR_FLAGS) $< $(whole)
$(filter-out $(copied),$(call each,permutation.mcz $(alignments:%=permutation-%.mcz))): \
    $$(@D)/$$(patsubst permutation%,matrices%,$$(@F)) $(call settings,align,ALIGN HUNGARIAN_FLAGS)
	$(begin)
	$(RUN_LIGHT) $(ALIGN) $(HUNGARIAN_FLAGS) $< $(whole)
$(call each,$(patsubst %,b-%.mcz,$(filter-out unaligned pam-%,$(variants)))): \
    $$(@D)/permutation$$(patsubst b%,%,$$(patsubst b-aligned%,b%,$$(@F))) $$(b)
	$(begin)
	$(RUN_LIGHT) mc-permute $< $(b) -o $@

# ---- paths: the straight line and the learned curve ------------------------------------------------
$(call each,$(variants:%=line-%.mcz)): $$(a) $$(call second,$$(basename $$(@F)))
	$(begin)
	$(RUN_LIGHT) mc-bezier --epochs 0 $^ -o $@
curve-deps := $(call settings,curve,$(addprefix CURVE_,EPOCHS LR BATCH SCHEDULE SEED FLAGS) CURVE $(compute))
learn    = --seed $(or $(CURVE_SEED),$(seed-a)) --epochs $(CURVE_EPOCHS) --lr $(CURVE_LR) \
               --batch $(CURVE_BATCH) --schedule $(CURVE_SCHEDULE) $(CURVE_FLAGS) $(device) $(resume)
$(filter-out $(copied) %-pam-unaligned.mcz %-pam-aligned.mcz,$(call each,$(variants:%=curve-%.mcz))): \
    $(OUT)/train.mcz $$(a) $$(call second,$$(basename $$(@F))) $(curve-deps)
	$(begin)
	$(RUN) $(CURVE) --data $< $(learn) $(a) $(call second,$(basename $(@F))) -o $@
	$(finish)

# ---- measurements along the paths ------------------------------------------------------------------
evaluate = $(RUN) $(EVAL) --data $(OUT)/train.mcz --data $(OUT)/test.mcz --bn-data $(OUT)/train.mcz \
               --points $(POINTS) $(EVAL_FLAGS) $(device) --summary $(@:.tsv=.summary.tsv)
eval-deps := $(call settings,eval,POINTS EVAL_FLAGS EVAL $(compute)) $(OUT)/train.mcz $(OUT)/test.mcz
$(call each,$(paths:%=%.tsv)): %.tsv: %.mcz $(eval-deps)
	$(begin)
	$(evaluate) $< -o $@

# ---- for tables and pictures -----------------------------------------------------------------------
all-pairs := $(call settings,pairs,PAIRS NET DATA)
files  = $(foreach f,$(1),$(members:%=%/$(f)))#         these files of a table's pairs
joined = $(subst $(space),$(comma),$(strip $(files)))#  the same, as mc-plot reads them for one line
tabulate = $(foreach n,NET DATA DATA_DIR,$(n)=$(call arg,$($(n)))) $(here)tables/tables
table  = $(RUN_LIGHT) $(if $(filter $(OUT),$(@D)),env $(tabulate) $(1) --all,$(here)tables/tables $(1))
title  = --title "$$($(tabulate) title $(notdir $(members)))"
plot-deps := $(call settings,plot,PLOT_FLAGS)
look   = $(title) $(PLOT_FLAGS)#                        the last options of a picture

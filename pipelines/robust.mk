# SPDX-License-Identifier: Apache-2.0
#
# Robust networks joined, unaligned and aligned, as the paper's figure 4: networks and curves that are trained on
# adversarial examples, their clean and robust accuracy along the paths from one pass.
#
#   make -f pipelines/robust.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" EPOCHS=20 \
#        ATTACK=pgd:eps=8/255,step=2/255,steps=5 OUT=out-robust
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk; but an OUT of its own, as these
# are other networks (their images are not normalised), which is refused elsewhere. An attack of K steps makes a training K + 1 times as
# long, and a point's evaluation about 3 K + 2 times: POINTS and EVAL_FLAGS="--samples 2500 --test-samples 2500"
# shorten that. The alignment looks at clean images; ACTS_FLAGS="--attack pgd" shows each network its own examples.
# The paper ends googlenet's robust curves early; so does this, with --stop-after 20 unless CURVE_FLAGS has another.
#
# STRONG_ATTACK=pgd:steps=50,restarts=10 measures the curves and their ends once more, by a longer attack: robust loss and
# accuracy alone, statistics of clean images; strong.tsv, rows curve-V-strong. A point costs some 90 times as much as with
# 5 steps: hence STRONG_POINTS, and STRONG_FLAGS="--samples 1000 --test-samples 1000".
#
# What a pair gives lies in OUT/A-B: clean.tsv and robust.tsv, a row a path, straight lines too; clean.svg and robust.svg,
# the learned curves on one scale; and where POINTS is odd, midpoint.tsv: accuracy in the middle of each path against the mean of its
# ends. The same of all pairs, mean and deviation, in OUT. Batch norm is re-estimated on clean images; of the curves also, in
# rows that end in -bn-attack, on attacked ones, as the authors' code does: these stand beside the paper (verdicts.sh).
ATTACK      ?= pgd#           on every batch of networks and curves, as mc-train takes it
EVAL_ATTACK ?= $(ATTACK)#     to measure with; the training's unless given
STRONG_ATTACK ?=#             a longer one to measure the curves with too; empty: none
STRONG_POINTS ?= 5#           along each curve with that
STRONG_FLAGS ?=#              more for mc-eval with that
EPOCHS      ?= 200#           of the networks
SCHEDULE    ?= linear#        of the learning rate, as mc-train takes it
CURVE_LR    ?= 0.1#           learning rate of the curves
OUT         ?= out-robust#    the folder of the results

stop := $(if $(filter googlenet,$(NET)),$(if $(findstring --stop-after,$(CURVE_FLAGS)),,--stop-after 20))
override TRAIN_FLAGS += --no-normalise --attack $(ATTACK)
override CURVE_FLAGS += $(stop) --attack $(ATTACK)
override EVAL_FLAGS  += --attack $(EVAL_ATTACK)
$(foreach name,ATTACK EVAL_ATTACK $(if $(STRONG_ATTACK),STRONG_ATTACK),$(if $(filter-out 1,$(words $($(name)))), \
    $(error $(name)="$($(name))": one word is wanted, such as pgd:eps=8/255,steps=5)))

settings := ATTACK EVAL_ATTACK STRONG_ATTACK STRONG_POINTS STRONG_FLAGS
counts   := STRONG_POINTS
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

odd = $(filter %1 %3 %5 %7 %9,$(POINTS))
all: $(foreach where,$(everywhere),$(foreach kind,clean robust,$(addprefix $(where)/$(kind).,tsv svg png)) $(if $(odd),$(where)/midpoint.tsv) \
         $(if $(STRONG_ATTACK),$(where)/strong.tsv))

# ---- the curves once more, with the statistics of attacked images ----------------------------------
learned  := $(variants:%=curve-%)
attacked := $(learned:=-bn-attack)
$(call made-with,eval,$(call each,$(attacked:=.tsv)))

$(call each,$(attacked:=.tsv)): %-bn-attack.tsv: %.mcz $(OUT)/train.mcz $(OUT)/test.mcz
	$(evaluate) --bn-attack $< -o $@
	$(call keep,eval)

# ---- and by a longer attack ------------------------------------------------------------------------
strong     := $(learned:=-strong)
strong_set  = $(strip $(STRONG_POINTS) points $(EVAL_FLAGS) --attack $(STRONG_ATTACK) $(STRONG_FLAGS))
$(call made-with,strong,$(call each,$(strong:=.tsv)))

# of an option that is there twice the last one counts
$(call each,$(strong:=.tsv)): %-strong.tsv: %.mcz $(OUT)/train.mcz $(OUT)/test.mcz
	$(evaluate) --points $(STRONG_POINTS) --attack $(STRONG_ATTACK) $(STRONG_FLAGS) $< -o $@
	$(call keep,strong)
$(everywhere:%=%/strong.tsv): $$(call files,$(strong:=.tsv)) $(filter-out -f,$(table))
	$(RUN_LIGHT) awk -v robust=1 $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(table) $(call files,$(strong:=.summary.tsv)) $(whole)

# ---- tables and pictures: clean.* and robust.* -----------------------------------------------------
rows    := $(paths) $(attacked)
kind     = $(basename $(@F))
midpoint := -f $(here)spread.awk -f $(here)paths.awk -f $(here)midpoint.awk
of-data  = $(if $(filter robust,$(kind)),test.robust,test)
series   = $(patsubst curve-%,%,$(subst -bn-attack,$(comma) attacked statistics,$(1)))

$(foreach kind,clean robust,$(everywhere:%=%/$(kind).tsv)): $$(call files,$(rows:=.tsv)) $(filter-out -f,$(table))
	$(RUN_LIGHT) awk $(if $(filter robust,$(kind)),-v robust=1) $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) \
	    $(table) $(call files,$(rows:=.summary.tsv)) $(whole)
$(everywhere:%=%/midpoint.tsv): $$(call files,$(rows:=.tsv)) $(filter-out -f,$(midpoint))
	$(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(midpoint) \
	    $(call files,$(rows:=.tsv)) $(whole)
$(foreach kind,clean robust,$(everywhere:%=%/$(kind).svg) $(everywhere:%=%/$(kind).png)): \
    $$(call files,$(learned:=.tsv) $(attacked:=.tsv))
	$(RUN_LIGHT) mc-plot path --data $(of-data) --fit-data $(filter-out $(of-data),test test.robust) $(title) \
	    $(foreach k,$(learned) $(attacked),'$(call series,$(k))=$(call joined,$(call files,$(k).tsv))') -o $@
$(foreach kind,clean robust,$(addprefix $(OUT)/$(kind).,tsv svg png)) $(OUT)/midpoint.tsv $(OUT)/strong.tsv: $(OUT)/pairs

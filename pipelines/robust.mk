# SPDX-License-Identifier: Apache-2.0
#
# Robust networks connected with and without alignment, the paper's figure 4: networks and curves trained on
# adversarial examples, and the clean and robust accuracy along the paths.
#
#   make -f pipelines/robust.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS=1:2 EPOCHS=20 \
#        ATTACK=pgd:eps=8/255,step=2/255,steps=5 OUT=out-robust
#
# An attack of K steps makes a training K + 1 times as long, and the evaluation of a point about 3 K + 2
# times. The alignment uses clean images; ACTS_FLAGS="--attack pgd" aligns by each network's own adversarial
# examples. googlenet's curves stop after 20 epochs, as in the paper, unless CURVE_FLAGS has another
# --stop-after. STRONG_ATTACK=pgd:steps=50,restarts=10 also measures the curves with a longer attack, at
# STRONG_POINTS points, in strong.tsv.
#
# OUT/A-B/ has clean.tsv and robust.tsv with a row per path, pictures of the curves on one scale, and if
# POINTS is odd midpoint.tsv, the middle of each path compared with the mean of its ends. OUT/ has the same
# for all pairs. Rows that end in -bn-attack use batch norm's statistics of attacked images, as the authors'
# code does; other rows use those of clean images.
OUT         ?= out-robust#    folder of the results
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
ATTACK      ?= pgd#           attack on every training batch, as in mc-train --attack
EVAL_ATTACK ?= $(ATTACK)#     attack that measures robust accuracy
STRONG_ATTACK ?=#             longer attack that measures the curves too; empty: none
STRONG_POINTS ?= 5#           points along each curve for it
STRONG_FLAGS ?=#              more options for mc-eval with it: --samples 1000 --test-samples 1000
EPOCHS      ?= 200#           epochs of the networks
SCHEDULE    ?= linear#        learning rate schedule of mc-train
CURVE_LR    ?= 0.1#           learning rate of the curves
override TRAIN_FLAGS := $(TRAIN_FLAGS) --no-normalise --attack $(ATTACK)
googlenet-curve := $(if $(findstring --stop-after,$(CURVE_FLAGS)),,--stop-after 20)
override CURVE_FLAGS := $(CURVE_FLAGS) $(if $(filter googlenet,$(NET)),$(googlenet-curve)) --attack $(ATTACK)
override EVAL_FLAGS  := $(EVAL_FLAGS) --attack $(EVAL_ATTACK)
include $(here)include/stages.mk

kinds := $(foreach k,clean robust,$(k).tsv $(k).svg $(k).png)
odd   := $(filter %1 %3 %5 %7 %9,$(POINTS))
all: $(foreach f,$(kinds) $(if $(odd),midpoint.tsv) $(if $(STRONG_ATTACK),strong.tsv),$(folders:%=%/$(f)))

# ---- the curves with statistics of attacked images, and with a longer attack -----------------------
curves   := $(variants:%=curve-%)
attacked := $(curves:=-bn-attack)
strong   := $(curves:=-strong)
$(call each,$(attacked:=.tsv)): %-bn-attack.tsv: %.mcz $(eval-deps)
	$(begin)
	$(evaluate) --bn-attack $< -o $@
# $(evaluate) has --points and --attack too, but the last of repeated options is used
$(call each,$(strong:=.tsv)): %-strong.tsv: %.mcz $(eval-deps) \
    $(call settings,strong,STRONG_ATTACK STRONG_POINTS STRONG_FLAGS)
	$(begin)
	$(evaluate) --points $(STRONG_POINTS) --attack $(STRONG_ATTACK) $(STRONG_FLAGS) $< -o $@

# ---- tables and pictures ---------------------------------------------------------------------------
rows := $(paths) $(attacked)
$(folders:%=%/clean.tsv): $$(call files,$(rows:=.tsv))
	$(begin)
	$(call table,paths) $(call files,$(rows:=.summary.tsv)) $(whole)
$(folders:%=%/robust.tsv): $$(call files,$(rows:=.tsv))
	$(begin)
	$(call table,robust) $(call files,$(rows:=.summary.tsv)) $(whole)
$(folders:%=%/strong.tsv): $$(call files,$(strong:=.tsv))
	$(begin)
	$(call table,robust) $(call files,$(strong:=.summary.tsv)) $(whole)
$(folders:%=%/midpoint.tsv): $$(call files,$(rows:=.tsv))
	$(begin)
	$(call table,midpoint) $(call files,$(rows:=.tsv)) $(whole)
lines = 'unaligned=$(call joined,curve-unaligned.tsv)' 'aligned=$(call joined,curve-aligned.tsv)' \
    'unaligned, attacked statistics=$(call joined,curve-unaligned-bn-attack.tsv)' \
    'aligned, attacked statistics=$(call joined,curve-aligned-bn-attack.tsv)'
drawn := $(curves:=.tsv) $(attacked:=.tsv)
$(foreach x,clean.svg clean.png robust.svg robust.png,$(folders:%=%/$(x))): \
    $$(call files,$(drawn)) $(plot-deps)
	$(begin)
	$(RUN_LIGHT) mc-plot path --data test$(if $(filter robust.%,$(@F)),.robust --fit-data test,\
	    --fit-data test.robust) $(look) $(lines) -o $@
$(foreach f,$(kinds) midpoint.tsv strong.tsv,$(OUT)/$(f)): $(all-pairs)

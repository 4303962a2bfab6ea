# SPDX-License-Identifier: Apache-2.0
#
# Two networks from different seeds: trained, aligned, joined by an unaligned and an aligned curve, measured
# and drawn.
#
#   make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" \
#        EPOCHS=20 CURVE_EPOCHS=20 OUT=out
#
# Every job is one program that writes one file, behind $(RUN): RUN="srun -c 2" sends each to a cluster,
# -j runs them side by side. An interrupted run goes on where it was; changed settings redo what they
# decide. The picture is OUT/A-B/path.svg, the table OUT/A-B/table.tsv.

DATA         ?= synth#          cifar10 (with DATA_DIR), synth
DATA_DIR     ?=#                where the publisher's files lie
DATA_SEED    ?= 1#              of synth
TRAIN_IMAGES ?=#                first images of each split; empty: all
TEST_IMAGES  ?=
NET          ?= tinyten
SEEDS        ?= 1 2#            of the two ends
CURVE_SEED   ?= 1
EPOCHS       ?= 250
CURVE_EPOCHS ?= $(EPOCHS)
LR           ?= 0.1
CURVE_LR     ?= 0.01
BATCH        ?= 128
SCHEDULE     ?= step
CURVE_SCHEDULE ?= $(SCHEDULE)
TRAIN_FLAGS  ?=#                more for mc-train
CURVE_FLAGS  ?=#                more for mc-bezier
ALIGN_IMAGES ?=#                images the alignment looks at; empty: the first fifth
POINTS       ?= 21
EVAL_FLAGS   ?=#                more for mc-eval, --full for all images
THREADS      ?= 2#              fixed, so that a rerun gives the same bytes
DEVICE       ?= auto
OUT          ?= out
RUN          ?=

here := $(dir $(lastword $(MAKEFILE_LIST)))
# in the source tree, or installed in share/mc
BIN  ?= $(abspath $(firstword $(wildcard $(here)../build/bin $(here)../../bin)))
export PATH := $(BIN):$(PATH)
# idle threads sleep instead of spinning: several times faster where jobs share the cores
export OMP_WAIT_POLICY ?= passive

ifneq ($(words $(SEEDS)),2)
$(error SEEDS="$(SEEDS)": two seeds are wanted, one for each end)
endif
A := $(word 1,$(SEEDS))
B := $(word 2,$(SEEDS))
P := $(OUT)/$(A)-$(B)

device := --threads $(THREADS) --device $(DEVICE)
paths  := line-unaligned curve-unaligned line-aligned curve-aligned
images  = $(if $($(1)),--samples $($(1)))

all: $(P)/table.tsv $(P)/path.svg $(P)/path.png $(P)/signature.svg $(P)/signature.png \
     $(P)/training.svg $(P)/training.png

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all force

# What decides a stage's result, in a file that changes only when it does; its checkpoints go with it.
define settings
$(OUT)/$(1).settings: force
	@mkdir -p $(P)
	@echo '$(strip $(2))' | cmp -s - $$@ || { rm -f $(3); echo '$(strip $(2))' > $$@; }
endef
$(eval $(call settings,data,$(DATA) $(DATA_DIR) $(DATA_SEED) $(TRAIN_IMAGES) $(TEST_IMAGES),))
$(eval $(call settings,train,$(NET) $(EPOCHS) $(LR) $(BATCH) $(SCHEDULE) $(TRAIN_FLAGS) $(THREADS) \
                             $(DEVICE),$(OUT)/net-*.checkpoint))
$(eval $(call settings,align,$(ALIGN_IMAGES),))
$(eval $(call settings,curve,$(CURVE_EPOCHS) $(CURVE_LR) $(BATCH) $(CURVE_SCHEDULE) $(CURVE_SEED) \
                             $(CURVE_FLAGS),$(OUT)/*/*.checkpoint))
$(eval $(call settings,eval,$(POINTS) $(EVAL_FLAGS),))

# ---- data ------------------------------------------------------------------------------------------
source := $(if $(filter synth,$(DATA)),--seed $(DATA_SEED),$(DATA_DIR))

$(OUT)/train.mcz: $(OUT)/data.settings
	$(RUN) mc-data $(DATA) $(source) --split train $(call images,TRAIN_IMAGES) -o $@
$(OUT)/test.mcz: $(OUT)/data.settings
	$(RUN) mc-data $(DATA) $(source) --split test $(call images,TEST_IMAGES) -o $@

# ---- the ends --------------------------------------------------------------------------------------
$(OUT)/net-%.mcz: $(OUT)/train.mcz $(OUT)/train.settings
	$(RUN) mc-train --net $(NET) --data $(OUT)/train.mcz --seed $* --epochs $(EPOCHS) --lr $(LR) \
	    --batch $(BATCH) --schedule $(SCHEDULE) $(TRAIN_FLAGS) $(device) \
	    --checkpoint $(OUT)/net-$*.checkpoint --resume --log-json $(OUT)/net-$*.log.json -o $@
	@rm -f $(OUT)/net-$*.checkpoint

# ---- the alignment ---------------------------------------------------------------------------------
a := $(OUT)/net-$(A).mcz
b := $(OUT)/net-$(B).mcz

$(P)/moments.mcz: $(a) $(b) $(OUT)/align.settings
	$(RUN) mc-acts --data $(OUT)/train.mcz $(call images,ALIGN_IMAGES) $(device) $(a) $(b) -o $@
$(P)/matrices.mcz: $(P)/moments.mcz
	$(RUN) mc-corr $< -o $@
$(P)/permutation.mcz: $(P)/matrices.mcz
	$(RUN) mc-hungarian $< -o $@
$(P)/b-aligned.mcz: $(P)/permutation.mcz $(b)
	$(RUN) mc-permute $(P)/permutation.mcz $(b) -o $@
$(P)/signature.tsv: $(P)/moments.mcz $(P)/permutation.mcz
	$(RUN) mc-corr --signature --perm $(P)/permutation.mcz $(P)/moments.mcz -o $@

# ---- the paths: straight, and learned --------------------------------------------------------------
$(P)/line-unaligned.mcz $(P)/curve-unaligned.mcz: to := $(b)
$(P)/line-aligned.mcz $(P)/curve-aligned.mcz: to := $(P)/b-aligned.mcz
$(P)/line-unaligned.mcz $(P)/curve-unaligned.mcz: $(a) $(b)
$(P)/line-aligned.mcz $(P)/curve-aligned.mcz: $(a) $(P)/b-aligned.mcz

$(P)/line-%.mcz:
	$(RUN) mc-bezier --epochs 0 $(a) $(to) -o $@
$(P)/curve-%.mcz: $(OUT)/train.mcz $(OUT)/curve.settings
	$(RUN) mc-bezier --data $(OUT)/train.mcz --seed $(CURVE_SEED) --epochs $(CURVE_EPOCHS) \
	    --lr $(CURVE_LR) --batch $(BATCH) --schedule $(CURVE_SCHEDULE) $(CURVE_FLAGS) $(device) \
	    --checkpoint $(P)/curve-$*.checkpoint --resume --log-json $(P)/curve-$*.log.json \
	    $(a) $(to) -o $@
	@rm -f $(P)/curve-$*.checkpoint

# ---- what they measure, and the pictures -----------------------------------------------------------
$(P)/%.tsv $(P)/%.summary.tsv &: $(P)/%.mcz $(OUT)/train.mcz $(OUT)/test.mcz $(OUT)/eval.settings
	$(RUN) mc-eval --data $(OUT)/train.mcz --data $(OUT)/test.mcz --bn-data $(OUT)/train.mcz \
	    --points $(POINTS) $(EVAL_FLAGS) $(device) --summary $(P)/$*.summary.tsv $< -o $(P)/$*.tsv

$(P)/table.tsv: $(paths:%=$(P)/%.summary.tsv) $(here)table.awk
	awk -f $(here)table.awk $(paths:%=$(P)/%.summary.tsv) > $@

tables := 'straight, unaligned=$(P)/line-unaligned.tsv' 'straight, aligned=$(P)/line-aligned.tsv' \
          'curve, unaligned=$(P)/curve-unaligned.tsv' 'curve, aligned=$(P)/curve-aligned.tsv'
logs   := 'network $(A)=$(OUT)/net-$(A).log.json' 'network $(B)=$(OUT)/net-$(B).log.json' \
          'curve, unaligned=$(P)/curve-unaligned.log.json' \
          'curve, aligned=$(P)/curve-aligned.log.json'

$(P)/path.svg $(P)/path.png: $(paths:%=$(P)/%.tsv)
	mc-plot path --data test --title '$(NET) on $(DATA), seeds $(A) and $(B)' $(tables) -o $@
$(P)/signature.svg $(P)/signature.png: $(P)/signature.tsv
	mc-plot signature --title '$(NET) on $(DATA), seeds $(A) and $(B)' $< -o $@
$(P)/training.svg $(P)/training.png: $(paths:%=$(P)/%.mcz)
	mc-plot log --title '$(NET) on $(DATA)' $(logs) -o $@

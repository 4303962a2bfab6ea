# SPDX-License-Identifier: Apache-2.0
#
# Two networks from different seeds: trained, aligned, joined by an unaligned and an aligned curve, measured
# and drawn.
#
#   make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" \
#        EPOCHS=20 CURVE_EPOCHS=20 OUT=out
#
# Every job is one program, behind $(RUN): RUN="srun -c 2" sends each to a cluster,
# -j runs them side by side. An interrupted run goes on where it was. Each result keeps the settings that
# made it in RESULT.settings, and is made again when they differ from those asked for: a mistyped setting
# costs nothing. The picture is OUT/A-B/path.svg, the table OUT/A-B/table.tsv.

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
TRAIN_FLAGS  ?=#                more for mc-train that decides its result
CURVE_FLAGS  ?=#                more for mc-bezier
MESSAGES     ?=#                -v: a line an epoch; -q: errors only
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

# a misspelt setting on the command line would go unheard
known := DATA DATA_DIR DATA_SEED TRAIN_IMAGES TEST_IMAGES NET SEEDS CURVE_SEED EPOCHS CURVE_EPOCHS LR CURVE_LR \
         BATCH SCHEDULE CURVE_SCHEDULE TRAIN_FLAGS CURVE_FLAGS MESSAGES ALIGN_IMAGES POINTS EVAL_FLAGS THREADS \
         DEVICE OUT RUN BIN OMP_WAIT_POLICY
given := $(foreach word,$(MAKEOVERRIDES),$(if $(findstring =,$(word)),$(firstword $(subst =, ,$(word)))))
$(foreach name,$(filter-out $(known) -% Q V BUILD MAKE%,$(given)), \
    $(error there is no setting '$(name)' (there are: $(known))))

ifneq ($(words $(sort $(SEEDS))),2)
$(error SEEDS="$(SEEDS)": two different seeds are wanted, one for each end)
endif
ifneq ($(words $(OUT)),1)
$(error OUT="$(OUT)": a folder's name without blanks is wanted)
endif
A := $(word 1,$(SEEDS))
B := $(word 2,$(SEEDS))
P := $(OUT)/$(A)-$(B)

device := --threads $(THREADS) --device $(DEVICE)
paths  := line-unaligned curve-unaligned line-aligned curve-aligned
images  = $(if $($(1)),--samples $($(1)))

comma := ,
# only what was trained has a log
logs := $(if $(filter-out 0,$(EPOCHS)),\
            'network $(A)=$(OUT)/net-$(A).log.json' 'network $(B)=$(OUT)/net-$(B).log.json') \
        $(if $(filter-out 0,$(CURVE_EPOCHS)),\
            'curve$(comma) unaligned=$(P)/curve-unaligned.log.json' \
            'curve$(comma) aligned=$(P)/curve-aligned.log.json')

all: $(P)/table.tsv $(P)/path.svg $(P)/path.png $(P)/signature.svg $(P)/signature.png \
     $(if $(logs),$(P)/training.svg $(P)/training.png)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all force
$(shell mkdir -p $(P))

# What decides each stage's result.
data_set  := $(strip $(DATA) $(DATA_DIR) $(DATA_SEED) train $(TRAIN_IMAGES) test $(TEST_IMAGES))
train_set := $(strip $(NET) $(EPOCHS) epochs lr $(LR) batch $(BATCH) $(SCHEDULE) $(TRAIN_FLAGS) \
                     $(THREADS) threads $(DEVICE))
align_set := $(strip images $(ALIGN_IMAGES))
curve_set := $(strip $(CURVE_EPOCHS) epochs lr $(CURVE_LR) batch $(BATCH) $(CURVE_SCHEDULE) seed \
                     $(CURVE_SEED) $(CURVE_FLAGS) $(THREADS) threads $(DEVICE))
eval_set  := $(strip $(POINTS) points $(EVAL_FLAGS))

# $(call made-with,STAGE,RESULTS): the results depend on `force` where another setting made them.
equal     = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
made-with = $(foreach r,$(2),$(eval $(r): $(if $(call equal,$($(1)_set),$(file <$(r).settings)),,force)))
keep      = @echo '$($(1)_set)' > $@.settings
# A checkpoint's name holds all that decides it, so that it is taken up by the same run and no other.
checkpoint = $(1).$(firstword $(shell echo '$(2)' | cksum)).checkpoint

# ---- data ------------------------------------------------------------------------------------------
source := $(if $(filter synth,$(DATA)),--seed $(DATA_SEED),$(DATA_DIR))
$(call made-with,data,$(OUT)/train.mcz $(OUT)/test.mcz)

$(OUT)/train.mcz:
	$(RUN) mc-data $(DATA) $(source) --split train $(call images,TRAIN_IMAGES) -o $@
	$(call keep,data)
$(OUT)/test.mcz:
	$(RUN) mc-data $(DATA) $(source) --split test $(call images,TEST_IMAGES) -o $@
	$(call keep,data)

# ---- the ends --------------------------------------------------------------------------------------
a := $(OUT)/net-$(A).mcz
b := $(OUT)/net-$(B).mcz
$(call made-with,train,$(a) $(b))

$(a) $(b): $(OUT)/net-%.mcz: $(OUT)/train.mcz
	$(RUN) mc-train --net $(NET) --data $< --seed $* --epochs $(EPOCHS) --lr $(LR) \
	    --batch $(BATCH) --schedule $(SCHEDULE) $(TRAIN_FLAGS) $(device) $(MESSAGES) \
	    --checkpoint $(call checkpoint,$(OUT)/net-$*,$(data_set) $(train_set)) --resume \
	    --log-json $(OUT)/net-$*.log.json -o $@
	$(call keep,train)
	@rm -f $(OUT)/net-$*.*.checkpoint

# ---- the alignment ---------------------------------------------------------------------------------
$(call made-with,align,$(P)/moments.mcz)

$(P)/moments.mcz: $(a) $(b)
	$(RUN) mc-acts --data $(OUT)/train.mcz $(call images,ALIGN_IMAGES) $(device) $(a) $(b) -o $@
	$(call keep,align)
$(P)/matrices.mcz: $(P)/moments.mcz
	$(RUN) mc-corr $< -o $@
$(P)/permutation.mcz: $(P)/matrices.mcz
	$(RUN) mc-hungarian $< -o $@
$(P)/b-aligned.mcz: $(P)/permutation.mcz $(b)
	$(RUN) mc-permute $(P)/permutation.mcz $(b) -o $@
$(P)/signature.tsv: $(P)/moments.mcz $(P)/permutation.mcz
	$(RUN) mc-corr --signature --perm $(P)/permutation.mcz $(P)/moments.mcz -o $@

# ---- the paths: straight, and learned --------------------------------------------------------------
lines  := $(P)/line-unaligned.mcz $(P)/line-aligned.mcz
curves := $(P)/curve-unaligned.mcz $(P)/curve-aligned.mcz
$(P)/line-unaligned.mcz $(P)/curve-unaligned.mcz: to := $(b)
$(P)/line-aligned.mcz $(P)/curve-aligned.mcz: to := $(P)/b-aligned.mcz
$(P)/line-unaligned.mcz $(P)/curve-unaligned.mcz: $(a) $(b)
$(P)/line-aligned.mcz $(P)/curve-aligned.mcz: $(a) $(P)/b-aligned.mcz
$(call made-with,curve,$(curves))

$(lines):
	$(RUN) mc-bezier --epochs 0 $(a) $(to) -o $@
$(curves): $(P)/curve-%.mcz: $(OUT)/train.mcz
	$(RUN) mc-bezier --data $< --seed $(CURVE_SEED) --epochs $(CURVE_EPOCHS) --lr $(CURVE_LR) \
	    --batch $(BATCH) --schedule $(CURVE_SCHEDULE) $(CURVE_FLAGS) $(device) $(MESSAGES) \
	    --checkpoint $(call checkpoint,$(P)/curve-$*,$(data_set) $(train_set) $(align_set) \
	        $(curve_set)) --resume \
	    --log-json $(P)/curve-$*.log.json $(a) $(to) -o $@
	$(call keep,curve)
	@rm -f $(P)/curve-$*.*.checkpoint

# ---- what they measure, and the pictures -----------------------------------------------------------
$(call made-with,eval,$(paths:%=$(P)/%.tsv))

$(paths:%=$(P)/%.tsv): $(P)/%.tsv: $(P)/%.mcz $(OUT)/train.mcz $(OUT)/test.mcz
	$(RUN) mc-eval --data $(OUT)/train.mcz --data $(OUT)/test.mcz --bn-data $(OUT)/train.mcz \
	    --points $(POINTS) $(EVAL_FLAGS) $(device) --summary $(P)/$*.summary.tsv $< -o $@
	$(call keep,eval)

$(P)/table.tsv: $(paths:%=$(P)/%.tsv) $(here)table.awk
	$(RUN) awk -f $(here)table.awk $(paths:%=$(P)/%.summary.tsv) > $@

tables := 'straight, unaligned=$(P)/line-unaligned.tsv' 'straight, aligned=$(P)/line-aligned.tsv' \
          'curve, unaligned=$(P)/curve-unaligned.tsv' 'curve, aligned=$(P)/curve-aligned.tsv'
$(P)/path.svg $(P)/path.png: $(paths:%=$(P)/%.tsv)
	$(RUN) mc-plot path --data test --title '$(NET) on $(DATA), seeds $(A) and $(B)' $(tables) -o $@
$(P)/signature.svg $(P)/signature.png: $(P)/signature.tsv
	$(RUN) mc-plot signature --title '$(NET) on $(DATA), seeds $(A) and $(B)' $< -o $@
$(P)/training.svg $(P)/training.png: $(paths:%=$(P)/%.mcz)
	$(RUN) mc-plot log --title '$(NET) on $(DATA)' $(logs) -o $@

# SPDX-License-Identifier: Apache-2.0
#
# What the make graphs share: the settings, and how to come from a data set to pairs of networks, aligned,
# joined and measured. connect.mk, and every other graph here, includes it and adds what it draws.
#
#   settings := SIZES         names of settings that the graph adds; every other name is refused
#   counts := SIZE            of these, the whole numbers
#   variants := unaligned aligned mine      (before the include) the ways in which the second end is taken
#   include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error ...))
#
# Each pair A:B has a folder, OUT/A-B. In it, for each variant V but `unaligned`, b-V.mcz is the second end
# after permutation-V.mcz (permutation.mcz where V is `aligned`), which the graph makes; line-V.mcz is the
# straight line to it, curve-V.mcz the learned curve; each with .tsv and .summary.tsv when measured. Made here:
# OUT/{train,test,net-SEED}.mcz, and for `aligned` moments, matrices, permutation and signature.tsv.
#
# Goals besides `all`: `shared`, what pairs may share: the data and the networks; net-SEED, one network, of data that is
# there; `pair`, with one of PAIRS, what lies in its folder, of networks that are there. Makes of different networks and
# pairs may work in an OUT side by side, on any machine that sees it (slurm.sh). `cost`: what all would cost.
#
# For rules over $(pairs:%=$(OUT)/%/x): in a recipe $(a) and $(b) are the two ends' networks, $(A) and $(B)
# their seeds, $(@D) the pair's folder; in prerequisites $$(a), $$(b), $$(@D).
# $(call each,x y): those files of every pair.

DATA         ?= synth#          a data set of mc-data: cifar10, cifar100, tiny-imagenet, folder, npz, idx, synth
DATA_DIR     ?=#                where the publisher's files lie; of npz the file
DATA_SEED    ?= 1#              of synth
DATA_FLAGS   ?= $(and $(filter googlenet,$(NET)),$(filter tiny-imagenet,$(DATA)),--size 32)# more for mc-data, both splits
TRAIN_IMAGES ?=#                how many, the first ones; empty: all
TEST_IMAGES  ?=#                likewise
NET          ?= tinyten#        a network of mc-train, by name or FILE.json
SEEDS        ?= 1 2#            of the two ends: short for PAIRS="1:2"
PAIRS        ?= $(subst $(blank),:,$(strip $(SEEDS)))# "1:2 3:4"; curves have the first end's seed, of "1:2:7" 7
EPOCHS       ?= 250#            of the networks
CURVE_EPOCHS ?= $(EPOCHS)#      of the curves; the networks' unless given
LR           ?= 0.1#            learning rate
CURVE_LR     ?= $(if $(filter cifar100,$(DATA)),0.1,0.01)# 0.1 for cifar100, else 0.01
BATCH        ?= 128#            images a step
CURVE_BATCH  ?= $(BATCH)#       the networks' unless given
SCHEDULE     ?= step#           of the learning rate, as mc-train takes it
CURVE_SCHEDULE ?= $(SCHEDULE)#  the networks' unless given
TRAIN_FLAGS  ?=#                more for mc-train that decides its result
ALIGN_IMAGES ?=#                images the alignment looks at; empty: the first fifth
ACTS_FLAGS   ?=#                more for mc-acts: --at pre
CORR_FLAGS   ?=#                more for mc-corr: --measure l2
HUNGARIAN_FLAGS ?=#             more for mc-hungarian
CURVE_FLAGS  ?=#                more for mc-bezier
POINTS       ?= 65#             measured along a path
EVAL_FLAGS   ?=#                more for mc-eval, --full for all images
MESSAGES     ?=#                -v: a line an epoch; -q: errors only
THREADS      ?= 2#              fixed, so that a rerun gives the same bytes
DEVICE       ?= auto#           cpu, cuda[:N]
PRECISION    ?= f32#            of a CUDA device: tf32, bf16, f16
OUT          ?= out#            the folder of the results
FROM         ?=#                a folder like OUT to take networks, curves from, and what else of a pair's ends it has
RUN          ?=#                what sends a job elsewhere: srun -c 2, pipelines/cluster/gpus.sh 0:2 1
RUN_LIGHT    ?= $(RUN)#         the same for jobs of seconds, tables and pictures above all; RUN_LIGHT= runs them here

here := $(dir $(lastword $(MAKEFILE_LIST)))
path-names := DATA_DIR OUT FROM BIN NET
include $(here)names.mk
# in the source tree, or installed in share/mc
built := $(abspath $(firstword $(wildcard $(here)../build/bin/mc-data $(here)../../bin/mc-data)))
BIN          ?= $(built:%/mc-data=%)# where the programs are
export PATH := $(if $(BIN),$(BIN):)$(PATH)

# ---- what was asked for ----------------------------------------------------------------------------
# a misspelt setting on the command line would go unheard
known := DATA DATA_DIR DATA_SEED DATA_FLAGS TRAIN_IMAGES TEST_IMAGES NET SEEDS PAIRS EPOCHS \
         CURVE_EPOCHS LR CURVE_LR BATCH CURVE_BATCH SCHEDULE CURVE_SCHEDULE TRAIN_FLAGS ALIGN_IMAGES ACTS_FLAGS CORR_FLAGS \
         HUNGARIAN_FLAGS CURVE_FLAGS POINTS EVAL_FLAGS MESSAGES THREADS DEVICE PRECISION OUT FROM RUN RUN_LIGHT RATES BIN \
         $(settings)
$(foreach name,$(filter-out $(known) -% Q V BUILD MAKE%,$(given)), \
    $(error there is no setting '$(name)' (there are: $(known))))

ifeq ($(BIN)$(shell command -v mc-data)$(filter help,$(MAKECMDGOALS)),)
$(error there are no programs yet: run make, or say BIN=FOLDER)
endif
$(foreach name,OUT $(if $(FROM),FROM),$(if $(or $(filter-out 1,$(words $($(name)))),$(call steers,$($(name)))), \
    $(error $(name)="$($(name))": a folder's name without blanks, colons, commas, equal and percent signs, quotes, a dash at its begin and what else steers a shell is wanted)))
$(foreach name,DATA_DIR NET BIN,$(if $(findstring $(newline),$($(name))),$(error $(name): a name without line ends is wanted)))
$(if $(findstring :,$(BIN)),$(error BIN="$(BIN)": a folder's name without colons is wanted))
$(if $(BIN),$(if $(shell command -v $(call quote,$(BIN)/mc-data)),,$(error BIN="$(BIN)": there are no programs there)))
override OUT  := $(patsubst %/,%,$(OUT))
override FROM := $(patsubst %/,%,$(FROM))

# A:B, or A:B:C where C is its curves' seed
# what the programs would refuse too, but hours later; empty is all of the images
counts  += EPOCHS CURVE_EPOCHS BATCH CURVE_BATCH POINTS DATA_SEED $(foreach n,TRAIN_IMAGES TEST_IMAGES ALIGN_IMAGES,$(if $($(n)),$(n)))
$(foreach name,$(counts),$(if $(or $(filter-out 1,$(words $($(name)))),$(call digits,$($(name)))), \
    $(error $(name)="$($(name))": a whole number is wanted)))
$(if $(filter 0 1,$(POINTS)),$(error POINTS="$(POINTS)": both ends at least are wanted))
real     = $(call digits,$(subst e,,$(subst E,,$(subst .,,$(subst -,,$(subst +,,$(subst /,,$(1))))))))
$(foreach name,LR CURVE_LR,$(if $(or $(filter-out 1,$(words $($(name)))),$(call real,$($(name)))), \
    $(error $(name)="$($(name))": a number is wanted)))

is-folder = $(shell [ ! -d $(call quote,$(DATA_DIR)$(1)) ] || echo it)
ifneq ($(if $(filter folder,$(DATA)),$(if $(DATA_DIR),$(if $(FROM),,$(if $(call is-folder),$(if $(strip $(foreach s,train test val,$(call is-folder,/$(s)))),,it))))),)
$(error DATA_DIR="$(DATA_DIR)": both splits would be of the same images: a folder with train and test (or val) in it is wanted)
endif
ifneq ($(filter --arrays% --split%,$(DATA_FLAGS)),)
$(error DATA_FLAGS="$(DATA_FLAGS)": both splits would be of the same images: DATA=npz finds arrays that are named after their split)
endif

part    = $(word $(1),$(subst :, ,$(2)))
ill     = $(or $(filter-out 2: 3::,$(words $(subst :, ,$(1)))$(call digits,$(1))), \
              $(filter $(call part,1,$(1)),$(call part,2,$(1))))
ifneq ($(words $(SEEDS)),2)
$(error SEEDS="$(SEEDS)": two seeds are wanted, one for each end)
endif
ifneq ($(and $(filter SEEDS,$(given)),$(filter PAIRS,$(given))),)
$(error SEEDS and PAIRS: one of them is wanted)
endif
$(foreach pair,$(PAIRS),$(if $(call ill,$(pair)), \
    $(error PAIRS="$(PAIRS)": two different seeds a pair are wanted, "1:2 3:4")))
pairs  := $(foreach pair,$(PAIRS),$(call part,1,$(pair))-$(call part,2,$(pair)))
ifneq ($(words $(sort $(pairs))),$(words $(PAIRS)))
$(error PAIRS="$(PAIRS)": a pair is there twice)
endif
ifeq ($(pairs),)
$(error PAIRS="": a pair of seeds is wanted, "1:2")
endif
$(foreach pair,$(PAIRS),$(eval curve-seed-$(call part,1,$(pair))-$(call part,2,$(pair)) := \
    $(or $(call part,3,$(pair)),$(call part,1,$(pair)))))

variants ?= unaligned aligned
paths    := $(foreach v,$(variants),line-$(v) curve-$(v))
seeds    := $(sort $(subst -, ,$(pairs)))
each      = $(foreach pair,$(pairs),$(1:%=$(OUT)/$(pair)/%))
device   := --threads $(THREADS) --device $(DEVICE) --precision $(PRECISION)
images    = $(if $($(1)),--samples $($(1)))

# the pair that a result belongs to, by its folder
pair-of   = $(notdir $(patsubst %/,%,$(dir $(1))))
A         = $(firstword $(subst -, ,$(call pair-of,$@)))
B         = $(lastword $(subst -, ,$(call pair-of,$@)))
a         = $(OUT)/net-$(A).mcz
b         = $(OUT)/net-$(B).mcz
# the second end of a path, by the name: curve-V.mcz
variant   = $(patsubst line-%,%,$(patsubst curve-%,%,$(basename $(notdir $@))))
to        = $(if $(filter unaligned,$(variant)),$(b),$(@D)/b-$(variant).mcz)

# how pictures and tables call them
net-file  := $(if $(findstring /,$(NET)),$(NET),$(filter %.json,$(NET)))
last      = $(subst |,$(blank),$(notdir $(patsubst %/,%,$(patsubst %$(2),%,$(subst $(blank),|,$(1))))))
net-name  := $(if $(net-file),$(call last,$(NET),.json),$(NET))
data-name := $(if $(filter folder npz idx,$(DATA)),$(call last,$(DATA_DIR),.npz),$(DATA))

all:
# what the graph is for, and its settings: a name, what it is when not given, what it means
help:
	@sed -n '3,/^[^#]/s/^# \{0,1\}//p' $(graph)
	@sed -nE 's/^([A-Z_]+) *\?= *([^#]*[^# ])? *#? *(.*)/  \1\t\2\t\3/p' $(MAKEFILE_LIST) | \
	    awk -F '\t' '!seen[$$1]++ { printf "%-19s %-11s %s\n", $$1, $$2 ~ /[$$]/ ? "" : $$2, $$3 }'
.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:
.PHONY: all help force cost shared pair $(seeds:%=net-%)
# a network's or a pair's make leaves the rest of OUT as it is
unit := $(if $(filter pair,$(MAKECMDGOALS)),$(pairs),$(filter $(seeds:%=net-%),$(MAKECMDGOALS)))
ifneq ($(and $(unit),$(or $(filter-out 1,$(words $(unit) $(filter-out $(unit) pair,$(MAKECMDGOALS)))))),)
$(error $(MAKECMDGOALS): one pair of PAIRS, or one network, by itself is wanted)
endif
before = @echo '$(unit): $@ is missing, or was made with other settings: it is made before, by the goal shared' >&2; exit 1
# data and a network that are still to be made are looked for before anything is; not for a cost of paper.mk, with make -n
equal    = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
data_set = $(strip $(DATA) $(DATA_DIR) $(DATA_SEED) \
               train $(if $(filter %train.mcz,$(1)),$(TRAIN_IMAGES)) \
               test $(if $(filter %test.mcz,$(1)),$(TEST_IMAGES)) $(DATA_FLAGS))
is-made  = $(or $(and $(FROM),$(wildcard $(FROM)/$(1))),$(and $(wildcard $(OUT)/$(1)),$(call equal,$(call data_set,$(1)),$(file <$(OUT)/$(1).settings))))
sets     = $(shell $(call program,mc-data) --help | sed -nE 's/.*mc-data \[OPTION...\] ([a-z0-9-]+).*/\1/p' | sort -u)
program  = $(call quote,$(if $(BIN),$(BIN)/)$(1))
idle    := $(or $(unit),$(filter help,$(MAKECMDGOALS)),$(and $(dry-run),$(filter-out 0,$(MAKELEVEL))))
net-made = $(if $(strip $(foreach s,$(seeds),$(if $(call equal,$(NET),$(firstword $(file <$(OUT)/net-$(s).mcz.settings))),,no))),,it)
no-net   = $(shell $(call program,mc-data) synth --samples 2 --no-progress 2>&1 | { $(call program,mc-train) -q -t 1 --net $(call quote,$(NET)) --data - \
               --epochs 0 --batch 2 -o /dev/null 2>&1; [ $$? != 2 ] || echo .; } | sed -n '$$!{h;d}; /^\.$$/{x;s/^[^:]*: //p}')
ifeq ($(or $(idle),$(FROM),$(net-made)),)
$(if $(net-file),$(if $(or $(RUN),$(call on-disk,$(NET))),,$(error NET="$(NET)": there is no such file)),$(eval told := $$(no-net))$(if $(told),$(error NET="$(NET)": $(told))))
endif
ifeq ($(or $(idle),$(and $(call is-made,train.mcz),$(call is-made,test.mcz))),)
$(if $(filter-out 1,$(words $(DATA)) $(words $(filter $(sets),$(DATA)))),$(error DATA="$(DATA)": a data set of mc-data is wanted: $(sets)))
ifneq ($(filter-out synth,$(DATA)),)
$(if $(or $(DATA_DIR),$(filter cost,$(MAKECMDGOALS))),,$(error DATA_DIR: where the files of DATA=$(DATA) lie is wanted))
# a RUN may go where they are; a cost needs none
$(if $(or $(RUN),$(if $(DATA_DIR),,none is given),$(call on-disk,$(DATA_DIR))),,$(error DATA_DIR="$(DATA_DIR)": there is no such folder or file))
endif
endif
# make -n makes nothing; else, before any result is looked at, OUT is this make's alone
ifeq ($(dry-run)$(filter help cost,$(MAKECMDGOALS)),)
$(shell mkdir -p $(pairs:%=$(OUT)/%))
self  := $(firstword $(file </proc/self/stat))
taken := $(shell exec $(here)lock.sh $(OUT) $(self) $(notdir $(graph)) $(unit))
ifneq ($(.SHELLSTATUS),0)
$(error OUT="$(OUT)": $(taken))
endif
# a make that was killed behind a result's settings has left its checkpoint
$(shell for f in $(OUT)/*.checkpoint $(OUT)/*/*.checkpoint; do \
    [ ! "$${f%.*.checkpoint}.mcz.settings" -nt "$$f" ] || rm -f "$$f"; done)
.SHELLFLAGS := -c $(OUT)/.jobs$(unit:%=-%) $(self)
override SHELL := $(here)lock.sh
endif

# jobs, hours, memory and disk of what is still to be made: the data, each network, each pair (cost.awk)
RATES ?=#                       for cost, images/s in training and evaluation: tinyten=900:4000; measured if not given
size  := $(filter-out --size,$(filter --size%,$(DATA_FLAGS)) $(if $(filter --size,$(DATA_FLAGS)),$(lastword $(DATA_FLAGS))))
# HEIGHTxWIDTH that a graph's file takes
takes  = $(if $(net-file),$(shell [ ! -f $(call quote,$(NET)) ] || tr -d '[:space:]' <$(call quote,$(NET)) | \
             sed -nE 's/.*"input":\[[0-9]+,([0-9]+),([0-9]+)\].*/\1x\2/p'))
again := $(MAKE) -n --no-print-directory -f $(graph)
# of a set that is no publisher's how many there are is seen in train.mcz: $1, and $2 as HEIGHTxWIDTH
brought := $(filter folder npz idx,$(DATA))
seen     = $(firstword $(wildcard $(OUT)/train.mcz $(FROM:%=%/train.mcz)))
count    = set -- $(if $(seen),$$(mc-info --json $(seen) | \
               sed -nE 's/.*"name":"images",[^[]*\[([0-9]+),[0-9]+,([0-9]+),([0-9]+)\].*/\1 \2x\3/p')); \
           [ -n "$(TRAIN_IMAGES)$$1" ] || { echo 'cost: how many images DATA=$(DATA) has is not known before \
$(OUT)/train.mcz is there: make that, or say TRAIN_IMAGES' >&2; exit 1; }; \
           [ -n "$(size)$(takes)$$2" ] || echo 'cost: taken to be of 32 x 32 images, before $(OUT)/train.mcz is there' >&2;
cost:
	@$(if $(brought),$(count)) rates=$$($(here)rates.sh $(THREADS) $(DEVICE) $(call quote,$(RATES)) $(call quote,$(NET))) && jobs=$$( \
	    echo "echo '== data: it'" && $(again) $(OUT)/train.mcz $(OUT)/test.mcz && \
	    $(foreach s,$(seeds),echo "echo '== net-$(s): it'" && $(again) net-$(s) &&) \
	    $(foreach p,$(PAIRS),echo "echo '== $(call part,1,$(p))-$(call part,2,$(p)): it'" && $(again) $(if $(filter SEEDS,$(given)),,PAIRS=$(p)) pair &&) true) && printf '%s\n' "$$jobs" | \
	    awk -v rates="$$(echo "$$rates" | tr '\n' ';')" -v nets=$(call quote,$(foreach p,data $(seeds:%=net-%) $(pairs),$(p)=$(NET)=$(DATA))) \
	    -v train_images="$(or $(TRAIN_IMAGES),$$1)" -v test_images=$(TEST_IMAGES) -v size="$(or $(lastword $(subst =, ,$(size))),$(takes),$$2)" \
	    -v threads=$(THREADS) -v device=$(DEVICE) -f $(here)cost.awk

# What decides each stage's result, which is $(1). A graph's file counts by what is in it.
file_sum   := $(if $(net-file),$(shell [ ! -f $(call quote,$(NET)) ] || cksum <$(call quote,$(NET))))
train_set   = $(strip $(NET) $(file_sum) $(EPOCHS) epochs lr $(LR) batch $(BATCH) $(SCHEDULE) $(TRAIN_FLAGS) \
                  $(THREADS) threads $(DEVICE) $(filter-out f32,$(PRECISION)))
align_set   = $(strip images $(ALIGN_IMAGES) $(ACTS_FLAGS))
corr_set    = $(strip $(CORR_FLAGS))
assign_set  = $(strip $(HUNGARIAN_FLAGS))
curve_set   = $(strip $(CURVE_EPOCHS) epochs lr $(CURVE_LR) batch $(CURVE_BATCH) $(CURVE_SCHEDULE) seed \
                  $(curve-seed-$(call pair-of,$(1))) $(CURVE_FLAGS) $(THREADS) threads $(DEVICE) $(filter-out f32,$(PRECISION)))
eval_set    = $(strip $(POINTS) points $(EVAL_FLAGS))

# $(call made-with,STAGE,RESULTS): the results are made anew where another setting made them, or it is not known which; their
# recipe ends with $(call keep,STAGE). Those that FROM has are refused instead, where it says what made them.
made-with = $(foreach r,$(2),$(if $(filter $(r),$(taken)),$(call as-asked,$(1),$(r)), \
    $(eval $(r): $(if $(and $(wildcard $(r).settings),$(if $(wildcard $(r).before),$(shell [ ! $(r) -ef $(r).before ] || echo known),known),$(call equal,$(call $(1)_set,$(r)),$(file <$(r).settings))),,$(r).anew))))
as-asked  = $(foreach f,$(2:$(OUT)/%=$(FROM)/%),$(if $(filter help,$(MAKECMDGOALS)),,$(if $(wildcard $(f).settings), \
    $(if $(call equal,$(call $(1)_set,$(2)),$(file <$(f).settings)),,$(error FROM="$(FROM)": $(f) was made with \
        '$(file <$(f).settings)', and '$(call $(1)_set,$(2))' is asked for)))))
keep      = @echo $(call quote,$(call $(1)_set,$@)) > $@.settings && rm -f $@.before $(basename $@).*.checkpoint
# The old result stays known as such until its job is done: RESULT.before, the same file, says that its job has not replaced
# it (made-with, lock.sh). One that a make of a network or pair finds of another is for the make of that, or of all.
%.anew: force
	@[ -e $*.before ] || { [ -e $* ] && ln -f $* $*.before 2>/dev/null; } || rm -f $*.settings
# $(call checkpoint,NAME,SETTINGS): its name holds all that decides it, so that it is taken up by the same run
# and no other.
checkpoint = $(1).$(firstword $(shell echo $(call quote,$(strip $(2))) | cksum)).checkpoint

# ---- what comes from elsewhere ---------------------------------------------------------------------
# FROM's networks, and its curves of pairs whose curves have the first end's seed; data and permutations it has
nets  := $(seeds:%=$(OUT)/net-%.mcz)
lines  := $(call each,$(variants:%=line-%.mcz))
curves := $(call each,$(variants:%=curve-%.mcz))
of-first := $(foreach p,$(pairs),$(if $(filter $(firstword $(subst -, ,$(p))),$(curve-seed-$(p))),$(p)))
has    = $(foreach f,$(1),$(if $(wildcard $(f:$(OUT)/%=$(FROM)/%)),$(f)))
taken := $(if $(FROM),$(nets) $(foreach p,$(of-first),$(foreach v,$(filter unaligned aligned pam-%,$(variants)),$(OUT)/$(p)/curve-$(v).mcz)) \
             $(call has,$(OUT)/train.mcz $(OUT)/test.mcz $(call each,permutation.mcz)))
here-made = $(filter-out $(taken),$(1))

$(taken): $(OUT)/%: $(FROM)/%
	ln -f $< $@ 2>/dev/null || cp -pf $< $@
	@for f in $<.settings $(<:.mcz=.log.json); do [ ! -e $$f ] || cp -pf $$f $(@D); done
$(taken:$(OUT)/%=$(FROM)/%):
	@echo "FROM=$(FROM): there is no $@" >&2; exit 1

# ---- data ------------------------------------------------------------------------------------------
source := $(if $(filter synth,$(DATA)),--seed $(DATA_SEED),$(if $(DATA_DIR),$(call quote,$(if $(filter -%,$(firstword $(DATA_DIR))),./)$(DATA_DIR))))
$(call made-with,data,$(OUT)/train.mcz $(OUT)/test.mcz)

ifneq ($(unit),)
$(call here-made,$(OUT)/train.mcz $(OUT)/test.mcz):
	$(before)
else
$(call here-made,$(OUT)/train.mcz):
	$(RUN) mc-data $(DATA) $(source) --split train $(call images,TRAIN_IMAGES) $(DATA_FLAGS) -o $@
	$(call keep,data)
$(call here-made,$(OUT)/test.mcz):
	$(RUN) mc-data $(DATA) $(source) --split test $(call images,TEST_IMAGES) $(DATA_FLAGS) -o $@
	$(call keep,data)
endif

# ---- the ends --------------------------------------------------------------------------------------
$(call made-with,train,$(nets))
# made again, they would take all that came of the others with them
attacked-by = $(findstring --attack,$(1))
other := $(strip $(foreach n,$(nets), \
    $(if $(call equal,$(call attacked-by,$(or $(file <$(n).settings),$(TRAIN_FLAGS))),$(call attacked-by,$(TRAIN_FLAGS))),,$(n))))
ifneq ($(if $(filter help,$(MAKECMDGOALS)),,$(other)),)
$(error OUT="$(OUT)": $(firstword $(other)) was trained with$(if $(findstring --attack,$(TRAIN_FLAGS)),out) an attack: \
    another OUT is wanted)
endif

$(seeds:%=net-%): net-%: $(OUT)/net-%.mcz
shared: $(OUT)/train.mcz $(OUT)/test.mcz $(nets)
ifneq ($(filter pair,$(MAKECMDGOALS)),)
$(call here-made,$(nets)): $(OUT)/train.mcz
	$(before)
else
$(call here-made,$(nets)): $(OUT)/net-%.mcz: $(OUT)/train.mcz
	$(RUN) mc-train --net $(call quote,$(NET)) --data $< --seed $* --epochs $(EPOCHS) --lr $(LR) \
	    --batch $(BATCH) --schedule $(SCHEDULE) $(TRAIN_FLAGS) $(device) $(MESSAGES) \
	    --checkpoint $(call checkpoint,$(@:.mcz=),$(call data_set,$<) $(train_set)) --resume \
	    --log-json $(@:.mcz=.log.json) -o $@
	$(call keep,train)
endif

# ---- the alignment ---------------------------------------------------------------------------------
$(call made-with,align,$(call each,moments.mcz))
$(call made-with,corr,$(call each,matrices.mcz))
# of a permutation that FROM has, what led to it too
$(foreach p,$(filter %/permutation.mcz,$(taken)),$(call as-asked,align,$(dir $(p))moments.mcz)$(call as-asked,corr,$(dir $(p))matrices.mcz))
$(call made-with,assign,$(call each,permutation.mcz))

# networks of FROM do not bring the images about
$(call each,moments.mcz): $$(a) $$(b) | $(OUT)/train.mcz
	$(RUN) mc-acts --data $(OUT)/train.mcz $(call images,ALIGN_IMAGES) $(ACTS_FLAGS) $(device) $(a) $(b) -o $@
	$(call keep,align)
$(call each,matrices.mcz): $$(@D)/moments.mcz
	$(RUN_LIGHT) mc-corr $(CORR_FLAGS) $< -o $@
	$(call keep,corr)
$(call here-made,$(call each,permutation.mcz)): $$(@D)/matrices.mcz
	$(RUN_LIGHT) mc-hungarian $(HUNGARIAN_FLAGS) $< -o $@
	$(call keep,assign)
# by the weights alone, for graphs with a variant `weights`
$(call each,permutation-weights.mcz): $$(a) $$(b)
	$(RUN) mc-match --threads $(THREADS) $(a) $(b) -o $@
$(call each,signature.tsv): $$(@D)/moments.mcz $$(@D)/permutation.mcz
	$(RUN_LIGHT) mc-corr --signature --perm $(@D)/permutation.mcz $(@D)/moments.mcz -o $@

# ---- the second ends: as trained, or in another order ----------------------------------------------
# pam-%: permutation and curve come together, from mc-pam (pam.mk)
ordered := $(filter-out unaligned pam-%,$(variants))
$(call each,$(filter b-aligned.mcz,$(ordered:%=b-%.mcz))): $$(@D)/permutation.mcz $$(b)
	$(RUN_LIGHT) mc-permute $< $(b) -o $@
$(call each,$(filter-out b-aligned.mcz,$(ordered:%=b-%.mcz))): $$(@D)/permutation-$$(patsubst b-%,%,$$(@F)) $$(b)
	$(RUN_LIGHT) mc-permute $< $(b) -o $@

# ---- the paths: straight, and learned --------------------------------------------------------------
of-pam  := $(filter %/curve-pam-unaligned.mcz %/curve-pam-aligned.mcz,$(curves))
beziers := $(call here-made,$(filter-out $(of-pam),$(curves)))
$(call made-with,curve,$(filter-out $(of-pam),$(curves)))

$(lines): $$(a) $$(to)
	$(RUN_LIGHT) mc-bezier --epochs 0 $(a) $(to) -o $@
$(beziers): $(OUT)/train.mcz $$(a) $$(to)
	$(RUN) mc-bezier --data $< --seed $(curve-seed-$(call pair-of,$@)) --epochs $(CURVE_EPOCHS) \
	    --lr $(CURVE_LR) --batch $(CURVE_BATCH) --schedule $(CURVE_SCHEDULE) $(CURVE_FLAGS) $(device) $(MESSAGES) \
	    --checkpoint $(call checkpoint,$(@:.mcz=),$(call data_set,$<) $(train_set) $(align_set) $(corr_set) \
	        $(assign_set) $(call curve_set,$@)) --resume \
	    --log-json $(@:.mcz=.log.json) $(a) $(to) -o $@
	$(call keep,curve)

# ---- what they measure -----------------------------------------------------------------------------
measured := $(call each,$(paths:%=%.tsv))
$(call made-with,eval,$(measured))

evaluate = $(RUN) mc-eval --data $(OUT)/train.mcz --data $(OUT)/test.mcz --bn-data $(OUT)/train.mcz \
               --points $(POINTS) $(EVAL_FLAGS) $(device) --summary $(@:.tsv=.summary.tsv)
$(measured): %.tsv: %.mcz $(OUT)/train.mcz $(OUT)/test.mcz
	$(evaluate) $< -o $@
	$(call keep,eval)

# ---- for tables and pictures: of a pair in its folder, of all in OUT --------------------------------
everywhere := $(if $(unit),,$(OUT)) $(pairs:%=$(OUT)/%)
pair: all
of     = $(if $(filter $(OUT),$(@D)),$(pairs),$(notdir $(@D)))
# $(call files,x y): those files of these pairs; $(call joined,FILES): as mc-plot takes them for one line;
# $(title), or $(call title,WHAT$(comma) )
files  = $(foreach pair,$(of),$(1:%=$(OUT)/$(pair)/%))
joined = $(subst $(blank),$(comma),$(strip $(1)))
title  = --title $(call quote,$(net-name) on $(data-name)$(comma) $(1)$(if $(word 5,$(of)),$(words $(of)) pairs,seeds \
             $(subst $(blank),$(comma) ,$(subst -,–,$(of)))))
names := -v network=$(call quote,$(net-name)) -v data=$(call quote,$(data-name))
# at the end of a line that prints a table: a kill leaves none that is cut off
whole  = > $@.part && mv $@.part $@
table := -f $(here)spread.awk -f $(here)paths.awk -f $(here)table.awk

# the trainings that have a log, and the table of their last epochs. It keeps PAM's rows where another graph than
# pam.mk finds nothing to make.
logged   := $(strip $(if $(filter-out 0,$(EPOCHS)),network) $(if $(filter-out 0,$(CURVE_EPOCHS)),$(variants:%=curve-%)))
training := -f $(here)spread.awk -f $(here)training.awk
training_set = $(logged)
theirs   := $(filter-out $(logged),curve-pam-unaligned curve-pam-aligned)

$(OUT)/training.tsv: $(nets) $(curves) $(OUT)/pairs $(filter-out -f,$(training)) \
    $(if $(call equal,$(logged),$(filter-out $(theirs),$(file <$(OUT)/training.tsv.settings))),,$(OUT)/training.tsv.anew)
	$(RUN_LIGHT) awk $(names) $(training) $(if $(filter network,$(logged)),name=network $(nets:.mcz=.log.json)) \
	    $(foreach k,$(filter curve-%,$(logged)),name=$(k) $(call each,$(k).log.json)) $(whole)
	$(call keep,training)

# which pairs OUT's tables and pictures are of
$(OUT)/pairs: $(if $(call equal,$(PAIRS),$(file <$(OUT)/pairs)),,force)
	@echo '$(PAIRS)' > $@

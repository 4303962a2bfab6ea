# SPDX-License-Identifier: Apache-2.0
#
# The paper's cases: a network and a data set each. Each runs other experiments in its own folder.
#
#   make -f pipelines/paper/paper.mk CIFAR10_DIR=DIR CIFAR100_DIR=DIR TINY_IMAGENET_DIR=DIR -j8
#   make -f pipelines/paper/paper.mk PART="tinyten-cifar10 bound-mlp-cifar10" CIFAR10_DIR=DIR
#   make -f pipelines/paper/paper.mk PART=resnet32-cifar10 SCALE=.1 CIFAR10_DIR=DIR    # a tenth of the epochs
#   make -f pipelines/paper/paper.mk cost PART=resnet32-cifar10       # estimate its hours, memory and disk
#   make -f pipelines/paper/paper.mk publish PART=tinyten-cifar10     # keep its networks, curves and tables
#   make -f pipelines/paper/paper.mk reevaluate CIFAR10_DIR=DIR       # measure published tables again
#
# The cases, with a NET of NETS and a DATA of DATA_SETS:
#   NET-DATA          networks, alignments and curves: tables 1 and 2, figures 1 to 3
#   figures-NET-DATA  the same ends, with one seed for all curves, as in the paper's figures
#   grid-NET-DATA     the same ends, with curves of several rates and batch sizes: table 3
#   robust-NET-DATA   networks and curves trained on adversarial examples: figure 4
#   bound-mlp-DATA    the bound of theorem 3.1 for BOUND_NET
# PART="" selects the paper's cases; the goal `parts` lists them. figures- and grid- run connect.mk of
# NET-DATA first.
#
# SCALE shortens all trainings: it multiplies EPOCHS, and the learning rate falls faster accordingly.
# OUT/NAME/length has the settings of a case's tables; for other settings choose another OUT or SUFFIX.
# Settings of the other experiments (POINTS, THREADS, DEVICE, RUN, EVAL_FLAGS, ...) are passed to them. At
# the end, or with the goal `verdicts`, the results are compared with the paper: OUT/verdicts.md and
# verdicts.tsv.
OUT           ?= paper#        folder of the cases
PART          ?=#              names of cases; empty: the paper's
EXPERIMENTS   ?=#              limit each case to these experiments; empty: all
NETS          ?= tinyten resnet32 googlenet# networks of mc-train
DATA_SETS     ?= cifar10 cifar100 tiny-imagenet# data sets; synth too
CIFAR10_DIR   ?=#              folder of the publisher's files
CIFAR100_DIR  ?=#              likewise
TINY_IMAGENET_DIR ?=#          likewise
MISSING       ?= stop#         if data are missing: stop, or skip the case
PAIRS         ?= 1:2 3:4 5:6#  seeds of the ends of each pair
SCALE         ?= 1#            fraction of the length of all trainings, at most 1
EPOCHS        ?= 250#          epochs of the networks
CURVE_EPOCHS  ?= $(EPOCHS)#    epochs of the curves
PERMUTATION_EPOCHS ?= 20#      epochs of PAM's permutation step
PAM_FLAGS     ?= --as-paper#   options of mc-pam
ROBUST_EPOCHS ?= $(if $(filter 250,$(EPOCHS)),200,$(EPOCHS))# epochs of robust networks and curves
STOP_AFTER    ?= 20#           epochs after which googlenet's robust curves end
BOUND_NET     ?= mlp:256,256#  an mlp without batch norm
BOUND_EPOCHS  ?= $(if $(filter 250,$(EPOCHS)),20,$(EPOCHS))# epochs of its networks: 20, or EPOCHS if given
SUFFIX        ?=#              after the name of each case's folder
PUBLISHED     ?= $(paper)published# folder of published cases

paper  := $(dir $(lastword $(MAKEFILE_LIST)))
here   := $(paper)../
graphs := connect pam middle measures planes subsets averaged intervals robust grid bound
files-read := $(paper)paper.mk $(graphs:%=$(here)%.mk) $(here)include/settings.mk
programs := $(wildcard $(here)../build/bin/mc-data $(here)../../bin/mc-data)
BIN    ?= $(patsubst %/mc-data,%,$(firstword $(programs)))
export PATH := $(if $(BIN),$(abspath $(BIN)):)$(PATH)
# the other experiments read the user's settings from the environment, and a case's from the command line
export OUT PAIRS SCALE PAM_FLAGS BIN
unexport EPOCHS CURVE_EPOCHS
from-command-line := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(v)))),$(v)))
$(if $(findstring i,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),$(error make -i ignores failures: use -k))
fixed := $(filter DATA DATA_DIR NET SEEDS FROM CURVE_SEED,$(from-command-line))
$(if $(fixed),$(error each case sets $(fixed): select cases with PART))
MAKEOVERRIDES :=
override SHELL := /bin/bash
.SECONDEXPANSION:
.PHONY: all cost help parts start publish reevaluate verdicts
quote  = '$(subst ','\'',$(1))'
known  = $(foreach x,$($(1)),$(if $(filter $(2),$(x)),,$(error $(1): '$(x)' is not one of: $(2))))

# ---- the cases -------------------------------------------------------------------------------
plain   := $(foreach d,$(DATA_SETS),$(NETS:%=%-$(d)))
others  := $(plain:%=figures-%) $(plain:%=grid-%) $(plain:%=robust-%) $(DATA_SETS:%=bound-mlp-%)
papers  := $(plain) $(if $(word 2,$(PAIRS)),$(plain:%=figures-%)) \
           $(filter grid-tinyten-cifar100 robust-%-cifar10 robust-%-cifar100 bound-%,$(others))
own := $(shell LC_ALL=C sed -nE 's/^([A-Z][A-Z0-9_]*) *\?=.*/\1/p' $(paper)paper.mk)
ifeq ($(filter help parts,$(MAKECMDGOALS)),)
values := $(foreach n,$(sort $(own) $(from-command-line)) PATH,$(n)=$(call quote,$($(n))))
$(shell $(values) $(here)include/check-settings $(files-read) -- $(from-command-line))
$(if $(filter-out 0,$(.SHELLSTATUS)),$(error invalid settings of paper.mk))
endif
$(call known,DATA_SETS,cifar10 cifar100 tiny-imagenet synth)$(call known,PART,$(plain) $(others))
$(call known,EXPERIMENTS,$(graphs))$(call known,MISSING,stop skip)
has-curves = $(wildcard $(PUBLISHED)/$(1)$(SUFFIX)/*-*/inner-aligned.mcz)
published := $(foreach e,$(or $(PART),$(plain) $(others)),$(if $(call has-curves,$(e)),$(e)))
chosen  := $(or $(filter $(plain) $(others),$(MAKECMDGOALS)),$(PART), \
               $(if $(filter reevaluate,$(MAKECMDGOALS)),$(published)),$(papers))
kind     = $(firstword $(filter figures grid robust bound,$(subst -, ,$(1))) plain)
ends     = $(patsubst figures-%,%,$(patsubst grid-%,%,$(1)))# case with the same ends
data     = $(firstword $(foreach d,$(DATA_SETS),$(if $(filter %-$(d),$(1)),$(d))))
stem     = $(patsubst robust-%,%,$(patsubst %-$(call data,$(1)),%,$(call ends,$(1))))
net      = $(if $(filter bound-%,$(1)),$(BOUND_NET),$(stem))
graphs-plain   = connect $(if $(filter googlenet-%,$(1)),,pam) middle \
                 $(if $(filter tinyten-%,$(1)),measures) planes subsets averaged intervals
graphs-figures = connect
graphs-of      = $(filter $(or $(EXPERIMENTS),%), \
                     $(or $(call graphs-$(call kind,$(1)),$(1)),$(call kind,$(1))))
folder         = $(OUT)/$(1)$(SUFFIX)
dir-cifar10       := $(CIFAR10_DIR)
dir-cifar100      := $(CIFAR100_DIR)
dir-tiny-imagenet := $(TINY_IMAGENET_DIR)
has-data = $(or $(filter synth,$(call data,$(1))),$(dir-$(call data,$(1))))
lacking := $(foreach e,$(if $(filter cost,$(MAKECMDGOALS)),,$(chosen)),$(if $(call has-data,$(e)),,$(e)))
lacking := $(strip $(lacking))

# ---- their settings --------------------------------------------------------------------------------
awk      = $(shell LC_ALL=C awk -v s=$(call quote,$(SCALE)) -v e=$(call quote,$(2)) 'BEGIN { $(1) }')
scaled   = $(call awk,n = int(e * s + .5); print (e > 0 && n < 1) ? 1 : n,$($(1)))
schedule := $(call awk,CONVFMT = "%.10g"; if (s != 1) print "SCHEDULE=step:" 20 * s ":" .9996 ^ (1 / s))
unless   = $(if $(filter command environment,$(firstword $(origin $(1)))),,$(2))
epochs-plain  := EPOCHS=$(call scaled,EPOCHS) CURVE_EPOCHS=$(call scaled,CURVE_EPOCHS)
epochs-robust := EPOCHS=$(call scaled,ROBUST_EPOCHS) CURVE_EPOCHS=$(call scaled,ROBUST_EPOCHS)
epochs-bound  := EPOCHS=$(call scaled,BOUND_EPOCHS) CURVE_EPOCHS=$(call scaled,BOUND_EPOCHS)
permutation-epochs := $(call scaled,PERMUTATION_EPOCHS)
rates-plain    = $(call unless,SCHEDULE,$(schedule))
rates-bound    = $(call unless,SCHEDULE,SCHEDULE=onecycle) $(call unless,LR,LR=0.02)
early-stop    := $(if $(findstring --stop-after,$(CURVE_FLAGS)),,--stop-after $(call scaled,STOP_AFTER))
# Curves between networks with dropout have none: the authors' curve class lacks it.
curve-flags    = $(if $(filter robust-googlenet-%,$(1)),$(early-stop)) \
                 $(if $(filter %-dropout,$(call stem,$(1))),--dropout 0)
same     = $(or $(filter robust bound,$(call kind,$(1))),plain)
settings = NET=$(call quote,$(call net,$(1))) DATA=$(call data,$(1)) \
    DATA_DIR=$(call quote,$(subst $$,$$$$,$(dir-$(call data,$(1))))) $(epochs-$(call same,$(1))) \
    $(call rates-$(call same,$(1)),$(1)) POINTS=$(or $(POINTS),65) TRAIN_IMAGES=$(TRAIN_IMAGES) \
    $(if $(strip $(call curve-flags,$(1))),CURVE_FLAGS="$$CURVE_FLAGS $(strip $(call curve-flags,$(1)))") \
    $(if $(filter figures-%,$(1)),CURVE_SEED=$(firstword $(subst :, ,$(PAIRS)))) \
    $(if $(filter figures-% grid-%,$(1)),FROM=$(call folder,$(call ends,$(1))))
pam       := $(filter --as-paper,$(PAM_FLAGS))
other-pam := $(filter-out --as-paper -q -v,$(PAM_FLAGS))
lower    = $(subst CURVE_,curve_,$(subst EPOCHS,epochs,$(1)))
length   = $(strip $(call lower,$(epochs-$(call same,$(1)))) \
    permutation_epochs=$(permutation-epochs) points=$(or $(POINTS),65) \
    pam=$(if $(other-pam),default,$(or $(pam:--%=%),default)) train_images=$(or $(TRAIN_IMAGES),all))

# ---- making them -----------------------------------------------------------------------------------
all: $(if $(filter skip,$(MISSING)),$(filter-out $(lacking),$(chosen)),$(chosen)) | start
	$(if $(filter $(papers),$(filter-out %-synth,$^)),@$(paper)compare.py report $(OUT))
start:
	@$(if $(lacking),$(if $(filter skip,$(MISSING)),echo 'paper.mk: skipped: no data for $(lacking)',\
	    echo '$(no-data)' >&2; exit 2))
no-data = paper.mk: no data for $(lacking): set CIFAR10_DIR, CIFAR100_DIR or \
    TINY_IMAGENET_DIR, select cases with PART, or set MISSING=skip
graph = PERMUTATION_EPOCHS=$(permutation-epochs) \
    $(MAKE) --no-print-directory $(call settings,$(1)) -f $(here)
# keep-length: refuses tables of other settings in a case's folder. run: makes its experiments one by one;
# if it has results, the first compares them with the settings.
keep-length = f=$(call folder,$(1))/length new='$(call length,$(1))'; mkdir -p $${f%/*}; \
    [ ! -e $$f ] || [ "$$new" = "$$(<$$f)" ] || ! compgen -G "$${f%/*}/*.tsv" >/dev/null || \
        { echo "$$f: the tables have other settings ($$(<$$f)): choose another OUT or SUFFIX" >&2; \
          exit 1; }; \
    echo "$$new" > $$f.part && mv $$f.part $$f
run = true $(foreach g,$(2),&& \
    $(if $(filter $(call unchecked,$(1),$(2)),$(g)),,CHECKED=$(call folder,$(1))) \
    $(call graph,$(1))$(g).mk$(3:%= %) OUT=$(call folder,$(1)))
unchecked = $(if $(wildcard $(foreach e,$(1) $(call ends,$(1)),$(call folder,$(e)))),$(firstword $(2)))
$(plain:%=%/connect): %/connect: | start
	@$(call keep-length,$*)
	+@$(call run,$*,connect)
$(plain): %: $(if $(filter connect,$(or $(EXPERIMENTS),connect)),%/connect) | start
	@$(call keep-length,$*)
	+@$(call run,$*,$(filter-out connect,$(call graphs-of,$*)))
# if another case copies a folder's networks, connect.mk runs there before the folder's other experiments
dependent := $(filter figures-% grid-%,$(foreach e,$(chosen),$(if $(call graphs-of,$(e)),$(e))))
$(dependent): $$(call ends,$$@)/connect
$(call ends,$(dependent)): %: %/connect
$(others): | start
	@$(if $(call graphs-of,$@),$(call keep-length,$@))
	+@$(call run,$@,$(call graphs-of,$@))
.PHONY: $(plain) $(others) $(plain:%=%/connect)

# the commands of a case, also without its data
dry-run  = -n all $(if $(call has-data,$(1)),,DATA_DIR=.)
commands = $(call run,$(1),$(call graphs-of,$(1)),$(call dry-run,$(1)))
of-ends  = $(if $(filter figures-% grid-%,$(1)),$(call run,$(call ends,$(1)),connect,$(call dry-run,$(1))) &&)
cost: start
	+@commands=$$($(foreach e,$(chosen),$(call of-ends,$(e)) $(call commands,$(e)) &&) true) && \
	$(here)include/cost --folders <<< "$$commands"

# ---- published results -----------------------------------------------------------------------------
publish:
	@true $(foreach e,$(chosen),&& $(paper)publish $(if $(filter grid-% bound-%,$(e)),tables,keep) \
	    $(call folder,$(e)) $(PUBLISHED)/$(e)$(SUFFIX))
reevaluate: $(published:%=reevaluate/%)
	$(if $^,,@echo '$(PUBLISHED): no published curves (A-B/inner-aligned.mcz)' >&2; exit 1)
reevaluate/%: | start
	+@$(paper)reevaluate $(PUBLISHED)/$*$(SUFFIX) $(OUT)/reevaluated/$*$(SUFFIX) env $(call graph,$*)
verdicts:
	@$(paper)compare.py report $(OUT)
help:
	@$(here)include/check-settings --help $(firstword $(files-read))
parts:
	@printf '%s\n' $(chosen)

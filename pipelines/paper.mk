# SPDX-License-Identifier: Apache-2.0
#
# The paper, whole: every part of it by the other graphs, a folder each, so that one command makes what its tables and
# figures are made of.
#
#   make -f pipelines/paper.mk cost                               # first: how many jobs, hours, memory and disk
#   make -f pipelines/paper.mk CIFAR10_DIR=DIR CIFAR100_DIR=DIR TINY_IMAGENET_DIR=DIR -j8
#   make -f pipelines/paper.mk PART="tinyten-cifar10 robust-tinyten-cifar100" CIFAR10_DIR=DIR CIFAR100_DIR=DIR
#   make -f pipelines/paper.mk SCALE=.1 PART=resnet32-cifar10 CIFAR10_DIR=DIR    # all of it in a tenth of the epochs
#   make -f pipelines/paper.mk publish PART=tinyten-cifar10       # what its tables can be measured from, to PUBLISHED
#   make -f pipelines/paper.mk reevaluate CIFAR10_DIR=DIR         # the published tables again, from what they are made of
#
# Parts, NET one of NETS and DATA one of DATA_SETS; each is a folder in OUT and may be named in PART:
#   NET-DATA          networks, alignments, curves (tables 1 and 2, figures 1 and 3): connect, pam (not googlenet), middle,
#                     measures (tinyten: figure 2), planes, subsets, averaged, intervals
#   figures-NET-DATA  the same ends with one curve seed for all pairs, as in the paper's figures: connect
#   robust-NET-DATA   networks and curves that are attacked (figure 4, CIFAR only): robust
#   grid-NET-DATA     rates by batch sizes on the same ends (table 3; tinyten on CIFAR-100): grid
#   bound-mlp-DATA    the bound of theorem 3.1, on BOUND_NET: bound
# PART="" is the paper's choice of them. figures- and grid- take their networks from NET-DATA, whose connect they bring
# about. GRAPHS="connect pam" does only these of each part; reevaluate does connect of a part, or robust, in any case.
#
# SCALE=s, above 0 and at most 1, shortens all alike: max(1, round(E s)) epochs, the rate halved every 20 s epochs (counted
# in steps) and times .9996^(1/s) each, early stops likewise; a part's folder then has it in its file `scale`. Settings
# below are those at SCALE=1. The file `length` has what a part's tables were made with; tables of another length are made
# again. A SCHEDULE that is given stays as it is. PAM's permutation step is the paper's (PAM_FLAGS=--as-paper)
# unless there are PAM_FLAGS, which take its place.
#
# The settings of the other graphs (POINTS, THREADS, DEVICE, RUN, EVAL_FLAGS, GRID_LR, ...; their `help` lists them) are
# handed on to those that have them; what decides a result, how it is kept, resumed and shared, is as there. Parts may be
# made at the same time on several machines. OUT is compared with the paper at the end, where one of the parts is the
# paper's, and with the goal `verdicts` (verdicts.sh): OUT/verdicts.md, verdicts.tsv.
OUT         ?= paper#         the folder of the parts
PART        ?=#               which parts; empty: the paper's
GRAPHS      ?=#               which graphs of each part; empty: all
GOALS       ?=#               files in a part's folder, instead of all that a graph makes: net-1.mcz; these write no `length`
NETS        ?= tinyten resnet32 googlenet# networks of mc-train
DATA_SETS   ?= cifar10 cifar100 tiny-imagenet# data sets; synth too
CIFAR10_DIR ?=#               where the publishers' files lie
CIFAR100_DIR ?=#              likewise
TINY_IMAGENET_DIR ?=#         likewise
MISSING     ?= stop#          what to do about parts whose data are not given: stop, or skip them
PAIRS       ?= 1:2 3:4 5:6#   seeds of the ends, whose curves have the first one's
SCALE       ?= 1#             the fraction of all trainings' length
EPOCHS      ?= 250#           of the networks
CURVE_EPOCHS ?= $(EPOCHS)#    of the curves
PERMUTATION_EPOCHS ?= 20#     of PAM's permutation step
ROBUST_EPOCHS ?= $(if $(filter 250,$(EPOCHS)),200,$(EPOCHS))# of robust networks and curves; 200, or EPOCHS where those are given
STOP_AFTER  ?= 20#            epochs of googlenet's robust curves, of ROBUST_EPOCHS
BOUND_NET   ?= mlp:256,256#   an mlp without batch norm
BOUND_EPOCHS ?= $(if $(filter 250,$(EPOCHS)),20,$(EPOCHS))# of its networks; 20, or EPOCHS where those are given
SUFFIX      ?=#               after the name of each part's folder
PUBLISHED   ?= $(here)../docs/networks# folders of parts for publish and reevaluate
RATES       ?=#               for cost, images/s in training and evaluation: "tinyten=900:4000 resnet32=200:900"; measured if not given
BIN         ?=#               where the programs are

here := $(dir $(lastword $(MAKEFILE_LIST)))
path-names := OUT PUBLISHED BIN CIFAR10_DIR CIFAR100_DIR TINY_IMAGENET_DIR
include $(or $(wildcard $(here)names.mk),$(error no names.mk beside this graph, or a blank in the path to it))

# ---- what was asked for ----------------------------------------------------------------------------
graphs := connect pam middle measures planes subsets averaged intervals robust grid bound
names-of = $(shell sed -nE 's/^([A-Z0-9_]+) *\?=.*/\1/p' $(wildcard $(here)$(1).mk))
own    := $(call names-of,paper)
common := $(call names-of,common)
$(foreach g,$(graphs),$(eval names-$(g) := $(common) $(call names-of,$(g))))
others := $(filter-out $(own) DATA DATA_DIR NET SEEDS FROM,$(sort $(foreach g,$(graphs),$(names-$(g)))))
$(foreach name,$(filter-out $(own) $(others) -% Q V BUILD MAKE%,$(given)), \
    $(error there is no setting '$(name)' (there are: $(own) $(others))))
# each graph gets its own
MAKEOVERRIDES :=

$(foreach name,OUT NETS DATA_SETS SUFFIX,$(if $(strip $(foreach c,: % $(comma) ' /,$(if $(filter OUT/,$(name)$(c)),,$(findstring $(c),$($(name)))))), \
    $(error $(name)="$($(name))": names without slashes, colons, commas, quotes and percent signs are wanted)))
$(foreach name,OUT SUFFIX PUBLISHED,$(if $($(name)),$(if $(call steers,$(if $(filter SUFFIX,$(name)),_)$($(name))), \
    $(error $(name)="$($(name))": a name without blanks, a dash at its begin, quotes and what else steers a shell is wanted))))
$(foreach name,NETS GOALS,$(foreach word,$($(name)),$(if $(call steers,$(word)), \
    $(error $(name)="$($(name))": names without quotes and what else steers a shell are wanted))))
override OUT := $(patsubst %/,%,$(OUT))
$(foreach name,EPOCHS CURVE_EPOCHS PERMUTATION_EPOCHS ROBUST_EPOCHS STOP_AFTER BOUND_EPOCHS $(foreach n,POINTS TRAIN_IMAGES,$(if $($(n)),$(n))), \
    $(if $(or $(filter-out 1,$(words $($(name)))),$(call digits,$($(name)))),$(error $(name)="$($(name))": a whole number is wanted)))
override SCALE := $(strip $(SCALE))
ifneq ($(if $(or $(filter-out 1,$(words $(SCALE))),$(subst .,,$(call digits,$(SCALE)))),no,$(shell awk 'BEGIN { if (!("$(SCALE)" ~ /^[0-9]*\.?[0-9]+$$/ && $(SCALE)0 > 0 && $(SCALE) <= 1)) print "no" }')),)
$(error SCALE="$(SCALE)": a decimal number above 0 and at most 1 is wanted)
endif
override SCALE := $(shell awk 'BEGIN { printf "%.10g", $(SCALE) }')
$(foreach d,$(filter-out cifar10 cifar100 tiny-imagenet synth,$(DATA_SETS)),$(error DATA_SETS="$(DATA_SETS)": there is no data set '$(d)' (there are: cifar10 cifar100 tiny-imagenet synth)))
$(foreach g,$(filter-out $(graphs),$(GRAPHS)),$(error GRAPHS="$(GRAPHS)": there is no graph '$(g)' (there are: $(graphs))))
ifeq ($(filter stop skip,$(MISSING)),)
$(error MISSING="$(MISSING)": stop or skip is wanted)
endif

# ---- the parts -------------------------------------------------------------------------------------
# net/PART, data/PART, graphs/PART, and where its ends come from, from/PART
define part
net/$(1) := $(2)
data/$(1) := $(3)
graphs/$(1) := $(if $(GRAPHS),$(filter $(GRAPHS),$(4)),$(4))
asked/$(1) := $$(graphs/$(1))
from/$(1) := $(5)
kind/$(1) := $(6)
parts += $(1)
endef
parts :=
$(foreach d,$(DATA_SETS),$(foreach n,$(NETS),\
    $(eval $(call part,$(n)-$(d),$(n),$(d),connect $(if $(filter-out googlenet,$(n)),pam) middle $(if $(filter tinyten,$(n)),measures) planes subsets averaged intervals,,plain)) \
    $(eval $(call part,figures-$(n)-$(d),$(n),$(d),connect,$(n)-$(d),figures)) \
    $(eval $(call part,robust-$(n)-$(d),$(n),$(d),robust,,robust)) \
    $(eval $(call part,grid-$(n)-$(d),$(n),$(d),grid,$(n)-$(d),grid))) \
    $(if $(wildcard $(here)bound.mk),$(eval $(call part,bound-mlp-$(d),$(BOUND_NET),$(d),bound,,bound))))
# the paper's: figures where a curve seed differs, table 3 on one network and data set
one-net  := $(firstword $(filter tinyten,$(NETS)) $(NETS))
one-data := $(firstword $(filter cifar100,$(DATA_SETS)) $(filter synth,$(DATA_SETS)))
papers   := $(foreach p,$(parts),$(if $(or $(filter plain bound,$(kind/$(p))), \
                $(and $(filter figures,$(kind/$(p))),$(word 2,$(PAIRS))), \
                $(and $(filter robust,$(kind/$(p))),$(filter-out tiny-imagenet,$(data/$(p)))), \
                $(filter grid-$(one-net)-$(one-data),$(p))),$(p)))
$(foreach p,$(PART),$(if $(filter $(parts),$(p)),,$(error PART="$(PART)": there is no part '$(p)' (there are: $(parts); NETS and DATA_SETS make others))))
wanted   := $(or $(filter $(parts),$(MAKECMDGOALS)),$(PART),$(papers))
# whose connect others need, whatever GRAPHS says
$(foreach p,$(wanted),$(if $(asked/$(p)),$(foreach f,$(from/$(p)),$(eval graphs/$(f) := connect $(filter-out connect,$(graphs/$(f)))))))

dir/cifar10       := $(CIFAR10_DIR)
dir/cifar100      := $(CIFAR100_DIR)
dir/tiny-imagenet := $(TINY_IMAGENET_DIR)
upper = $(subst tiny-imagenet,TINY_IMAGENET,$(subst cifar,CIFAR,$(1)))_DIR
# make -n, cost and help read no data
dry   := $(dry-run)$(filter help cost parts,$(MAKECMDGOALS))
lacks  = $(foreach p,$(1),$(if $(or $(filter synth,$(data/$(p))),$(dir/$(data/$(p)))),,$(p)))
without := $(strip $(if $(dry)$(filter publish reevaluate verdicts,$(MAKECMDGOALS)),,$(call lacks,$(wanted))))
ifneq ($(without),)
for-lack := $(foreach d,$(sort $(foreach p,$(without),$(data/$(p)))),$(call upper,$(d)))
ifeq ($(MISSING),stop)
$(error $(for-lack): wanted for $(without); give it, choose parts by PART="...", or say MISSING=skip)
endif
$(info paper.mk: skipped, as $(for-lack) is not given: $(without))
wanted := $(filter-out $(without),$(wanted))
endif
$(if $(or $(dry),$(RUN)),,$(foreach d,$(sort $(foreach p,$(wanted),$(data/$(p)))),$(if $(dir/$(d)),$(if $(call on-disk,$(dir/$(d))),, \
    $(error $(call upper,$(d))="$(dir/$(d))": there is no such folder)))))

# ---- their settings --------------------------------------------------------------------------------
scaled   = $(shell awk 'BEGIN { e = int($(1) * $(SCALE) + .5); print $(1) && e < 1 ? 1 : e }')
whole   := $(shell awk 'BEGIN { print $(SCALE) == 1 }')
schedule := $(if $(filter 0,$(whole)),$(shell awk 'BEGIN { printf "step:%.10g:%.10g", 20 * $(SCALE), .9996 ^ (1 / $(SCALE)) }'))
$(foreach name,EPOCHS CURVE_EPOCHS PERMUTATION_EPOCHS ROBUST_EPOCHS STOP_AFTER BOUND_EPOCHS,$(eval at-$(name) := $(call scaled,$($(name)))))
folder   = $(OUT)/$(1)$(SUFFIX)
# $(call settings,PART,GRAPH)
pam_flags := $(strip $(if $(filter PAM_FLAGS,$(given)),$(PAM_FLAGS),--as-paper))
stop     = $(if $(filter robust-googlenet,$(2)-$(net/$(1))),$(if $(findstring --stop-after,$(CURVE_FLAGS)),,--stop-after $(at-STOP_AFTER)))
flags    = $(strip $(CURVE_FLAGS) $(stop))
passed   = $(foreach n,$(filter-out $(own) CURVE_FLAGS,$(filter $(names-$(2)),$(given))),$(n)=$(call quote,$($(n))))
one-seed = $(foreach p,$(PAIRS),$(word 1,$(subst :, ,$(p))):$(word 2,$(subst :, ,$(p))):$(firstword $(subst :, ,$(PAIRS))))
settings/robust = EPOCHS=$(at-ROBUST_EPOCHS) CURVE_EPOCHS=$(at-ROBUST_EPOCHS)
settings/bound  = EPOCHS=$(at-BOUND_EPOCHS) CURVE_EPOCHS=$(at-BOUND_EPOCHS) $(if $(filter SCHEDULE,$(given)),,SCHEDULE=onecycle) $(if $(filter LR,$(given)),,LR=0.02)
settings/plain  = EPOCHS=$(at-EPOCHS) CURVE_EPOCHS=$(at-CURVE_EPOCHS) $(if $(filter SCHEDULE,$(given)),,$(schedule:%=SCHEDULE=%))
settings = DATA=$(data/$(1)) $(if $(dir/$(data/$(1))),DATA_DIR=$(call quote,$(dir/$(data/$(1))))) NET=$(call quote,$(net/$(1))) \
    $(or $(settings/$(kind/$(1))),$(settings/plain)) $(if $(filter pam,$(2)),PERMUTATION_EPOCHS=$(at-PERMUTATION_EPOCHS) $(if $(filter PAM_FLAGS,$(given)),,PAM_FLAGS=$(pam_flags))) \
    PAIRS=$(call quote,$(if $(filter figures,$(kind/$(1))),$(one-seed),$(PAIRS))) \
    $(if $(from/$(1)),FROM=$(call folder,$(from/$(1)))) $(if $(flags),CURVE_FLAGS=$(call quote,$(flags))) \
    $(if $(BIN),BIN=$(call quote,$(BIN))) $(passed)

# What a part's tables are made with, of what the paper says, for the verdicts: the file `length`. Its words on PAM's step are
# pam.mk's; other graphs leave them.
words-at = $(file <$(call folder,$(1))/length)
pam-says = pam=$(if $(subst x--as-paperx,,x$(pam_flags)x),default,as-paper) permutation_epochs=$(at-PERMUTATION_EPOCHS)
pam-said = $(filter pam=as-paper pam=default $(foreach w,$(filter permutation_epochs=%,$(words-at)),$(if $(call digits,$(patsubst permutation_epochs=%,%,$(w))),,$(w))),$(words-at))
pam-word = $(firstword $(filter $(1)=%,$(if $(filter pam,$(3)),,$(call pam-said,$(2))) $(pam-says)))
length   = $(strip $(patsubst EPOCHS=%,epochs=%,$(patsubst CURVE_EPOCHS=%,curve_epochs=%,$(filter EPOCHS=% CURVE_EPOCHS=%,$(call settings,$(1),$(2))))) \
    $(call pam-word,permutation_epochs,$(1),$(2)) points=$(or $(POINTS),65) $(call pam-word,pam,$(1),$(2)) train_images=$(or $(TRAIN_IMAGES),all))
# Tables of another length are removed with it before others are made, which takes seconds where the pairs' are current; it is
# written when a graph is done.
telling  = $(filter connect pam middle measures subsets robust grid bound,$(2))
forget   = [ "$$$$(sed -E 's/ (pam|permutation_epochs)=[^ ]*//g' $(1)/length 2>&1)" = '$(filter-out pam=% permutation_epochs=%,$(3))' ] || rm -f $(1)/length $(1)/*.tsv \
    $(if $(filter pam,$(2)),; [ "$$$$(cat $(1)/length 2>&1)" = '$(3)' ] || rm -f $(1)/length $(1)/pam.tsv $(1)/objective.tsv)
tell     = echo '$(3)' > $(1)/length.part && mv $(1)/length.part $(1)/length

# a mistyped fraction would train all of a part again
elsewise := $(if $(filter help parts publish reevaluate verdicts,$(MAKECMDGOALS)),,$(strip $(foreach p,$(sort $(wanted) $(foreach p,$(wanted),$(from/$(p)))), \
    $(if $(and $(wildcard $(call folder,$(p))/scale),$(wildcard $(call folder,$(p))/*.mcz)),$(if $(filter $(SCALE),$(file <$(call folder,$(p))/scale)),,$(call folder,$(p)))))))
ifneq ($(findstring i,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),)
$(error make -i: a step that failed would count as done)
endif
ifneq ($(elsewise),)
$(error SCALE="$(SCALE)": $(elsewise) was made at another, as the file scale there says: another OUT or SUFFIX is wanted)
endif

# ---- making them -----------------------------------------------------------------------------------
all: $(wanted)
	$(if $(and $(wildcard $(here)verdicts.sh),$(filter $(papers),$(filter-out %-synth,$(wanted)))),@$(MAKE) --no-print-directory -f $(graph) OUT=$(OUT) verdicts)
.PHONY: all help parts cost publish reevaluate verdicts $(parts) $(foreach p,$(parts),$(graphs/$(p):%=$(p)/%))

# PART/GRAPH: one after another in a part, whose folder they share; after its ends' connect where those come from elsewhere.
# Settings that a graph refuses are known before anything is removed.
goals-of = $(if $(filter $(1),$(wanted)),$(if $(filter $(2),$(asked/$(1))),$(addprefix $(call folder,$(1))/,$(GOALS))))
order    = -f $(here)$(2).mk OUT=$(call folder,$(1)) $(subst $$,$$$$,$(call settings,$(1),$(2))) $(call goals-of,$(1),$(2))
define made
$(1): $(asked/$(1):%=$(1)/%)
$(1)/$(2): $(3)
	@echo $(subst $$,$$$$,$(call quote,== $(1): $(2).mk$(comma) $(net/$(1)) on $(data/$(1))$(if $(filter 0,$(whole)),$(comma) at $(SCALE) of the length)))
	$(if $(call telling,$(1),$(2)),$(if $(dry-run),,+@$$(MAKE) --no-print-directory -n $(call order,$(1),$(2)) >/dev/null))
	@mkdir -p $(call folder,$(1)) && echo $(SCALE) > $(call folder,$(1))/scale
	$(if $(call telling,$(1),$(2)),@$(call forget,$(call folder,$(1)),$(2),$(call length,$(1),$(2))))
	+@$$(MAKE) --no-print-directory $(call order,$(1),$(2))
	$(if $(call telling,$(1),$(2)),$(if $(call goals-of,$(1),$(2)),,@$(call tell,$(call folder,$(1)),$(2),$(call length,$(1),$(2)))))
endef
before = $(if $(filter-out 1,$(words $(2))),$(lastword $(filter-out $(lastword $(2)),$(2))))
upto   = $(if $(filter $(2),$(firstword $(1))),$(2),$(firstword $(1)) $(call upto,$(wordlist 2,99,$(1)),$(2)))
$(foreach p,$(parts),$(if $(asked/$(p)),,$(eval $(p): ; @echo '== $(p): has none of GRAPHS')) \
    $(foreach g,$(graphs/$(p)),$(eval $(call made,$(p),$(g), \
        $(addprefix $(p)/,$(call before,,$(call upto,$(graphs/$(p)),$(g)))) $(if $(from/$(p)),$(from/$(p))/connect)))))

# ---- what they cost, before anything is done -------------------------------------------------------
built := $(abspath $(firstword $(wildcard $(here)../build/bin/mc-data $(here)../../bin/mc-data)))
bin    = $(or $(BIN),$(built:%/mc-data=%))
size  := $(filter-out --size,$(filter --size%,$(DATA_FLAGS)) $(if $(filter --size,$(DATA_FLAGS)),$(lastword $(DATA_FLAGS))))
cost:
	@rates=$$(PATH=$(call quote,$(bin)):$$PATH $(here)rates.sh $(or $(THREADS),2) $(or $(DEVICE),auto) $(call quote,$(RATES)) \
	    $(foreach n,$(sort $(foreach p,$(wanted),$(net/$(p)))),$(call quote,$(n)))) && \
	plan=$$($(MAKE) -n --no-print-directory -f $(here)paper.mk $(foreach n,$(given),$(n)=$(call quote,$($(n)))) all) && echo "$$plan" | \
	    awk -v rates="$$(echo "$$rates" | tr '\n' ';')" -v nets=$(call quote,$(foreach p,$(parts),$(p)=$(net/$(p))=$(data/$(p)))) \
	    -v train_images=$(TRAIN_IMAGES) -v test_images=$(TEST_IMAGES) -v size=$(lastword $(subst =, ,$(size))) \
	    -v threads=$(or $(THREADS),2) -v device=$(or $(DEVICE),auto) -f $(here)cost.awk

# ---- published results again -----------------------------------------------------------------------
# PUBLISHED/PART is what published.sh keeps of OUT/PART, or has A-B/curve-V.mcz for inner-V.mcz (and PAM's permutation); a
# pair counts where both curves are
override PUBLISHED := $(patsubst %/,%,$(PUBLISHED))
curve-at = $(wildcard $(1)/curve-$(2).mcz)$(if $(filter-out pam-%,$(2))$(wildcard $(1)/permutation-$(2).mcz),$(wildcard $(1)/inner-$(2).mcz))
# $(call pairs-of,PART), $(call pairs-of,PART,pam-)
pairs-of = $(foreach d,$(patsubst %/,%,$(wildcard $(PUBLISHED)/$(1)/*-*/)),$(if $(and $(call curve-at,$(d),$(2)unaligned),$(call curve-at,$(d),$(2)aligned)),$(notdir $(d))))
asked-of = $(if $(GRAPHS),$(filter $(GRAPHS),$(1)),$(1))
with-pam = $(if $(filter-out $(call pairs-of,$(1),pam-),$(call pairs-of,$(1))),,$(call asked-of,pam))
published := $(strip $(if $(filter reevaluate,$(MAKECMDGOALS)),$(foreach p,$(or $(PART),$(filter-out figures-% grid-% bound-%,$(parts))),$(if $(call pairs-of,$(p)),$(p)))))
of-published = $(foreach t,$(2),$(if $(wildcard $(PUBLISHED)/$(1)/$(t).tsv),$(t)))
# the graphs whose tables are made of networks and curves, each table called as its graph; and the tables
more-of   = $(if $(filter plain,$(kind/$(1))),$(call of-published,$(1),$(call asked-of,middle subsets averaged intervals)))
tables-of = $(if $(filter robust,$(kind/$(1))),clean robust $(call of-published,$(1),midpoint strong),$(or $(call with-pam,$(1)),table) \
               $(call of-published,$(1),pointwise signature) $(call more-of,$(1)))
again    = $(OUT)/reevaluated/$(1)
remeasure = +@$(MAKE) --no-print-directory -f $(here)$(2).mk $(call settings,$(1),$(2)) OUT=$(call again,$(1)) FROM=$(call again,$(1)).from \
               PAIRS='$(subst -,:,$(call pairs-of,$(1)))' $(3:%=$(call again,$(1))/%.tsv)
compare   = @if [ ! -e $(PUBLISHED)/$(1)/$(2).tsv ]; then echo '$(2).tsv is not published; here it is:' && cat $(call again,$(1))/$(2).tsv; else \
               echo '$(2).tsv, as published and again:' && awk -f $(here)compare.awk $(PUBLISHED)/$(1)/$(2).tsv $(call again,$(1))/$(2).tsv; fi
ifneq ($(filter reevaluate,$(MAKECMDGOALS)),)
ifeq ($(published),)
$(error PUBLISHED="$(PUBLISHED)": there are no curves of $(or $(PART),any part), A-B/inner-unaligned.mcz and A-B/inner-aligned.mcz)
endif
ifneq ($(if $(dry),,$(strip $(call lacks,$(published)))),)
$(error $(foreach d,$(sort $(foreach p,$(call lacks,$(published)),$(data/$(p)))),$(call upper,$(d))): wanted for $(strip $(call lacks,$(published))))
endif
endif
publish:
	@$(foreach p,$(wanted),PATH=$(call quote,$(bin)):$$PATH $(here)published.sh $(if $(filter grid bound,$(kind/$(p))),tables,keep) $(call folder,$(p)) $(PUBLISHED)/$(p)$(SUFFIX) &&) true
reevaluate: $(published:%=reevaluate/%)
reevaluate/%:
	@echo '== $*: from $(PUBLISHED)/$*, pairs $(call pairs-of,$*)'
	@PATH=$(call quote,$(bin)):$$PATH $(here)published.sh make $(PUBLISHED)/$* $(call again,$*).from
	@find $(call again,$*).from -name '*.settings' -delete # as it is, whatever it is asked with
	@mkdir -p $(call again,$*) && rm -f $(call again,$*)/length$(if $(wildcard $(PUBLISHED)/$*/scale), && cp $(PUBLISHED)/$*/scale $(call again,$*))
	$(if $(filter robust,$(kind/$*)),$(call remeasure,$*,robust,$(call tables-of,$*)),$(call remeasure,$*,connect,table $(call of-published,$*,pointwise signature)))
	$(if $(filter plain,$(kind/$*)),$(if $(call with-pam,$*),$(call remeasure,$*,pam,pam)))
	$(foreach g,$(call more-of,$*),$(call remeasure,$*,$(g),$(g))$(newline))
	$(if $(wildcard $(PUBLISHED)/$*/length),@sed 's/points=[0-9]*/points=$(or $(POINTS),65)/' $(PUBLISHED)/$*/length > $(call again,$*)/length)
	$(foreach t,$(call tables-of,$*),$(call compare,$*,$(t))$(newline))

# ---- the verdicts ----------------------------------------------------------------------------------
verdicts:
	@mkdir -p $(OUT)
	@$(here)verdicts.sh -f tsv $(OUT) > $(OUT)/verdicts.tsv.part && mv $(OUT)/verdicts.tsv.part $(OUT)/verdicts.tsv
	@$(here)verdicts.sh $(OUT) > $(OUT)/verdicts.md.part && mv $(OUT)/verdicts.md.part $(OUT)/verdicts.md
	@awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$$i] = i; next } $$at["paper"] != "" { n[$$NF]++ } END { for (v in n) print n[v], v }' $(OUT)/verdicts.tsv | sort | \
	    paste -sd, | sed 's|.*|numbers of the paper: &; $(OUT)/verdicts.md, verdicts.tsv|'

# what this is for, and its settings
help:
	@sed -n '3,/^[^#]/s/^# \{0,1\}//p' $(here)paper.mk
	@echo 'Parts, the paper'\''s with a star:'
	@for p in $(parts); do case ' $(papers) ' in *" $$p "*) echo "  * $$p" ;; *) echo "    $$p" ;; esac; done
	@echo 'Settings:'
	@sed -nE 's/^([A-Z0-9_]+) *\?= *([^#]*[^# ])? *#? *(.*)/  \1\t\2\t\3/p' $(here)paper.mk | \
	    awk -F '\t' '{ printf "%-20s %-11s %s\n", $$1, $$2 ~ /[$$]/ ? "" : $$2, $$3 }'
parts:
	@printf '%s\n' $(wanted)

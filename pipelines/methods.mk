# SPDX-License-Identifier: Apache-2.0
#
# Ways to bring several networks to one order, compared by the accuracy of their mean. The units are matched
# by activations, by weights (mc-match), or by PAM's permutation step (mc-pam), which starts from the
# activations.
#
#   make -f pipelines/methods.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2 3" EPOCHS=20 OUT=out
#
#   pairwise      every network to one reference; each network is the reference once
#   running mean  each network to the re-estimated mean of those before it
#   MergeMany     by weights, each network to the mean of all others until nothing changes (git re-basin)
#   joint         all networks to each other at once; PAM has no such form
#
# With the same OUT it uses the settings and results of soup.mk. OUT/orders.tsv has a row per order: the
# accuracy of its mean, averaged, re-estimated and repaired; its objective, the sum of all pairs' matched
# correlations; processor time and peak memory (MB) of finding it, empty if another experiment did a part.
# OUT/methods.tsv and its picture have the mean and deviation over the references, and the `best reference`,
# that of the highest objective. Goals for clusters: shared, net-SEED, and pair, which makes only the matrices
# and permutations of PAIRS.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
MATCHINGS ?= activations weights pam# ways to match units
PERMUTATION_EPOCHS ?= 20#         epochs of mc-pam's permutation step
PAM_FLAGS ?=#                     more options for mc-pam: --samples 5000
joint-activations := joint
joint-weights     := weights-joint
orders   = unaligned $(foreach m,$(MATCHINGS),$(seeds:%=$(m)-to-%) $(m)-running $(joint-$(m)))
picture := methods
include $(here)include/means.mk
# measure the time and memory of every job
own-run   := $(RUN)
own-light := $(RUN_LIGHT)
override RUN       = $(own-run) $(here)include/measured $@
override RUN_LIGHT = $(own-light) $(here)include/measured $@

permutations := $(patsubst permutation-activations.mcz,permutation.mcz,$(MATCHINGS:%=permutation-%.mcz))
all: $(if $(unit),$(call each,matrices.mcz $(permutations)), \
         $(addprefix $(OUT)/,methods.tsv methods.svg methods.png orders.tsv))

# ---- each pair -------------------------------------------------------------------------------------
match-weights = mc-match --threads $(THREADS)
match-pam     = mc-pam --stage permutation --data $(OUT)/train.mcz --batch $(CURVE_BATCH) $(PAM_FLAGS) \
                    $(device) --permutation-epochs $(PERMUTATION_EPOCHS) --schedule $(CURVE_SCHEDULE) -q
$(call each,permutation-weights.mcz): $$(a) $$(b)
	$(begin)
	$(RUN) $(match-weights) $(a) $(b) -o $@
pam-deps := $(call settings,pam-step,PERMUTATION_EPOCHS PAM_FLAGS CURVE_SCHEDULE CURVE_BATCH $(compute))
$(call each,permutation-pam.mcz): $$(@D)/permutation.mcz $$(a) $$(b) $(pam-deps) | $(OUT)/train.mcz
	$(begin)
	$(RUN) $(match-pam) --perm $< $(a) $(b) -o $@

# ---- the orders of all networks --------------------------------------------------------------------
orders-deps := $(call settings,orders,PAIRS)
matching = $(firstword $(subst -, ,$(basename $(@F))))
suffix   = $(patsubst %,-%,$(filter-out activations,$(matching)))
own-pairs = $(foreach p,$(pairs),$(if $(filter $(last),$(subst -, ,$(notdir $(p)))),$(p)))
$(foreach m,$(MATCHINGS),$(seeds:%=$(OUT)/$(m)-to-%.mcz)): $$(OUT)/net-$$(last).mcz \
    $$(addsuffix /permutation$$(suffix).mcz,$$(own-pairs)) $(orders-deps)
	$(begin)
	$(RUN_LIGHT) mc-permute --join $(filter %.mcz,$^) -o $@
$(OUT)/unaligned.mcz: $(nets) $(orders-deps)
	$(begin)
	$(RUN_LIGHT) mc-permute --join $(nets) -o $@
$(OUT)/weights-joint.mcz: $(nets) $(orders-deps)
	$(begin)
	$(RUN) mc-match --joint --threads $(THREADS) $(nets) -o $@

# ---- the running means -----------------------------------------------------------------------------
running-activations = $(call collect,$(ALIGN_IMAGES:%=--samples %)) "$$a" "$$b" -o "$$p.moments" && \
    $(MEASURE) $(CORR_FLAGS) "$$p.moments" > "$$p.matrices" && \
    $(ALIGN) $(HUNGARIAN_FLAGS) "$$p.matrices" > "$$p"
running-pam     = $(subst "$$p","$$p.start",$(running-activations)) && \
    $(match-pam) --perm "$$p.start" "$$a" "$$b" -o "$$p"
running-weights = $(match-weights) $${init:+--init "$$init"} "$$a" "$$b" -o "$$p"
reestimate = if $(call has-statistics,"$$a"); then $(repairs) "$$a" -o "$$a.part" && mv "$$a.part" "$$a"; fi
running-deps := $(OUT)/train.mcz $(acts-deps) $(pam-deps) \
    $(call settings,running,PAIRS MEASURE CORR_FLAGS ALIGN HUNGARIAN_FLAGS MERGE REPAIR)
of-all = $(filter weights,$(matching))
$(MATCHINGS:%=$(OUT)/%-running.mcz): $(nets) $(running-deps)
	$(begin)
	merge() { $(MERGE) "$$@"; }; match() { $(running-$(matching)); }; \
	    reestimate() { $(if $(of-all),:,$(reestimate)); }; export -f merge match reestimate; \
	    $(RUN) $(here)include/running-mean $(if $(of-all),all,before) $@ $(nets)

# ---- tables and the picture ------------------------------------------------------------------------
objectives := $(orders:%=$(OUT)/objective-%.tsv)
$(objectives): $(OUT)/objective-%.tsv: $(OUT)/%.mcz $(call each,matrices.mcz) $(orders-deps)
	$(begin)
	$(RUN_LIGHT) mc-hungarian --joint --score $< $(call each,matrices.mcz) -o $@
$(OUT)/orders.tsv: $(OUT)/accuracy-methods.tsv $(objectives)
	$(begin)
	$(call table,orders) $^ $(whole)
$(OUT)/methods.tsv: $(OUT)/orders.tsv
	$(begin)
	$(call table,methods) $< $(whole)
$(OUT)/methods.svg $(OUT)/methods.png: $(OUT)/methods.tsv $(plot-deps)
	$(begin)
	$(draw) --label matching,order --columns averaged,reestimated,repaired $< -o $@

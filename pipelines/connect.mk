# SPDX-License-Identifier: Apache-2.0
#
# Two networks from different seeds, or several such pairs: trained, aligned, joined by an unaligned and an
# aligned curve, measured and drawn.
#
#   make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" \
#        EPOCHS=20 CURVE_EPOCHS=20 OUT=out
#   make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data NET=resnet32 PAIRS="1:2 3:4 5:6" OUT=out -j2
#
# Every job is one program, behind $(RUN): RUN="srun -c 2 --mem 4G" sends each to a cluster; -j runs them side by
# side, each with THREADS threads. An interrupted run goes on where it was. Each result keeps the settings that
# made it in RESULT.settings, and is made again when they differ from those asked for: a mistyped setting costs
# nothing. `make -f pipelines/connect.mk help` lists the settings. Other goals: cost (jobs, hours, memory, disk that are left);
# shared, net-SEED and pair, the parts that several machines can make side by side (docs/clusters.md).
#
# What a pair gives lies in OUT/A-B: path, signature and training (.svg, .png), table.tsv, saved.tsv (the epochs that
# alignment saves), pointwise.tsv (how often the aligned curve is the better one, and how smooth both are). The same of all
# pairs, mean and standard deviation, lies in OUT, with training.tsv, and signature.tsv of all; tables.sh makes one table of
# several OUT. FROM=FOLDER joins the networks of another OUT, as for curves of other seeds: FROM=out
# PAIRS="1:2:1 3:4:1" OUT=out-one-seed trains only 3-4's.
#
# Memory: a training holds the decoded data set (-v says how much) beside its network, so -j4 holds it four times;
# the other programs read in order and need little.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

pictures := path signature $(if $(logged),training)

all: $(foreach where,$(everywhere),$(addprefix $(where)/,table.tsv pointwise.tsv signature.tsv $(pictures:%=%.svg) $(pictures:%=%.png))) \
     $(if $(unit),,$(if $(logged),$(OUT)/training.tsv)) $(if $(filter curve-%,$(logged)),$(everywhere:%=%/saved.tsv))

# ---- tables ----------------------------------------------------------------------------------------
summaries = $(foreach path,$(paths),$(1)/$(path).summary.tsv)

$(call each,table.tsv): $$(call files,$(paths:=.tsv)) $(filter-out -f,$(table))
	$(RUN_LIGHT) awk $(table) $(call summaries,$(@D)) $(whole)
$(OUT)/table.tsv: $(measured) $(OUT)/pairs $(filter-out -f,$(table))
	$(RUN_LIGHT) awk -v spread=1 $(names) $(table) $(foreach p,$(pairs),$(call summaries,$(OUT)/$(p))) $(whole)

pointwise := -f $(here)spread.awk -f $(here)pointwise.awk
$(everywhere:%=%/pointwise.tsv): $$(call files,curve-unaligned.tsv curve-aligned.tsv) $(filter-out -f,$(pointwise))
	$(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) $(pointwise) \
	    $(foreach p,$(of),pair=$(p) $(OUT)/$(p)/curve-unaligned.tsv $(OUT)/$(p)/curve-aligned.tsv) $(whole)
$(OUT)/signature.tsv: $(call each,signature.tsv)
	$(RUN_LIGHT) awk 'FNR == 1 { if (NR == 1) print "pair\t" $$0; next } { print pair "\t" $$0 }' \
	    $(foreach p,$(pairs),pair=$(p) $(OUT)/$(p)/signature.tsv) $(whole)
$(OUT)/pointwise.tsv $(OUT)/signature.tsv: $(OUT)/pairs

$(everywhere:%=%/saved.tsv): $$(call files,curve-unaligned.mcz curve-aligned.mcz) $(here)spread.awk $(here)saved.awk
	$(RUN_LIGHT) awk $(if $(filter $(OUT),$(@D)),-v spread=1 $(names)) -f $(here)spread.awk -f $(here)saved.awk \
	    $(foreach p,$(of),pair=$(p) $(OUT)/$(p)/curve-unaligned.log.json $(OUT)/$(p)/curve-aligned.log.json) $(whole)
$(OUT)/saved.tsv: $(OUT)/pairs

# ---- pictures --------------------------------------------------------------------------------------
series = $(subst line-,straight$(comma) ,$(subst curve-,curve$(comma) ,$(1)))
ends   = $(sort $(subst -, ,$(of)))
# curves come first, so that each has one colour in path.svg and training.svg
drawn := $(filter curve-%,$(paths)) $(filter line-%,$(paths))
# networks one by one for a pair, in one line for several
net-logs = $(if $(word 3,$(ends)),network=$(call joined,$(ends:%=$(OUT)/net-%.log.json)),\
               $(foreach n,$(ends),'network $(n)=$(OUT)/net-$(n).log.json'))

$(everywhere:%=%/path.svg) $(everywhere:%=%/path.png): $$(call files,$(paths:=.tsv))
	$(RUN_LIGHT) mc-plot path --data test $(title) \
	    $(foreach k,$(drawn),'$(call series,$(k))=$(call joined,$(call files,$(k).tsv))') -o $@
$(everywhere:%=%/signature.svg) $(everywhere:%=%/signature.png): $$(call files,signature.tsv)
	$(RUN_LIGHT) mc-plot signature $(title) 'signature=$(call joined,$(call files,signature.tsv))' -o $@
$(everywhere:%=%/training.svg) $(everywhere:%=%/training.png): $$(patsubst %,$(OUT)/net-%.mcz,$$(ends)) \
    $$(call files,$(variants:%=curve-%.mcz))
	$(RUN_LIGHT) mc-plot log $(title) \
	    $(foreach k,$(filter curve-%,$(logged)),'$(call series,$(k))=$(call joined,$(call files,$(k).log.json))') \
	    $(if $(filter network,$(logged)),$(net-logs)) -o $@
$(addprefix $(OUT)/,$(pictures:%=%.svg) $(pictures:%=%.png)): $(OUT)/pairs

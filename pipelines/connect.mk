# SPDX-License-Identifier: Apache-2.0
#
# Two networks from different seeds, or several such pairs: trained, aligned, joined by an unaligned and an
# aligned curve, measured and drawn.
#
#   make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" \
#        EPOCHS=20 CURVE_EPOCHS=20 OUT=out
#   make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data NET=resnet32 PAIRS="1:2 3:4 5:6" OUT=out -j2
#
# Every job is one program, behind $(RUN): RUN="srun -c 2" sends each to a cluster,
# -j runs them side by side. An interrupted run goes on where it was. Each result keeps the settings that
# made it in RESULT.settings, and is made again when they differ from those asked for: a mistyped setting
# costs nothing. common.mk lists the settings. What a pair gives lies in OUT/A-B: path.svg, signature.svg,
# training.svg, table.tsv; the same of all pairs, mean and deviation, in OUT.
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk


logged   := $(if $(filter-out 0,$(EPOCHS)),network) $(if $(filter-out 0,$(CURVE_EPOCHS)),$(variants:%=curve-%))
pictures := path signature $(if $(logged),training)

all: $(call each,table.tsv $(pictures:%=%.svg) $(pictures:%=%.png)) $(OUT)/table.tsv $(if $(logged),$(OUT)/training.tsv)

# ---- a pair ----------------------------------------------------------------------------------------
measures  = $(foreach path,$(paths),$(1)/$(path).tsv)
summaries = $(foreach path,$(paths),$(1)/$(path).summary.tsv)
title     = --title $(call quote,$(net-name) on $(data-name)$(1))
of-pair   = $(call title,$(comma) seeds $(A) and $(B))
# $(call series,KIND): its name in a legend
series    = $(subst line-,straight$(comma) ,$(subst curve-,curve$(comma) ,$(1)))
# only what was trained has a log
logs      = $(if $(filter network,$(logged)),'network $(A)=$(a:.mcz=.log.json)' 'network $(B)=$(b:.mcz=.log.json)') \
            $(foreach k,$(filter curve-%,$(logged)),'$(call series,$(k))=$(@D)/$(k).log.json')

$(call each,table.tsv): $$(call measures,$$(@D)) $(here)table.awk
	$(RUN) awk -f $(here)table.awk $(call summaries,$(@D)) > $@
$(call each,path.svg path.png): $$(call measures,$$(@D))
	$(RUN) mc-plot path --data test $(of-pair) \
	    $(foreach k,$(paths),'$(call series,$(k))=$(@D)/$(k).tsv') -o $@
$(call each,signature.svg signature.png): $$(@D)/signature.tsv
	$(RUN) mc-plot signature $(of-pair) $< -o $@
$(call each,training.svg training.png): $$(a) $$(b) $$(patsubst %,$$(@D)/%.mcz,$$(filter curve-%,$$(paths)))
	$(RUN) mc-plot log $(of-pair) $(logs) -o $@

# ---- all pairs -------------------------------------------------------------------------------------
# which pairs they are of
$(OUT)/pairs: $(if $(call equal,$(PAIRS),$(file <$(OUT)/pairs)),,force)
	@echo '$(PAIRS)' > $@
names := -v network=$(call quote,$(net-name)) -v data=$(call quote,$(data-name))
$(OUT)/table.tsv: $(measured) $(OUT)/pairs $(here)table.awk
	$(RUN) awk -v spread=1 $(names) -f $(here)table.awk $(foreach p,$(pairs),$(call summaries,$(OUT)/$(p))) > $@
$(OUT)/training.tsv: $(nets) $(curves) $(OUT)/pairs $(here)training.awk
	$(RUN) awk $(names) -f $(here)training.awk $(if $(filter network,$(logged)),label=network $(nets:.mcz=.log.json)) \
	    $(foreach k,$(filter curve-%,$(logged)),label=$(k) $(call each,$(k).log.json)) > $@

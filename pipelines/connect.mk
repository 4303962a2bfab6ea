# SPDX-License-Identifier: Apache-2.0
#
# Trains pairs of networks from different seeds, aligns them, learns an unaligned and an aligned curve,
# measures the paths, and draws them.
#
#   make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data PAIRS="1:2 3:4" EPOCHS=20 OUT=out -j2
#
# OUT/net-SEED.mcz are the networks. OUT/A-B/ has the results of the pair A:B: table.tsv, path.svg,
# signature.svg, training.svg, pointwise.tsv (the curves compared point by point) and saved.tsv (epochs that
# alignment saves). OUT/ has the same for all pairs, with mean and standard deviation, and training.tsv (the
# last epochs of all trainings).
#
# If you interrupt a run, the same command resumes it. If you change a setting, the results that depend on it
# are rebuilt. RUN="srun -c 2" runs each job on a cluster. ALIGN="python3 my_align.py" replaces a stage.
# `make -f pipelines/connect.mk help` lists the settings. Goals for clusters: shared, net-SEED, pair.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/stages.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))

nets-logged   := $(if $(filter-out 0,$(EPOCHS)),$(nets))
curves-logged := $(if $(filter-out 0,$(CURVE_EPOCHS)),$(variants:%=curve-%))
pictures := path signature $(if $(nets-logged)$(curves-logged),training)
tables   := table.tsv pointwise.tsv signature.tsv
all: $(foreach f,$(tables) $(pictures:=.svg) $(pictures:=.png),$(folders:%=%/$(f)))
all: $(if $(curves-logged),$(folders:%=%/saved.tsv))
all: $(if $(nets-logged)$(curves-logged),$(if $(unit),,$(OUT)/training.tsv))

# ---- tables ----------------------------------------------------------------------------------------
$(folders:%=%/table.tsv): $$(call files,$(paths:=.tsv))
	$(begin)
	$(call table,paths) $(call files,$(paths:=.summary.tsv)) $(whole)
$(folders:%=%/pointwise.tsv): $$(call files,curve-unaligned.tsv curve-aligned.tsv)
	$(begin)
	$(call table,pointwise) $(call files,curve-unaligned.tsv curve-aligned.tsv) $(whole)
$(folders:%=%/saved.tsv): $$(call files,curve-unaligned.mcz curve-aligned.mcz)
	$(begin)
	$(call table,saved) $(call files,curve-unaligned.log.json curve-aligned.log.json) $(whole)
$(call each,signature.tsv): %/signature.tsv: %/moments.mcz %/permutation.mcz
	$(begin)
	$(RUN_LIGHT) mc-corr --signature --perm $*/permutation.mcz $< -o $@
$(OUT)/signature.tsv: $(call each,signature.tsv)
	$(begin)
	$(call table,joined) $(call each,signature.tsv) $(whole)
$(OUT)/training.tsv: $(nets-logged) $(call each,$(curves-logged:=.mcz))
	$(begin)
	$(call table,training) $(nets-logged:.mcz=.log.json) $(call each,$(curves-logged:=.log.json)) $(whole)
$(addprefix $(OUT)/,table.tsv pointwise.tsv saved.tsv signature.tsv training.tsv): $(all-pairs)

# ---- pictures --------------------------------------------------------------------------------------
path-lines = $(foreach v,unaligned aligned,'curve, $(v)=$(call joined,curve-$(v).tsv)') \
             $(foreach v,unaligned aligned,'straight, $(v)=$(call joined,line-$(v).tsv)')
$(foreach x,svg png,$(folders:%=%/path.$(x))): $$(call files,$(paths:=.tsv)) $(plot-deps)
	$(begin)
	$(RUN_LIGHT) mc-plot path --data test $(look) $(path-lines) -o $@
$(foreach x,svg png,$(folders:%=%/signature.$(x))): $$(call files,signature.tsv) $(plot-deps)
	$(begin)
	$(RUN_LIGHT) mc-plot signature $(look) 'signature=$(call joined,signature.tsv)' -o $@
# one line per network for a pair; one line of all networks for several
ends = $(sort $(subst -, ,$(notdir $(members))))
network-lines = $(if $(word 3,$(ends)),network=$(subst $(space),$(comma),$(ends:%=$(OUT)/net-%.log.json)), \
                    $(foreach n,$(ends),'network $(n)=$(OUT)/net-$(n).log.json'))
curve-lines = $(foreach v,$(variants),'curve, $(v)=$(call joined,curve-$(v).log.json)')
trainings = $(patsubst %,$(OUT)/net-%.mcz,$(ends)) $(call files,$(curves-logged:=.mcz))
$(foreach x,svg png,$(folders:%=%/training.$(x))): $$(trainings) $(plot-deps)
	$(begin)
	$(RUN_LIGHT) mc-plot log $(look) $(if $(curves-logged),$(curve-lines)) \
	    $(if $(nets-logged),$(network-lines)) -o $@
$(foreach x,svg png,$(pictures:%=$(OUT)/%.$(x))): $(all-pairs)

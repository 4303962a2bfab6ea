# SPDX-License-Identifier: Apache-2.0
#
# The similarity of a curve's middle to its ends, compared with that of the straight line's middle: the mean
# correlation of units, per layer, before and after the middle is aligned to the end.
#
#   make -f pipelines/middle.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS="1:2 3:4" EPOCHS=20 OUT=out
#
# With the same OUT it uses the settings, networks and curves of connect.mk. OUT/A-B/ has middle.tsv
# (column curve: unaligned, aligned, line-unaligned, line-aligned) and pictures of a curve with its line,
# middle-unaligned.svg and middle-aligned.svg, on one scale. OUT/ has the same for all pairs.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
MIDDLE_FLAGS ?=#                more options for mc-bezier --point: --bn-samples, --bn-plain
middles    := middle-unaligned middle-aligned middle-line-unaligned middle-line-aligned
sides      := $(foreach m,$(middles),$(m)-first $(m)-second)# a middle, and the end to compare it with
alignments := $(sides)
include $(here)include/stages.mk

pictures := $(foreach m,middle-unaligned middle-aligned,$(m).svg $(m).png)
all: $(foreach f,middle.tsv $(pictures),$(folders:%=%/$(f)))

# ---- the middle, with re-estimated statistics of batch norm -----------------------------------------
path = $(@D)/$(patsubst curve-line-%,line-%,$(patsubst middle-%,curve-%,$(@F)))
$(call each,$(middles:=.mcz)): $$(path) $(OUT)/train.mcz $(call settings,middle,MIDDLE_FLAGS $(compute))
	$(begin)
	$(RUN) mc-bezier --point 0.5 --bn-data $(OUT)/train.mcz $(MIDDLE_FLAGS) $(device) $< -o $@

# ---- compared with each end ------------------------------------------------------------------------
side = $(patsubst moments-%,%,$(basename $(@F)))
mid  = $(patsubst %-first,%,$(patsubst %-second,%,$(side)))
end  = $(if $(filter %-first,$(side)),$(a),$(if $(filter %-unaligned,$(mid)),$(b),$(@D)/b-aligned.mcz))
$(call each,$(sides:%=moments-%.mcz)): $$(end) $$(@D)/$$(mid).mcz $(acts-deps) | $(OUT)/train.mcz
	$(begin)
	$(call acts,$(ALIGN_IMAGES:%=--samples %)) $(end) $(@D)/$(mid).mcz -o $@
$(call each,$(sides:=.tsv)): $$(@D)/permutation-$$(basename $$(@F)).mcz $$(@D)/moments-$$(basename $$(@F)).mcz
	$(begin)
	$(RUN_LIGHT) mc-corr --signature --perm $^ -o $@

# ---- the table and the pictures --------------------------------------------------------------------
$(folders:%=%/middle.tsv): $$(call files,$(sides:=.tsv))
	$(begin)
	$(call table,middle) $(foreach d,$(members),$(sides:%=$(d)/%.tsv)) $(whole)
curve = $(basename $(@F))
line  = $(patsubst middle-%,middle-line-%,$(curve))
middle-title = middle of the $(patsubst middle-%,%,$(curve)) curve$(comma) $()
$(foreach f,$(pictures),$(folders:%=%/$(f))): $$(call files,$(sides:=.tsv)) $(plot-deps)
	$(begin)
	$(RUN_LIGHT) mc-plot signature $(subst --title ",--title "$(middle-title),$(title)) $(PLOT_FLAGS) \
	    $(foreach s,$(sides),--fit $(call joined,$(s).tsv)) \
	    $(foreach e,first second,'curve to the $(e) end=$(call joined,$(curve)-$(e).tsv)') \
	    $(foreach e,first second,'line to the $(e) end=$(call joined,$(line)-$(e).tsv)') -o $@
$(foreach f,middle.tsv $(pictures),$(OUT)/$(f)): $(all-pairs)

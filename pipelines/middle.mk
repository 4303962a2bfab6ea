# SPDX-License-Identifier: Apache-2.0
#
# How alike the middle of a curve and its ends are, layer by layer: the mean correlation of their units as they
# stand, and after the middle is aligned to that end; beside it the middle of the straight line between the same ends.
# On a curve that joins strangers the middle resembles neither; the paper shows it of curves with and without alignment.
#
#   make -f pipelines/middle.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" \
#        EPOCHS=20 CURVE_EPOCHS=20 OUT=out
#
# Settings, and how results are kept, resumed and shared, are those of connect.mk: networks and curves that it
# made with the same settings in the same OUT are taken as they are. What a pair gives lies in OUT/A-B:
# middle.tsv (column curve: unaligned, aligned, and line-unaligned, line-aligned), and a picture a curve with its line,
# middle-unaligned.svg and middle-aligned.svg, on one scale; the same of all pairs in OUT, in the pictures as mean and deviation.
MIDDLE_FLAGS ?=#                more for mc-bezier --point, of batch norm: --bn-samples, --bn-plain
settings := MIDDLE_FLAGS
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

drawn   := $(variants:%=middle-%)
middles := $(drawn) $(variants:%=middle-line-%)
all: $(foreach where,$(everywhere),$(addprefix $(where)/,middle.tsv $(drawn:=.svg) $(drawn:=.png)))

# ---- the middle, batch norm re-estimated there -----------------------------------------------------
middle_set = $(strip $(MIDDLE_FLAGS))
$(call made-with,middle,$(call each,$(middles:=.mcz)))
$(call each,$(middles:=.mcz)): $(OUT)/train.mcz $$(@D)/$$(patsubst curve-line-%,line-%,$$(patsubst middle-%,curve-%,$$(@F)))
	$(RUN) mc-bezier --point 0.5 --bn-data $< $(MIDDLE_FLAGS) $(lastword $(filter-out %.anew,$^)) $(device) -o $@
	$(call keep,middle)

# ---- against each end: x-middle-V-first.mcz, x-middle-V-second.mcz ---------------------------------
sides := $(foreach m,$(middles),$(m)-first $(m)-second)
# of a target: middle-V; the network at that end
middle = $(patsubst %-first,%,$(patsubst %-second,%,$(patsubst permutation-%,%,$(patsubst moments-%,%,$(basename $(@F))))))
end    = $(if $(filter %-first,$(basename $(@F))),$(a),$(if $(filter %-unaligned,$(middle)),$(b),$(@D)/b-$(patsubst line-%,%,$(middle:middle-%=%)).mcz))
$(call made-with,align,$(call each,$(sides:%=moments-%.mcz)))
$(call made-with,corr,$(call each,$(sides:%=matrices-%.mcz)))
$(call made-with,assign,$(call each,$(sides:%=permutation-%.mcz)))

$(call each,$(sides:%=moments-%.mcz)): $$(end) $$(@D)/$$(middle).mcz | $(OUT)/train.mcz
	$(RUN) mc-acts --data $(OUT)/train.mcz $(call images,ALIGN_IMAGES) $(ACTS_FLAGS) $(device) $(filter-out %.anew,$^) -o $@
	$(call keep,align)
$(call each,$(sides:%=matrices-%.mcz)): $$(@D)/moments-$$(patsubst matrices-%,%,$$(@F))
	$(RUN_LIGHT) mc-corr $(CORR_FLAGS) $< -o $@
	$(call keep,corr)
$(call each,$(sides:%=permutation-%.mcz)): $$(@D)/matrices-$$(patsubst permutation-%,%,$$(@F))
	$(RUN_LIGHT) mc-hungarian $(HUNGARIAN_FLAGS) $< -o $@
	$(call keep,assign)
$(call each,$(sides:=.tsv)): $(OUT)/%.tsv: $$(@D)/permutation-$$(notdir $$*).mcz $$(@D)/moments-$$(notdir $$*).mcz
	$(RUN_LIGHT) mc-corr --signature --perm $^ -o $@

# ---- the table and the pictures --------------------------------------------------------------------
# each row says of which pair, curve and end it is
rows = $(foreach pair,$(of),$(foreach s,$(sides),pair=$(pair) curve=$(patsubst middle-%,%,$(s:-$(lastword $(subst -, ,$(s)))=)) \
           end=$(lastword $(subst -, ,$(s))) $(OUT)/$(pair)/$(s).tsv))
$(everywhere:%=%/middle.tsv): $$(call files,$(sides:=.tsv))
	$(RUN_LIGHT) awk 'FNR == 1 { if (NR == 1) print "pair\tcurve\tend\t" $$0; next } { print pair "\t" curve "\t" end "\t" $$0 }' \
	    $(rows) $(whole)
to-end = $(if $(findstring -line-,$(1)),line,curve) to the $(2) end
both = $(1) $(1:middle-%=middle-line-%)
# the pictures of both curves share a scale
others = $(foreach m,$(middles),$(foreach e,first second,--fit $(call joined,$(call files,$(m)-$(e).tsv))))
$(foreach x,svg png,$(foreach m,$(drawn),$(everywhere:%=%/$(m).$(x)))): $$(call files,$(sides:=.tsv))
	$(RUN_LIGHT) mc-plot signature $(call title,middle of the $(patsubst middle-%,%,$(basename $(@F))) curve$(comma) ) $(others) \
	    $(foreach m,$(call both,$(basename $(@F))),$(foreach e,first second,'$(call to-end,$(m),$(e))=$(call joined,$(call files,$(m)-$(e).tsv))')) -o $@
$(foreach f,middle.tsv $(drawn:=.svg) $(drawn:=.png),$(OUT)/$(f)): $(OUT)/pairs

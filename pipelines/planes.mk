# SPDX-License-Identifier: Apache-2.0
#
# The loss on planes in parameter space, the paper's figure 3: through the two networks and the aligned second
# one, and through the unaligned and the aligned curve.
#
#   make -f pipelines/planes.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten PAIRS=1:2 EPOCHS=20 OUT=out
#
# With the same OUT it uses the settings, networks and curves of connect.mk. OUT/A-B/ has
# plane-{networks,curve-unaligned,curve-aligned}.svg and .tsv.
#
# A plane evaluates GRID x GRID points on PLANE_BN_IMAGES + PLANE_IMAGES images: by default 289 points on
# 4,500 images, about ten minutes for tinyten on one core. An interrupted plane resumes. The standard error of
# an accuracy on 2,500 images is at most 1%.
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/remembered.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))
GRID            ?= 17#          points along each side
PLANE_IMAGES    ?= 2500#        test images to measure on, the first ones; empty: all
PLANE_BN_IMAGES ?= 2000#        training images to re-estimate batch norm on; empty: 10,000
PLANE_FLAGS     ?=#             more options for mc-eval --plane: --x-range=-.2:1.2, --bn-plain
include $(here)include/stages.mk

planes   := plane-networks plane-curve-unaligned plane-curve-aligned
pictures := $(foreach p,$(planes),$(p).svg $(p).png)
all: $(call each,$(pictures))

# ---- the tables ------------------------------------------------------------------------------------
# at-most: a number of images, limited to those in a stream
images-in = mc-info --json $(1) | sed 's/.*"labels",[^[]*\[\([0-9]*\).*/\1/'
at-most = $$(printf '%s\n' $(1) $$($(call images-in,$(2))) | sort -n | head -n 1)
test    := $(if $(PLANE_IMAGES),--test-samples $(call at-most,$(PLANE_IMAGES),$(OUT)/test.mcz))
train   := $(if $(PLANE_BN_IMAGES),--bn-samples $(call at-most,$(PLANE_BN_IMAGES),$(OUT)/train.mcz))
curve    = $(@D)/$(patsubst plane-%.tsv,%.mcz,$(@F))
anchors  = $(if $(filter plane-networks.tsv,$(@F)),$(a) $(b) $(@D)/b-aligned.mcz,$(curve))
$(call each,$(planes:=.tsv)): $$(anchors) $(OUT)/train.mcz $(OUT)/test.mcz \
    $(call settings,planes,GRID PLANE_IMAGES PLANE_BN_IMAGES PLANE_FLAGS $(compute))
	$(begin)
	$(RUN) mc-eval --plane --grid $(GRID) --data $(OUT)/test.mcz $(test) --bn-data $(OUT)/train.mcz \
	    $(train) $(PLANE_FLAGS) $(device) $(MESSAGES) --checkpoint $(@:.tsv=.checkpoint) --resume \
	    --marks $(@:.tsv=.marks.tsv) $(anchors) -o $@
	$(finish)

# ---- the pictures ----------------------------------------------------------------------------------
names-networks = θ₁,θ₂,Pθ₂
names-curve-unaligned = θ₁,θ₂,r(½)
names-curve-aligned = θ₁,Pθ₂,r(½)
$(call each,$(pictures)): $(planes:%=$$(@D)/%.tsv) $(plot-deps)
	$(begin)
	$(RUN_LIGHT) mc-plot plane --data test $(look) \
	    --names '$(names-$(patsubst plane-%,%,$(basename $(@F))))' \
	    $(patsubst %,--fit %,$(filter-out $(basename $@).tsv,$(filter %.tsv,$^))) $(basename $@).tsv \
	    $(basename $@).marks.tsv -o $@

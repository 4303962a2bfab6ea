# SPDX-License-Identifier: Apache-2.0
#
# The loss on planes in parameter space, as the paper's figure 3: through the two networks and the second one
# aligned, and through the learned curves, unaligned and aligned.
#
#   make -f pipelines/planes.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2" EPOCHS=20 \
#        CURVE_EPOCHS=20 OUT=out
#
# Give it the settings that made OUT with connect.mk, and nothing is trained again; an empty OUT is filled first.
# The pictures are OUT/A-B/plane-{networks,curve-unaligned,curve-aligned}.{svg,png}, the tables beside them.
#
# A plane costs GRID x GRID times (PLANE_BN_IMAGES + PLANE_IMAGES) images, forwards only, and says how far it is on a
# terminal; an interrupted one goes on at its last 16 points. By default that is 289 x 4,500 images, about ten
# minutes for a tinyten on one core, each plane; the standard error of an accuracy on 2,500 images is at most 1%.
# PLANE_IMAGES and PLANE_BN_IMAGES empty: the whole test set and 10,000 images, as the paths are measured.
GRID            ?= 17
PLANE_IMAGES    ?= $(call least,2500,TEST_IMAGES)# first images of the test set to measure on (2500, or what there are); empty: all
PLANE_BN_IMAGES ?= $(call least,2000,TRAIN_IMAGES)# first of the training set to re-estimate batch norm on (2000, likewise); empty: 10,000
PLANE_FLAGS     ?=#             more for mc-eval --plane: --x-range=-.2:1.2, --bn-plain
PLANE_COLOURS   ?=#             more for mc-plot plane; the planes of a pair share a scale that fits them all, unless --loss-range 0:3

# $(call least,N,SETTING): N, or as many images as there are if that is less; of a folder nobody knows here, so all
there = $(or $($(1)),$(if $(filter synthTEST_IMAGES,$(DATA)$(1)),2000))
least = $(if $(or $($(2)),$(filter-out folder,$(DATA))),$(firstword $(shell printf '%s\n' $(1) $(call there,$(2)) | sort -n)))

counts   := GRID
settings := GRID PLANE_IMAGES PLANE_BN_IMAGES PLANE_FLAGS PLANE_COLOURS
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))common.mk),$(error no common.mk beside this graph, or a blank in the path to it))

planes := networks $(variants:%=curve-%)

all: $(call each,$(planes:%=plane-%.svg) $(planes:%=plane-%.png))

# ---- the tables ------------------------------------------------------------------------------------
tables    := $(call each,$(planes:%=plane-%.tsv))
plane_set  = $(strip $(GRID) grid $(PLANE_IMAGES) images bn $(PLANE_BN_IMAGES) $(PLANE_FLAGS))
$(call made-with,plane,$(tables))

# the three networks, or the curve
through = $(if $(filter plane-networks.tsv,$(@F)),$(a) $(b) $(@D)/b-aligned.mcz,$(@D)/$(patsubst plane-%.tsv,%,$(@F)).mcz)

$(tables): $$(through) $(OUT)/train.mcz $(OUT)/test.mcz
	$(RUN) mc-eval --plane --grid $(GRID) --data $(OUT)/test.mcz \
	    $(PLANE_IMAGES:%=--test-samples %) --bn-data $(OUT)/train.mcz $(PLANE_BN_IMAGES:%=--bn-samples %) \
	    $(PLANE_FLAGS) $(device) $(MESSAGES) \
	    --checkpoint $(call checkpoint,$(@:.tsv=),$(plane_set) $(THREADS) $(shell cksum $(through) 2>/dev/null | cksum)) --resume \
	    --marks $(@:.tsv=.marks.tsv) $(through) -o $@
	$(call keep,plane)

# ---- the pictures ----------------------------------------------------------------------------------
pictures := $(call each,$(planes:%=plane-%.svg) $(planes:%=plane-%.png))
second    = $(if $(filter %-unaligned.svg %-unaligned.png,$@),θ₂,Pθ₂)
called    = $(if $(filter plane-networks.%,$(@F)),θ₁$(comma)θ₂$(comma)Pθ₂,θ₁$(comma)$(second)$(comma)r(½))

$(pictures): $(planes:%=$$(@D)/plane-%.tsv)
	$(RUN_LIGHT) mc-plot plane --data test $(title) --names '$(called)' $(PLANE_COLOURS) \
	    $(foreach table,$(filter-out $(basename $@).tsv,$^),--fit $(table)) \
	    $(basename $@).tsv $(basename $@).marks.tsv -o $@

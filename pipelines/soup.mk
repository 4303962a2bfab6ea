# SPDX-License-Identifier: Apache-2.0
#
# The mean of several networks: trained from different seeds, aligned to one joint order, averaged and
# repaired. The table compares it with each network and with the mean of the unaligned networks.
#
#   make -f pipelines/soup.mk DATA=cifar10 DATA_DIR=~/data NET=tinyten SEEDS="1 2 3" EPOCHS=20 OUT=out
#
# With the same OUT it uses the settings and networks of connect.mk. OUT/soup.tsv has a row per network and
# per mean: mean-unaligned and mean-joint, each averaged, with re-estimated statistics of batch norm, and
# repaired. Rows of mean-joint have the objective of the joint order and that of the best network as
# reference. OUT/soup.svg draws the accuracies. OUT/joint.mcz is the joint order, OUT/joint-SEED.mcz are the
# networks in it. Goals for clusters: shared, net-SEED, and pair, which makes only the matrices of PAIRS.
orders  := unaligned joint
picture := soup
include $(or $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))include/means.mk), \
    $(error the path must not contain spaces: run make in the root of the repository))

all: $(if $(unit),$(call each,matrices.mcz),$(foreach x,tsv svg png,$(OUT)/soup.$(x)))
$(OUT)/soup.tsv: $(OUT)/accuracy-soup.tsv $(OUT)/joint.mcz
	$(begin)
	$(call table,soup) $< $(OUT)/joint.summary.tsv $(whole)
$(OUT)/soup.svg $(OUT)/soup.png: $(OUT)/soup.tsv $(plot-deps)
	$(begin)
	$(draw) --label weights --columns accuracy $< -o $@

# SPDX-License-Identifier: Apache-2.0
#
# The settings that every experiment shares: NAME ?= default# meaning. An experiment defines its own
# settings, and other defaults of these, before it includes stages.mk.

DATA         ?= synth#        data set of mc-data: cifar10, cifar100, tiny-imagenet, folder, npz, idx, synth
DATA_DIR     ?=#              folder of the publisher's files; for npz the file
DATA_SEED    ?= 1#            seed of synth
DATA_FLAGS   ?= $(if $(filter googlenet-tiny-imagenet,$(NET)-$(DATA)),--size 32)# more options for mc-data
TRAIN_IMAGES ?=#              number of training images, the first ones; empty: all
TEST_IMAGES  ?=#              number of test images, the first ones; empty: all
NET          ?= tinyten#      network of mc-train, or a graph FILE.json
SEEDS        ?= 1 2#          seeds of the two ends, instead of PAIRS=1:2
PAIRS        ?= $(subst $(space),:,$(strip $(SEEDS)))# seeds of the ends of each pair: "1:2 3:4"
EPOCHS       ?= 250#          epochs of the networks
CURVE_EPOCHS ?= $(EPOCHS)#    epochs of the curves
LR           ?= 0.1#          learning rate of the networks
CURVE_LR     ?= $(if $(filter cifar100,$(DATA)),0.1,0.01)# rate of the curves: 0.1 for cifar100, else 0.01
BATCH        ?= 128#          images per step of the networks
CURVE_BATCH  ?= $(BATCH)#     images per step of the curves
SCHEDULE     ?= step#         learning rate schedule of mc-train
CURVE_SCHEDULE ?= $(SCHEDULE)# learning rate schedule of the curves
CURVE_SEED   ?=#              seed of all curves; empty: each pair's first seed
ALIGN_IMAGES ?=#              number of images to align by; empty: the first fifth
POINTS       ?= 65#           points measured along a path
TRAIN_FLAGS  ?=#              more options for mc-train
ACTS_FLAGS   ?=#              more options for mc-acts: --at pre
CORR_FLAGS   ?=#              more options for mc-corr: --measure l2
HUNGARIAN_FLAGS ?=#           more options for mc-hungarian
CURVE_FLAGS  ?=#              more options for mc-bezier and mc-pam
EVAL_FLAGS   ?=#              more options for mc-eval: --full
TRAIN        ?= mc-train#     command that trains a network
ACTS         ?= mc-acts#      command that writes the moments of two networks
MEASURE      ?= mc-corr#      command that reads moments and writes matrices
ALIGN        ?= mc-hungarian# command that reads matrices and writes a permutation
CURVE        ?= mc-bezier#    command that learns a curve
EVAL         ?= mc-eval#      command that measures a path
PLOT_FLAGS   ?=#              more options for mc-plot: --size 8.5x5cm, --title TEXT, --style ggplot
MESSAGES     ?=#              -v: a line per epoch; -q: errors only
THREADS      ?= 2#            threads per job; the same number gives the same bytes
DEVICE       ?= auto#         cpu, cuda or cuda:N
PRECISION    ?= f32#          precision on a CUDA device: f32, tf32, bf16, f16
FROM         ?=#              another OUT: its networks, permutations and curves are copied
CHANGE       ?=#              yes: remove networks, curves and checkpoints that have other settings
RUN          ?=#              command that runs a job elsewhere: srun -c 2
RUN_LIGHT    ?= $(RUN)#       the same for jobs of seconds; empty: on this machine
RATES        ?=#              training:evaluation images/s for cost: tinyten=900:4000; else measured
BIN          ?= $(patsubst %/mc-data,%,$(firstword $(programs)))# folder of the programs
programs      = $(wildcard $(here)../build/bin/mc-data $(here)../../bin/mc-data)

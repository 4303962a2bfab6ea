#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh [FOLDER]: aligns and connects two tinytens on synthetic data, measures the paths and draws them. It uses the
# programs in build/bin and writes to FOLDER (default: demo-out), relative to the root of this repository.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/include/environment.sh" || exit 1
case ${1:-} in
-*)
    echo 'usage: demo.sh [FOLDER]' >&2
    exit 2
    ;;
esac
# a relative path, because make cannot include files by a path with spaces
cd "$here/.."
out=${1:-demo-out}
# remove the build's settings (make demo NVCC=), which are not the experiment's, and its job server, which is out of reach here
MAKEFLAGS=${MAKEFLAGS-}
MAKEFLAGS=$(printf '%s' "${MAKEFLAGS%%-- *}" | sed -E ':a; s/(^| )(-j[0-9]*|--jobserver-[a-z]+=[^ ]*)( |$)/ /; ta')
export MAKEFLAGS

${MAKE:-make} --no-print-directory -f pipelines/connect.mk ${BIN:+BIN="$BIN"} OUT="$out" DATA=synth \
    TRAIN_IMAGES=6000 TEST_IMAGES=1000 NET=tinyten SEEDS="1 2" EPOCHS=4 CURVE_EPOCHS=3 \
    SCHEDULE=onecycle CURVE_LR=0.02 POINTS=11 \
    EVAL_FLAGS="--samples 1000 --bn-samples 1000" report

printf 'The table has the test accuracy in percent along the paths between two networks, and how far the loss rises\n'
printf 'over the line between the ends.\n'

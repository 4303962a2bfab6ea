#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The main job on built-in synthetic data: two tinytens, aligned and joined, measured and drawn. Takes the
# build folder's programs; writes to the folder given (default demo-out), as seen from the tree.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/include/environment.sh" || exit 1
case ${1:-} in
-*)
    echo 'usage: demo.sh [FOLDER]' >&2
    exit 2
    ;;
esac
# make's names may hold no blank, so the graph is called from the tree, by a path within it
cd "$here/.."
out=${1:-demo-out}
# settings of the build (make demo NVCC=) are none of the graph's, and its job slots do not come this far
MAKEFLAGS=${MAKEFLAGS-}
MAKEFLAGS=$(printf '%s' "${MAKEFLAGS%%-- *}" | sed -E ':a; s/(^| )(-j[0-9]*|--jobserver-[a-z]+=[^ ]*)( |$)/ /; ta')
export MAKEFLAGS

${MAKE:-make} --no-print-directory -f pipelines/connect.mk ${BIN:+BIN="$BIN"} OUT="$out" DATA=synth \
    TRAIN_IMAGES=6000 TEST_IMAGES=2000 NET=tinyten SEEDS="1 2" EPOCHS=4 CURVE_EPOCHS=3 \
    SCHEDULE=onecycle CURVE_LR=0.02 POINTS=11 \
    EVAL_FLAGS="--samples 2000 --bn-samples 2000" report

printf '\nTest accuracy in percent along the paths between two networks, and how far the loss rises over\n'
printf 'the line between the ends (%s/1-2/table.tsv):\n\n' "$out"
column -t -s "$(printf '\t')" "$out/1-2/table.tsv"
printf '\nPictures: %s %s\n' "$out/1-2/path.svg" "$out/1-2/path.png"
printf 'Report: %s\n' "$out/report.html"

# SPDX-License-Identifier: Apache-2.0
# For the scripts of this folder: `. tests/gpu/device.bash NAME BUILD "nothing was done"`. Sets $build, the build's
# folder; $MC_TEST_DEVICE, the device, from DEVICE; $tmp, a temporary folder. Without a device the script exits here
# with one line and status 1.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../pipelines/include/environment.sh" || exit 2
name=$1 build=$(cd "$2" && pwd) || exit 2
export MC_TEST_DEVICE=${DEVICE:-cuda}
case $MC_TEST_DEVICE in
cuda | cuda:*) ;;
*)
    echo "$name: $3: DEVICE=$MC_TEST_DEVICE is not a GPU"
    exit 1
    ;;
esac
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

"$build/bin/mc-data" synth --samples 64 -o "$tmp/d.mcz" || exit 2
if ! "$build/bin/mc-train" --net mlp:4 --data "$tmp/d.mcz" --epochs 0 --device "$MC_TEST_DEVICE" \
    -o "$tmp/w.mcz" 2>"$tmp/reason"; then
    echo "$name: $3: $(sed 's/^mc-train: //' "$tmp/reason")"
    exit 1
fi
# the tests' programs have no lib folder next to them
export MC_CUDA_LIBRARY=${MC_CUDA_LIBRARY:-$build/lib/libmc-cuda.so}

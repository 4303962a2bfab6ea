# SPDX-License-Identifier: Apache-2.0
# connect.mk with the stages of pipelines/modules, which compute networks without a graph with PyTorch, makes the tables,
# pictures and report that it makes of mc's own networks. Permuting does not change the end of a line.
need_torch 2.15
export OMP_NUM_THREADS=1
stages="$python $MC_ROOT/pipelines/modules/stages.py"
connect() {
    make -s -f "$MC_ROOT/pipelines/connect.mk" TRAIN_IMAGES=256 TEST_IMAGES=64 NET=vit EPOCHS=1 LR=.002 CURVE_LR=.001 POINTS=3 \
        THREADS=1 DEVICE=cpu TRAIN="$stages train" ACTS="$stages acts" CURVE="$stages curve" EVAL="$stages eval" "$@"
}
connect report >log 2>&1 || die "$(tail -n 5 log)"
for f in table.tsv pointwise.tsv signature.tsv training.tsv path.svg training.svg report.html; do [ -s out/$f ] || die "$f"; done
mc-info --check out/net-1.mcz out/1-2/*.mcz >/dev/null
expect_equal "$(mc-info out/1-2/curve-aligned.mcz | grep -c '3x8x8  *[012]/patch.weight')" 3
expect_equal "$(cut -f 1,2,3 out/table.tsv | tail -n +2 | paste -sd ' ' | tr '\t' '/')" "$(printf 'vit/synth/%s ' line-unaligned \
    curve-unaligned line-aligned curve-aligned | sed 's/ $//')"
for v in line curve; do
    expect_equal "$(head -n 2 out/1-2/$v-aligned.tsv)" "$(head -n 2 out/1-2/$v-unaligned.tsv)"
    paste <(tail -n 1 out/1-2/$v-aligned.tsv) <(tail -n 1 out/1-2/$v-unaligned.tsv) |
        awk '{ if (($2 - $7) ^ 2 > 1e-8 || $4 - $9 > 1e-4 || $9 - $4 > 1e-4) exit 1 }' || die "$v: the permuted end differs"
done
expect_equal "$(mc-info --json out/1-2/permutation.mcz | grep -o '"within"' | wc -l)" 32
connect -n >plan
expect_equal "$(grep -v '^export \|/include/finished ' plan)" ''
connect NET=none OUT=none -k >log 2>&1 && die 'an unknown network'
grep -q "argument --net: invalid choice: 'none' (choose from" log || die "$(cat log)"

# SPDX-License-Identifier: Apache-2.0
# Every experiment and script writes the same bytes with a user's decimal comma.

mkdir locales
for l in de_DE tr_TR; do localedef -i $l -f UTF-8 locales/$l.UTF-8; done
within() { env LOCPATH="$TMP/locales" LANG="$1" LC_ALL="$1" "${@:2}"; }
comma() { within de_DE.UTF-8 "$@"; }
[ "$(comma /usr/bin/printf %.1f 1,5)" = 1,5 ] || die 'this locale has no decimal comma'
# in Turkish locales [a-z] does not match i
turkish() { within tr_TR.UTF-8 "$@"; }
[ "$(echo aic | turkish sed 's/[a-z]*/x/')" = xic ] || die '[a-z] matches i in this locale'

stub_plot
# graphs FOLDER [comma]: makes all experiments
graphs() {
    local g
    for g in connect pam measures middle planes grid robust; do
        # with -e, the PATH of the environment counts, not the one that make sets
        ${2:-} env PATH="$bin:$PATH" make ${2:+-e} -f "$MC_ROOT/pipelines/$g.mk" BIN="$bin" DATA=synth DATA_FLAGS='--size 8' \
            TRAIN_IMAGES=192 TEST_IMAGES=60 NET=mlp:bn,8 LR=0.02 EPOCHS=1 CURVE_EPOCHS=1 CURVE_LR=1e-2 POINTS=3 THREADS=1 \
            -j2 "OUT=$1$([ $g != robust ] || echo /robust)" \
            $(case $g in pam) echo PERMUTATION_EPOCHS=1 ;; planes) echo GRID=2 ;; robust) echo ATTACK=pgd:steps=1 ;; esac) \
            >log 2>&1 || die "$(cat log)"
    done
}
mkdir point comma
(cd point && graphs out)
(cd comma && graphs out comma)
# logs contain durations
diff -rq -x log -x .lock -x '*.log.json' point comma >differ || die "$(cat differ)"
grep -q '[0-9]\.[0-9]*[1-9]' comma/out/table.tsv || die "$(cat comma/out/table.tsv)"
# no experiment drew pictures, because mc-plot was a stub
pair=point/out/1-2
for picture in "path $pair/curve-aligned.tsv" "signature $pair/signature.tsv" "log $pair/curve-aligned.log.json" \
    "plane $pair/plane-networks.tsv $pair/plane-networks.marks.tsv"; do
    mc-plot $picture -o point.svg
    comma mc-plot $picture -o comma.svg
    same point.svg comma.svg
done

for kind in accuracy loss; do
    for form in markdown latex tsv; do
        "$MC_ROOT/pipelines/paper/pages.py" tables -f $form $kind point/out >table
        comma "$MC_ROOT/pipelines/paper/pages.py" tables -f $form $kind comma/out | same - table
    done
done
for where in '' comma turkish; do
    $where make -n -f "$MC_ROOT/pipelines/paper/paper.mk" BIN="$MC_BUILD/bin" PART=tinyten-cifar10 CIFAR10_DIR=. SCALE=.1 OUT=out >"plan$where"
    $where make -n -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DATA=cifar10 DATA_DIR=. DEVICE=cpu OUT=out >"connect$where"
done
same plan plancomma
same plan planturkish
same connect connectturkish
grep -q "SCHEDULE='step:2:0\.996" plan || die "$(cat plan)"
for where in '' comma; do
    $where "$MC_ROOT/pipelines/cluster/slurm.sh" -n connect.mk BIN="$MC_BUILD/bin" DATA=synth NET=tinyten THREADS=1 RATES=tinyten=500:1500 \
        PAIRS=1:2 OUT=out >"scripts$where" || die "slurm.sh$where"
done
same scripts scriptscomma
grep -q -- '--time=176' scripts || die "$(grep -- --time scripts)"
comma mc-align -t 1 -d point/out/train.mcz point/out/net-{1,2}.mcz -o aligned.mcz
same aligned.mcz point/out/1-2/b-aligned.mcz

# the ratio of a side to itself
comma env PYTHON=false ROUNDS=1 SECS=.01 "$MC_ROOT/tests/bench/train.sh" mlp:8:4 2>err | tail -n 1 | grep -q '	1\.00$' ||
    die 'the benchmark does not read decimal points'

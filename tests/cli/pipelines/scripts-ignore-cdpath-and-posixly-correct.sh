# SPDX-License-Identifier: Apache-2.0
# CDPATH and POSIXLY_CORRECT in the user's environment change nothing in programs, scripts and graphs.
fixture pair
mkdir tree elsewhere
cp -r "$MC_ROOT/pipelines" tree
ln -s "$MC_BUILD" tree/build
bare() { env -i HOME=/ PATH=/usr/bin:/bin CDPATH="$PWD/../elsewhere:." POSIXLY_CORRECT=1 "$@"; }
POSIXLY_CORRECT=1 mc-data synth --samples 10 -o options-after-operands.mcz
cd tree
pipelines/align.sh -d ../data.mcz ../a.mcz ../b.mcz -o ../expected.mcz
bare pipelines/align.sh -d ../data.mcz ../a.mcz ../b.mcz -o ../aligned.mcz
same ../expected.mcz ../aligned.mcz
make=(make --no-print-directory -f pipelines/connect.mk TRAIN_IMAGES=64 TEST_IMAGES=16 NET=mlp:4 THREADS=1 EPOCHS=1 POINTS=3)
for f in '' bare; do $f "${make[@]}" OUT="../out$f" >../log 2>&1 || die "$(cat ../log)"; done
same ../out/1-2/table.tsv ../outbare/1-2/table.tsv
for out in out outbare; do $([ $out = out ] || echo bare) pipelines/tables.sh -f tsv accuracy ../$out >../$out.tsv; done
same ../out.tsv ../outbare.tsv

# SPDX-License-Identifier: Apache-2.0
# The goals net-SEED and pair make only their own results. Makes of different goals can run at once in one OUT, two of
# the same cannot. Then only the results of all pairs remain to be made. RUN_LIGHT runs the short jobs.
pairs="1:2 3:4 1:3"
: >errors
stub_plot
mc() { make V=1 MESSAGES=-q --no-print-directory -f "$MC_ROOT/pipelines/connect.mk" BIN="$bin" DATA=synth NET=mlp:bn,16 TRAIN_IMAGES=512 TEST_IMAGES=100 \
    LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 THREADS=1 OUT=out "$@" 2>>errors; }

# required files must exist; they are not made
! mc PAIRS=1:2 pair >log || die 'a pair without networks'
expect_words errors 'out/*.mcz*missing*make shared'
! mc PAIRS="$pairs" net-3 >log || die 'a network without data'
expect_equal "$(find out -name '*.mcz')" ''

: >errors
mc PAIRS="$pairs" out/train.mcz out/test.mcz >log
for s in 1 2 3 4; do
    mc PAIRS="$pairs" net-$s >log-$s &
done
wait
[ ! -s errors ] || die "$(cat errors)"
expect_equal "$(cd out && echo net-*.mcz)" 'net-1.mcz net-2.mcz net-3.mcz net-4.mcz'
files() { (cd out && find . -type f ! -path "./$1/*" ! -path '*/.*' -printf '%p %T@\n' | sort); }
for p in $pairs; do
    of=${p:0:1}-${p:2:1}
    before=$(files $of)
    mc PAIRS=$p pair >log
    expect_equal "$(files $of)" "$before"
    [ -e out/$of/table.tsv ] && [ -e out/$of/path.svg ] || die "$of has no results"
done
mc PAIRS="$pairs" >log
! grep -E '^mc-(data|train|acts|bezier|eval)' log || die "$(cat log)"
[ -e out/table.tsv ] || die 'no table of all pairs'
graph connect PAIRS="$pairs" OUT=whole
diff -r -x '.lock*' -x '*.log.json' out whole

# pairs at once, which share the files of settings
for p in $pairs; do mc PAIRS=$p POINTS=5 pair >log-$p & done
for p in $pairs; do wait -n || die "$(cat errors)"; done
for p in $pairs; do [ "$(wc -l <out/${p/:/-}/curve-aligned.tsv)" = 6 ] || die "$p has other points"; done

# two of the same pair, and one of all pairs next to one of a single pair
cat >bin <<'SH'
#!/bin/bash
touch started
while [ ! -e go ]; do sleep .05; done
exec "$@"
SH
chmod +x bin
rm -r out/1-2 out/3-4
mc PAIRS=1:2 RUN="$PWD/bin" RUN_LIGHT= pair >one &
for ((i = 0; i < 600; i++)); do [ ! -e started ] || break; sleep .05; done
! mc PAIRS=1:2 pair >two || die 'two at a pair'
! mc PAIRS="$pairs" >two || die 'one at all, one at a pair'
[ "$(grep -c 'in use by ' errors)" = 2 ] || die "$(cat errors)"
mc PAIRS=3:4 pair >two || die 'another pair had to wait'
touch go
wait
[ -e out/1-2/table.tsv ] || die "$(cat one errors)"
# which jobs need a node, and which do not
graph connect -n RUN=NODE RUN_LIGHT=HERE OUT=new
for p in data train acts; do grep -q "^NODE mc-$p" log || die "no node for mc-$p"; done
for p in corr hungarian permute plot; do grep -q "^HERE mc-$p" log || die "a node for mc-$p"; done
! grep -E '^mc-' log || die 'a job that RUN does not run'
graph connect -n RUN=NODE OUT=new
! grep -E '^mc-' log || die 'a job that RUN does not run'

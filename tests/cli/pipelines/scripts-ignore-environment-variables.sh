# SPDX-License-Identifier: Apache-2.0
# Scripts and experiments write and print the same with any variables that the user's shell exports.
mkdir 'with space' home
echo 'echo noise >&2' >start
echo 'mine:' >mine.mk
stub_plot
stubs=$bin

# all FOLDER VARIABLE=VALUE...: runs every script and an experiment, with all files and output in FOLDER
all() {
    local folder=$1 set=("${@:2}") bin=$MC_BUILD/bin
    mkdir made
    cd made
    run() {
        local name=$1
        shift
        env "${set[@]}" "$@" >"$name.txt" 2>"$name.err" </dev/null || die "${set[*]}: ${*##*/}: $(cat "$name.txt" "$name.err")"
        rm "$name.err"
    }
    # by a relative path, which cd would search in CDPATH
    ln -s "$MC_ROOT/pipelines" "$MC_BUILD" .
    run graph make -f pipelines/connect.mk BIN="$stubs" DATA=synth NET=mlp:bn,8 TRAIN_IMAGES=64 TEST_IMAGES=20 EPOCHS=1 \
        CURVE_EPOCHS=1 LR=.02 POINTS=3 THREADS=1 OUT=out
    run paper make -f pipelines/paper/paper.mk -n BIN="$bin" PART=tinyten-cifar10 CIFAR10_DIR=. SCALE=.1 OUT=paper
    run align "$bin/mc-align" -t 1 -d out/train.mcz out/net-1.mcz out/net-2.mcz -o aligned.mcz
    same aligned.mcz out/1-2/b-aligned.mcz
    run tables pipelines/paper/pages.py tables -f latex accuracy out
    echo 'epochs=1 curve_epochs=1 permutation_epochs=20 points=3 pam=default train_images=64' >out/length
    run keep pipelines/paper/publish keep out kept
    run verdicts pipelines/paper/compare.py cells -f tsv "$MC_ROOT/pipelines/paper/published"
    run man pipelines/setup/man.sh "$bin/mc-info"
    run slurm pipelines/cluster/slurm.sh -n connect.mk BIN="$bin" DATA=synth NET=tinyten RATES=tinyten=500:1500 PAIRS=1:2 OUT=out
    run gpus pipelines/cluster/gpus.sh 0 echo 'done'
    run packages pipelines/setup/install-packages.sh --help
    run fetch pipelines/setup/fetch.sh -h
    run layers "$MC_ROOT/tests/layers.sh" "$MC_ROOT"
    run tests env -u MC_UNDER ONLY=suite/operations-are-only "$MC_ROOT/tests/run" "${MC_BUILD##*/}" cli
    run plot mc-plot path -o plot.svg out/1-2/curve-aligned.tsv
    rm -rf {out,kept}/*.log.json {out,kept}/*/*.log.json out/.[a-z]* out/*/.[a-z]* # logs contain speeds
    rm graph.txt # make -s prints nothing; make -j prints in any order
    cd ..
    mv made "$folder"
}
all expected UNRELATED=1
all got CDPATH=. GREP_OPTIONS=-v IFS=/ BASH_ENV="$PWD/start" MAKEFLAGS=-skj2 MAKEFILES="$PWD/mine.mk" GNUTERM=dumb HOME="$PWD/home" \
    TMPDIR="$PWD/with space"
all posix POSIXLY_CORRECT=1 ENV="$PWD/start" # bash ignores BASH_ENV then
for folder in got posix; do diff -r expected $folder >differ || die "$folder: $(head -n 20 differ)"; done

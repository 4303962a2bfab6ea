# SPDX-License-Identifier: Apache-2.0
# bash completes everything that --help lists: options, an option's words, first words, and files of the right kind.
set -eu
. "$MC_ROOT/pipelines/setup/completion.bash"

typed() { # WORD...: prints the completions of the last one
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _mc_complete "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"
}
expect_equal() {
    [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; exit 1; }
}

mkdir folder
touch table.tsv weights.mcz net.json foreign.npz foreign.safetensors rules.map notes.txt
expect_equal "$(typed mc-plot --form)" "--format="
expect_equal "$(typed mc-plot --he)" "--help"
expect_equal "$(typed mc-plot path --s)" "--size="
expect_equal "$(typed mc-plot --format = pn)" "png"
expect_equal "$(typed mc-plot --format '')" "svg png pdf"
expect_equal "$(typed mc-train --precision '')" "f32 tf32 bf16 f16"
expect_equal "$(typed mc-plot -o ta)" "table.tsv"
expect_equal "$(typed mc-plot --output = ta)" "table.tsv"
expect_equal "$(typed mc-plot pa)" "path"
expect_equal "$(typed mc-plot '')" "path signature log plane"
expect_equal "$(typed mc-plot path ta)" "table.tsv"
expect_equal "$(typed mc-plot --quiet path ta)" "table.tsv"
expect_equal "$(typed mc-plot --nothing-like)" ""
# networks and the words of every option that has some
expect_equal "$(typed mc-train --net resnet)" "resnet20 resnet32 resnet44 resnet56 resnet110 resnet"
expect_equal "$(typed mc-train -n '')" "tinyten resnet20 resnet32 resnet44 resnet56 resnet110 resnet googlenet vgg mlp folder net.json"
expect_equal "$(typed mc-train --net = goo)" "googlenet"
expect_equal "$(typed mc-eval --bn '')" "reestimate average"
expect_equal "$(typed mc-train --schedule '')" "step linear cosine onecycle"
expect_equal "$(typed mc-train --attack '')" "pgd"
expect_equal "$(typed mc-train --device c)" "cpu cuda"
expect_equal "$(typed mc-data --split '')" "train test"
expect_equal "$(typed mc-train --lr '')" ""
expect_equal "$(typed mc-pgd --target '')" ""
# files of the right kind; any file if there is none of that kind
expect_equal "$(typed mc-train --data '')" "folder weights.mcz"
expect_equal "$(typed mc-eval --summary '')" "folder table.tsv"
expect_equal "$(typed mc-eval --line '')" "folder weights.mcz"
expect_equal "$(typed mc-eval --data no)" "notes.txt"
expect_equal "$(typed mc-convert '')" "folder foreign.npz foreign.safetensors weights.mcz"
expect_equal "$(typed mc-convert --map '')" "folder rules.map"
expect_equal "$(typed mc-data cifar10 '')" "folder"
expect_equal "$(typed mc-data npz '')" "folder foreign.npz"
expect_equal "$(typed mc-data synth '')" ""
expect_equal "$(typed mc-data t)" "tiny-imagenet"
expect_equal "$(typed mc-plot plane '')" "folder table.tsv"
expect_equal "$(typed mc-train '')" ""
for option in -o --output= -h --help --version; do
    case " $(typed mc-plot -) " in *" $option "*) ;; *) echo "no $option"; exit 1 ;; esac
done

# every program has completion
for p in "$MC_BUILD"/bin/mc-*; do
    complete -p "${p##*/}" >/dev/null || { echo "${p##*/} is not completed"; exit 1; }
done

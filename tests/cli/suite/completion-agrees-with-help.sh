# SPDX-License-Identifier: Apache-2.0
# bash completes everything that --help lists: options, an option's words, first words, and files of the right kind.
set -eu
. "$MC_ROOT/pipelines/setup/completion.bash"

completions() { # WORD...: prints the completions of the last one
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _mc_complete "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"
}
expect_equal() {
    [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; exit 1; }
}

mkdir folder
touch table.tsv weights.mcz net.json foreign.npz foreign.safetensors rules.map notes.txt
expect_equal "$(completions mc-plot --form)" "--format="
expect_equal "$(completions mc-plot --he)" "--help"
expect_equal "$(completions mc-plot path --si)" "--size="
expect_equal "$(completions mc-plot --format = pn)" "png"
expect_equal "$(completions mc-plot --format '')" "svg png pdf"
expect_equal "$(completions mc-train --precision '')" "f32 tf32 bf16 f16"
expect_equal "$(completions mc-plot -o ta)" "table.tsv"
expect_equal "$(completions mc-plot --output = ta)" "table.tsv"
expect_equal "$(completions mc-plot pa)" "path"
expect_equal "$(completions mc-plot '')" "path signature log dots plane"
expect_equal "$(completions mc-plot path ta)" "table.tsv"
expect_equal "$(completions mc-plot --quiet path ta)" "table.tsv"
expect_equal "$(completions mc-plot --nothing-like)" ""
# networks and the words of every option that has some
expect_equal "$(completions mc-train --net resnet)" "resnet20 resnet32 resnet32-dropout resnet44 resnet56 resnet110 resnet"
expect_equal "$(completions mc-train -n '')" "tinyten tinyten-dropout resnet20 resnet32 resnet32-dropout resnet44 resnet56 resnet110 resnet googlenet vgg mlp folder net.json"
expect_equal "$(completions mc-train --net = goo)" "googlenet"
expect_equal "$(completions mc-eval --bn '')" "reestimate average"
expect_equal "$(completions mc-train --schedule '')" "step linear cosine onecycle"
expect_equal "$(completions mc-train --attack '')" "pgd"
expect_equal "$(completions mc-train --device c)" "cpu cuda"
expect_equal "$(completions mc-data --split '')" "train test"
expect_equal "$(completions mc-train --lr '')" ""
expect_equal "$(completions mc-pgd --target '')" ""
# files of the right kind; any file if there is none of that kind
expect_equal "$(completions mc-train --data '')" "folder weights.mcz"
expect_equal "$(completions mc-eval --summary '')" "folder table.tsv"
expect_equal "$(completions mc-eval --line '')" "folder table.tsv weights.mcz" # --compare reads tables
expect_equal "$(completions mc-eval --data no)" "notes.txt"
expect_equal "$(completions mc-convert '')" "folder foreign.npz foreign.safetensors net.json weights.mcz"
expect_equal "$(completions mc-convert --map '')" "folder rules.map"
expect_equal "$(completions mc-data cifar10 '')" "folder"
expect_equal "$(completions mc-data npz '')" "folder foreign.npz"
expect_equal "$(completions mc-data synth '')" ""
expect_equal "$(completions mc-data t)" "tiny-imagenet"
expect_equal "$(completions mc-plot plane '')" "folder table.tsv"
expect_equal "$(completions mc-train '')" ""
for option in -o --output= -h --help --version; do
    case " $(completions mc-plot -) " in *" $option "*) ;; *) echo "no $option"; exit 1 ;; esac
done

# every program has completion
for p in "$MC_BUILD"/bin/mc-*; do
    complete -p "${p##*/}" >/dev/null || { echo "${p##*/} is not completed"; exit 1; }
done

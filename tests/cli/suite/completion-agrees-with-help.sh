# SPDX-License-Identifier: Apache-2.0
# bash completes the options, choices, first words and files that --help lists.
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

touch table.tsv
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
for option in -o --output= -h --help --version; do
    case " $(typed mc-plot -) " in *" $option "*) ;; *) echo "no $option"; exit 1 ;; esac
done

# every program has completion
for p in "$MC_BUILD"/bin/mc-*; do
    complete -p "${p##*/}" >/dev/null || { echo "${p##*/} is not completed"; exit 1; }
done

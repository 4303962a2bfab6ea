# SPDX-License-Identifier: Apache-2.0
# bash completes what --help lists: options, an option's choices, a program's first words, files.
set -eu
. "$MC_ROOT/pipelines/setup/completion.bash"

typed() { # the words typed so far, the last one unfinished
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _mc_complete "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"
}
is() {
    [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; exit 1; }
}

touch table.tsv
is "$(typed mc-plot --form)" "--format="
is "$(typed mc-plot --he)" "--help"
is "$(typed mc-plot path --s)" "--size="
is "$(typed mc-plot --format = pn)" "png"
is "$(typed mc-plot --format '')" "svg png pdf"
is "$(typed mc-train --precision '')" "f32 tf32 bf16 f16"
is "$(typed mc-plot -o ta)" "table.tsv"
is "$(typed mc-plot --output = ta)" "table.tsv"
is "$(typed mc-plot pa)" "path"
is "$(typed mc-plot '')" "path signature log plane"
is "$(typed mc-plot path ta)" "table.tsv"
is "$(typed mc-plot --quiet path ta)" "table.tsv"
is "$(typed mc-plot --nothing-like)" ""
for option in -o --output= -h --help --version; do
    case " $(typed mc-plot -) " in *" $option "*) ;; *) echo "no $option"; exit 1 ;; esac
done

# every program is completed
for p in "$MC_BUILD"/bin/mc-*; do
    complete -p "${p##*/}" >/dev/null || { echo "${p##*/} is not completed"; exit 1; }
done

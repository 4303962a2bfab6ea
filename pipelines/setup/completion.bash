# SPDX-License-Identifier: Apache-2.0
#
# Completion for every program of the suite: what a program's own --help lists is completed, its options
# (and the choices of an option that names them a|b), and its first words where it has such; else files.

_mc_complete() {
    local program=$1 word=$2 previous=$3 help choices
    local -a found
    COMPREPLY=()
    help=$("$program" --help 2>/dev/null) || return

    # --format=svg|png: bash hands over "--format" "=" "sv"; --format sv comes as it is
    [ "$previous" = = ] && [ "$COMP_CWORD" -ge 2 ] && previous=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$word" = = ] && word=
    if [[ $previous == -* ]]; then
        choices=$(awk -v option="$previous" '
            { for (i = 1; i <= 2 && $i ~ /^-/; i++) {
                  split($i, part, "="); sub(/,$/, "", part[1]); gsub(/\[[^]]*\]/, "", part[2])
                  if (part[1] == option) argument = 1
                  if (part[1] == option || i == 2 && argument) value = part[2]
              }
              if (argument) { print value ~ /[|]/ ? value : value == "" ? "" : "file"; exit } }' <<<"$help")
        case $choices in
        *'|'*)
            mapfile -t COMPREPLY < <(compgen -W "${choices//|/ }" -- "$word")
            return
            ;;
        file)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames 2>/dev/null
            return
            ;;
        esac
    fi

    if [[ $word == -* ]]; then
        mapfile -t found < <(grep -oE '^ +(-[a-zA-Z], )?(--[a-z][a-z0-9-]*=?)?' <<<"$help" |
            grep -oE -- '--[a-z][a-z0-9-]*=?|-[a-zA-Z]\b')
        mapfile -t COMPREPLY < <(compgen -W "${found[*]}" -- "$word")
        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
        return
    fi
    # first words: "Usage: mc-plot [OPTION...] path TABLE..."
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t found < <(sed -nE 's/^(Usage:|  or:).*\[OPTION\.\.\.\] ([a-z][a-z0-9-]*)( .*|$)/\2/p' <<<"$help")
        mapfile -t COMPREPLY < <(compgen -W "${found[*]}" -- "$word")
        [ ${#COMPREPLY[@]} -eq 0 ] || return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
}

complete -F _mc_complete mc-acts mc-bezier mc-bootstrap mc-bound mc-convert mc-corr mc-data mc-eval mc-hungarian mc-info \
    mc-match mc-pam mc-permute mc-pgd mc-plot mc-train

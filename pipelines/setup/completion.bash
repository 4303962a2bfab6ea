# SPDX-License-Identifier: Apache-2.0
#
# Bash completion for all programs, derived from their --help: options, the words and files that an option
# accepts, first words (mc-plot path), and operands. Placeholders in --help decide: A|b offers b, FILE.mcz offers
# *.mcz, FILE any file, DIR directories, N nothing. "one of: a, b;" in an option's text offers a and b.

# _mc_files WORD PATTERN...: completes files like FILE.mcz or FILE, directories for DIR. If no file has the
# extension, any file is offered.
_mc_files() {
    local word=$1 pattern
    local -a files=()
    shift
    for pattern in "$@"; do
        case $pattern in
        *.*) mapfile -t -O ${#files[@]} files < <(compgen -f -X "!*.${pattern##*.}" -- "$word") ;;
        FILE | LOG | IMAGES | LABELS) mapfile -t -O ${#files[@]} files < <(compgen -f -- "$word") ;;
        esac
    done
    case $#-${#files[@]}-" $* " in
    0-*) ;;
    *' DIR '* | *-[1-9]*-*) mapfile -t -O ${#files[@]} files < <(compgen -d -- "$word") ;;
    *) mapfile -t files < <(compgen -f -- "$word") ;;
    esac
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(printf '%s\n' "${files[@]}" | sed '/^$/d' | sort -u)
    compopt -o filenames 2>/dev/null
}

# _mc_patterns: the placeholders of files in the text on standard input
_mc_patterns() {
    grep -oE '\b[A-Z][A-Z_]*\.[a-z]+|\b(FILE|DIR|LOG|IMAGES|LABELS)\b' | sort -u
}

# _mc_option_value HELP OPTION: "VALUE TEXT" of an option with a value, in one line
_mc_option_value() {
    awk -v option="$2" '
        /^ +(-[a-zA-Z], )?--[a-z]/ {
            if (found) exit
            name = $1 ~ /^--/ ? $1 : $2; value = name
            sub(/=.*/, "", name); sub(/^[^=]*=?/, "", value)
            found = (option == name || option "," == $1) && value != ""
            sub(/^ *(-[a-zA-Z], )?--[^ ]*/, "")
            if (found) printf "%s", value
        }
        found && /^$/ { exit }
        found { sub(/^ +/, ""); printf " %s", $0 }' <<<"$1"
}

_mc_complete() {
    local program=$1 word=$2 previous=$3 help value text first="" uses
    local -a found patterns
    COMPREPLY=()
    help=$("$program" --help 2>/dev/null) || return

    # --format=svg: bash passes "--format" "=" "sv"; --format sv arrives unchanged
    [ "$previous" = = ] && [ "$COMP_CWORD" -ge 2 ] && previous=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$word" = = ] && word=
    if [[ $previous == -* ]]; then
        text=$(_mc_option_value "$help" "$previous")
        value=${text%% *}
        if [ -n "$value" ]; then
            text=$(sed -nE 's/.*one of: ([^;]*);.*/\1/p' <<<"$text")
            mapfile -t found < <(tr '| ,' '\n' <<<"$(sed -E ':a; s/\[[^][]*\]//g; ta' <<<"$value|$text")" |
                grep -v '[A-Z/:]\|^$')
            mapfile -t COMPREPLY < <(compgen -W "${found[*]}" -- "$word")
            mapfile -t patterns < <(_mc_patterns <<<"$value")
            [ ${#patterns[@]} -eq 0 ] || _mc_files "$word" "${patterns[@]}"
            return
        fi
    fi

    if [[ $word == -* ]]; then
        mapfile -t found < <(grep -oE '^ +(-[a-zA-Z], )?(--[a-z][a-z0-9-]*=?)?' <<<"$help" |
            grep -oE -- '--[a-z][a-z0-9-]*=?|-[a-zA-Z]\b')
        mapfile -t COMPREPLY < <(compgen -W "${found[*]}" -- "$word")
        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
        return
    fi
    # "Usage: mc-plot [OPTION...] path TABLE.tsv...": a first word, or the operands of the one that was typed
    uses=$(sed -nE 's/^(Usage:|  or:).*\[OPTION\.\.\.\] //p' <<<"$help")
    mapfile -t found < <(sed -nE 's/^([a-z][a-z0-9-]*)( .*|$)/\1/p' <<<"$uses" | uniq)
    for first in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ " ${found[*]} " != *" $first "* ]] || break
        first=
    done
    if [ ${#found[@]} -gt 0 ] && [ -z "$first" ]; then
        mapfile -t COMPREPLY < <(compgen -W "${found[*]}" -- "$word")
        return
    fi
    [ ${#found[@]} -eq 0 ] || uses=$(grep -E "^$first( |\$)" <<<"$uses")
    mapfile -t patterns < <(_mc_patterns <<<"$uses")
    [ ${#patterns[@]} -eq 0 ] || _mc_files "$word" "${patterns[@]}"
}

complete -F _mc_complete mc-acts mc-align mc-bezier mc-bootstrap mc-bound mc-convert mc-corr mc-data mc-eval mc-hungarian mc-info \
    mc-match mc-merge mc-pam mc-permute mc-pgd mc-plot mc-procrustes mc-repair mc-train

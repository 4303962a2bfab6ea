#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A part of the paper as it is published, and back; see the usage below. paper.mk calls it.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: published.sh keep PART FOLDER
       published.sh tables PART FOLDER
       published.sh make FOLDER PART
Keep of a part that paper.mk made what its tables can be measured from again, or the tables alone; or make those files
again.

FOLDER has net-S.mcz with the ends of their logs, the tables (*.tsv), `scale` and `length`; in A-B/ permutation.mcz
and of each curve-V.mcz the control point, inner-V.mcz, a third as large, and the pair's tables, such as what was
measured along it and along the straight line, curve-V.tsv and line-V.tsv. A curve of PAM has permutation-pam-V.mcz
beside it. The settings that made them are there too. What is there already is made anew. Only pairs with all of both
curves are kept. With `tables` FOLDER has the tables, of all pairs and of each, `scale` and `length` alone.
A PART without `length` is refused.

Of the tables that are there, `paper.mk reevaluate` measures again: table.tsv, or pam.tsv where all pairs have both
curves of PAM, pointwise.tsv, signature.tsv, middle.tsv, subsets.tsv, averaged.tsv, intervals.tsv; of robust parts
clean.tsv, robust.tsv, midpoint.tsv and, with the same STRONG_ATTACK, strong.tsv. It cannot measure what comes of the
curves' logs, which are not kept (training.tsv, saved.tsv, objective.tsv), nor other curves than these (measures.tsv,
grid.tsv, figures- and grid- parts).

Exit status: 0 done, 1 failed, 2 usage; of the programs: their own.
END
}

# to a file that is there whole or not at all
whole() {
    local to=$1
    shift
    "$@" -o "$to.part"
    mv "$to.part" "$to"
}
copy() {
    cp "$1" "$2.part"
    mv "$2.part" "$2"
}

refuse() {
    echo "published.sh: $1" >&2
    exit 1
}

# the tables in one folder, and last the file `length`, which says what all of them were made with
tables_in() {
    local part=$1 folder=$2 f
    mkdir -p "$folder"
    rm -f "$folder/length"
    for f in "$part"/*.tsv "$part"/{scale,length}; do [ ! -e "$f" ] || copy "$f" "$folder/${f##*/}"; done
}
pairs_of() {
    local pair
    for pair in "$1"/*-*/; do
        pair=$(basename "$pair")
        [[ ! $pair =~ ^[0-9]+-[0-9]+$ ]] || echo "$pair"
    done
}
has_length() {
    [ -e "$1/length" ] || refuse "$1: there is no file \`length\` in it: not all of its tables are made, or not by paper.mk"
}

tables() {
    local part=$1 folder=$2 pair
    has_length "$part"
    tables_in "$part" "$folder"
    for pair in $(pairs_of "$part"); do tables_in "$part/$pair" "$folder/$pair"; done
}

keep() {
    local part=$1 folder=$2 pair to f v whole_pairs=()
    for pair in $(pairs_of "$part"); do
        [ ! -e "$part/$pair/curve-unaligned.mcz" ] || [ ! -e "$part/$pair/curve-aligned.mcz" ] || whole_pairs+=("$pair")
    done
    [ ${#whole_pairs[@]} != 0 ] ||
        refuse "$part: there is no pair with both curves, A-B/curve-unaligned.mcz and A-B/curve-aligned.mcz"
    has_length "$part"
    tables_in "$part" "$folder"
    for pair in "${whole_pairs[@]}"; do
        to=$folder/$pair
        tables_in "$part/$pair" "$to"
        for f in net-"${pair%-*}" net-"${pair#*-}"; do
            copy "$part/$f.mcz" "$folder/$f.mcz"
            [ ! -e "$part/$f.mcz.settings" ] || copy "$part/$f.mcz.settings" "$folder/$f.mcz.settings"
            { head -n 1 "$part/$f.log.json" && tail -n 3 "$part/$f.log.json"; } >"$folder/$f.log.json"
        done
        copy "$part/$pair/permutation.mcz" "$to/permutation.mcz"
        for v in unaligned aligned; do whole "$to/inner-$v.mcz" mc-bezier --inner "$part/$pair/curve-$v.mcz"; done
        for v in pam-unaligned pam-aligned; do
            f=$part/$pair/curve-$v.mcz
            [ -e "$f" ] || continue
            whole "$to/inner-$v.mcz" mc-bezier --inner "$f"
            mc-permute --perm-out "$to/permutation-$v.mcz.part" "$f" "$part/net-${pair#*-}.mcz" -o /dev/null
            mv "$to/permutation-$v.mcz.part" "$to/permutation-$v.mcz"
        done
        for f in "$part/$pair"/{moments,matrices,permutation,curve-unaligned,curve-aligned,curve-pam-*}.mcz.settings \
            "$part/$pair"/{line,curve}-*aligned.tsv.settings; do
            [ ! -e "$f" ] || copy "$f" "$to/${f##*/}"
        done
    done
}

make() {
    local folder=$1 part=$2 pair to f b v perm
    compgen -G "$(printf %q "$folder")/*-*/*.mcz" >/dev/null || refuse "$folder: there is no pair with curves in it, A-B/inner-V.mcz"
    tables_in "$folder" "$part"
    for f in "$folder"/net-*.mcz{,.settings}; do [ ! -e "$f" ] || copy "$f" "$part/${f##*/}"; done
    for pair in $(pairs_of "$folder"); do
        to=$part/$pair
        mkdir -p "$to"
        for f in "$folder/$pair"/{permutation,curve-*}.mcz "$folder/$pair"/*.mcz.settings; do [ ! -e "$f" ] || copy "$f" "$to/${f##*/}"; done
        for f in "$folder/$pair"/inner-*.mcz; do
            v=${f##*/inner-} v=${v%.mcz} b=$folder/net-${pair#*-}.mcz perm=()
            case $v in
            aligned)
                whole "$to/b-aligned.mcz" mc-permute "$folder/$pair/permutation.mcz" "$b"
                b=$to/b-aligned.mcz
                ;;
            unaligned) ;;
            pam-aligned | pam-unaligned)
                perm=(--perm "$folder/$pair/permutation-$v.mcz")
                [ -e "${perm[1]}" ] || continue
                ;;
            *) continue ;;
            esac
            whole "$to/curve-$v.mcz" mc-bezier -q --epochs 0 --start "$f" "${perm[@]}" "$folder/net-${pair%-*}.mcz" "$b"
        done
    done
}

case $#-${1:-} in
3-keep | 3-tables | 3-make)
    # a name that begins with a dash would be an option
    what=$1
    shift
    for folder; do
        shift
        case $folder in -*) folder=./$folder ;; esac
        set -- "$@" "$folder"
    done
    "$what" "$@"
    ;;
1--h | 1---help) usage ;;
*)
    echo 'published.sh: keep PART FOLDER, tables PART FOLDER or make FOLDER PART is wanted (see published.sh -h)' >&2
    exit 2
    ;;
esac

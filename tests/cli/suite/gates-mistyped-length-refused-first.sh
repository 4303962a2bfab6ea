# SPDX-License-Identifier: Apache-2.0
# A gate's mistyped length is told before anything is built for it.
refused() { # TEXT GOAL SETTING
    ! make -C "$MC_ROOT" --no-print-directory "$2" "$3" BUILD="$TMP/none" >log 2>told || die "$3 passes"
    is "$(head -n 1 told)" "$1"
    is "$(wc -l <told) $(cat log)" '2 '
}
for value in x 1h -1 1.5.2 ''; do refused "TORTURE_MINUTES=\"$value\": a number is wanted" torture "TORTURE_MINUTES=$value"; done
for value in x .5 0 ''; do refused "FUZZ_SECONDS=\"$value\": a whole number is wanted" fuzz "FUZZ_SECONDS=$value"; done
[ ! -e "$TMP/none" ] || die "$(ls "$TMP/none")"

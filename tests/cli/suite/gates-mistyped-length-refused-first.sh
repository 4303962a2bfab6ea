# SPDX-License-Identifier: Apache-2.0
# A gate refuses a mistyped length before it builds anything.
refuses() { # WORDS GOAL SETTING
    ! make -C "$MC_ROOT" --no-print-directory "$2" "$3" BUILD="$TMP/none" >log 2>errors || die "$3 passes"
    head -n 1 errors | has_words - "$1" || die "$3: $(cat errors)"
    expect_equal "$(wc -l <errors) $(cat log)" '2 '
}
for value in x 1h -1 1.5.2 ''; do refuses "TORTURE_MINUTES*number (got \"$value\")" torture "TORTURE_MINUTES=$value"; done
for value in x .5 0 ''; do refuses "FUZZ_SECONDS*whole number (got \"$value\")" fuzz "FUZZ_SECONDS=$value"; done
[ ! -e "$TMP/none" ] || die "$(ls "$TMP/none")"

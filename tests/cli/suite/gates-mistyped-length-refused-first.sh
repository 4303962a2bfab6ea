# SPDX-License-Identifier: Apache-2.0
# A gate refuses a mistyped length before it builds anything.
refuses() { # TEXT GOAL SETTING
    ! make -C "$MC_ROOT" --no-print-directory "$2" "$3" BUILD="$TMP/none" >log 2>errors || die "$3 passes"
    expect_equal "$(head -n 1 errors)" "$1"
    expect_equal "$(wc -l <errors) $(cat log)" '2 '
}
for value in x 1h -1 1.5.2 ''; do refuses "TORTURE_MINUTES must be a number (got \"$value\")" torture "TORTURE_MINUTES=$value"; done
for value in x .5 0 ''; do refuses "FUZZ_SECONDS must be a whole number (got \"$value\")" fuzz "FUZZ_SECONDS=$value"; done
[ ! -e "$TMP/none" ] || die "$(ls "$TMP/none")"

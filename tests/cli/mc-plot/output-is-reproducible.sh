# SPDX-License-Identifier: Apache-2.0
# mc-plot writes the same bytes at any time, in any locale, and with any folders for settings and temporary files, which may be
# read-only or missing. It leaves no file in them, also if a closed pipe ends it.
fixture tables

# draw FORMAT [SETTING...]: the program itself, because valgrind needs a folder for temporary files
draw() { env "${@:2}" "$MC_BUILD/bin/mc-plot" path line.tsv stdin=- --title 'θ (½)' --format "$1" <curve.tsv; }
for format in svg png pdf; do draw $format >one.$format; done
mkdir home temporary locales
localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8
other=(HOME="$PWD/home" MPLCONFIGDIR="$PWD/home/settings" TMPDIR="$PWD/temporary" TZ=Asia/Tokyo LOCPATH="$PWD/locales"
    LC_ALL=de_DE.UTF-8 MPLBACKEND=TkAgg)
for format in svg png pdf; do draw $format "${other[@]}" | same one.$format -; done
unchanged() { # SETTING...: the same bytes, no message and no files
    draw svg "$@" >two.svg 2>errors || die "$*: $(<errors)"
    same one.svg two.svg
    expect_equal "$*: $(cat errors; ls -A temporary)" "$*: "
}
: >file # cannot contain a folder
unchanged LC_ALL=C
unchanged -u HOME TMPDIR="$PWD/temporary"
unchanged HOME="$PWD/file" TMPDIR="$PWD/temporary"
unchanged HOME=/proc TMPDIR="$PWD/temporary"
unchanged HOME="$PWD/file" TMPDIR=/nowhere
unchanged HOME="$PWD/home" MPLCONFIGDIR=/proc/settings TMPDIR=/proc
draw svg HOME=/proc TMPDIR="$PWD/temporary" | true
expect_equal "${PIPESTATUS[0]} $(ls -A temporary)" '141 '
no_temporaries

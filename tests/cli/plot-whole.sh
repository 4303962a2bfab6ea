# SPDX-License-Identifier: Apache-2.0
# mc-plot replaces a picture by a whole one or not at all, wherever gnuplot's broke off; no folder for temporary files
# and no setting of the user's matters; and any bytes may be a label.
. "$MC_ROOT/tests/cli/lib.bash"
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n.5\t2\t40\n1\t1\t50\n' >a.tsv
for format in svg png pdf; do
    mc-plot path a.tsv --size 400x300 -o whole.$format
done

# a gnuplot that ends well, whatever came of the picture
mkdir bin
printf '#!/bin/sh\ncat >/dev/null\ncat "$PICTURE"\n' >bin/gnuplot
chmod +x bin/gnuplot
export PICTURE="$PWD/broken"
refused() { # FORMAT: what lies in broken
    echo old >x.$1
    fails 1 "gnuplot drew" env PATH="$PWD/bin:$PATH" mc-plot path a.tsv -o x.$1
    [ "$(cat x.$1)" = old ] || die "replaced x.$1 by $(head -c 100 x.$1)"
}
for format in svg png pdf; do
    size=$(wc -c <whole.$format)
    # newlines at the end are no part of the picture
    for bytes in 0 1 7 100 $((size / 3)) $((size / 2)) 4096 $((size - 50)) $((size - 12)) $((size - 3)); do
        head -c $bytes whole.$format >broken
        refused $format
    done
    cp whole.$format broken
    PATH="$PWD/bin:$PATH" mc-plot path a.tsv -o x.$format
    same x.$format whole.$format
done
for damage in 's|</text>||' 's|</svg>|</svg><svg></svg>|' "s|height='|height=|" 's|loss|lo\&ss|' 's|loss|lo<ss|' \
    's|loss|lo\xffss|' 's|loss|lo\x1bss|' 's|<svg|<gvs|' '$s|$|more|' 's|loss|]]>|'; do
    LC_ALL=C sed "$damage" whole.svg >broken
    ! cmp -s broken whole.svg || die "$damage: changes nothing"
    refused svg
done
{ head -c 5000 whole.png; printf 'xx'; tail -c +5003 whole.png; } >broken
refused png
{ cat whole.png; echo more; } >broken
refused png
{ cat whole.pdf; echo more; } >broken
refused pdf
sed 's/^startxref$/startxref\n1/' whole.pdf >broken
refused pdf

# nothing is written elsewhere, nor drawn elsewhere
mkdir home
for settings in TMPDIR=/nowhere TMPDIR=/proc "HOME=$PWD/home" GNUTERM=qt GNUTERM=dumb "GNUTERM=svg size 9,9"; do
    env "$settings" mc-plot path a.tsv --size 400x300 -o x.svg
    same x.svg whole.svg
done
for format in svg png pdf; do
    echo old >x.$format
    rc=0
    (ulimit -f 1 && mc-plot path a.tsv -o x.$format) 2>err || rc=$?
    [ "$rc $(cat x.$format)" = "1 old" ] || die "over the limit: status $rc, $(wc -c <x.$format) bytes"
done
no_temporaries

# labels, titles, names and layers: as they are, but for control characters and what is no character
printf '%s\n' "'" "''" "'a" "a'" "a''b" "'''" '"a"' '\' '\n' 'a\' '`date`' '@a' '$x' '%d %s %%' '&<>&amp;' '<!--' '{/b a}_2^3' \
    '</svg>' '#' ';' '!ls' 'θ₁ é' '/b' ' a ' 'x,y' >labels
printf 'x\ty\ttest.loss\ttest.accuracy\n0\t0\t1\t1\n1\t0\t2\t3\n0\t1\t2\t4\n1\t1\t1\t2\n' >plane.tsv
printf 'mark\tname\tx\ty\toff\nnetwork\ta\t0\t0\t0\nnetwork\tb\t1\t0\t0\nnetwork\tc\t0\t1\t0\n' >marks.tsv
# draw TEXT: as a title and a line's label; as a layer
draw() {
    mc-plot path "${1//[\/,]/_}=a.tsv" --title "$1" -o label.svg
    printf 'layer\tidentity\tpermuted\n%s\t.1\t.5\nlast\t.2\t.3\n' "${1//[$'\n\t']/ }" >sig.tsv
    mc-plot signature sig.tsv -o sig.svg
}
# texts TEXT... -- FILE...: well-formed, and each is among the texts of each
texts() {
    /usr/bin/python3 -c 'import sys, xml.etree.ElementTree as x
end = sys.argv.index("--")
for file in sys.argv[end + 1:]:
    all = ["".join(e.itertext()).strip() for e in x.parse(file).getroot().iter() if e.tag.endswith("}text")]
    missing = [t for t in sys.argv[1:end] if t.strip() not in all]
    if missing:
        sys.exit("%s: no %r in %r" % (file, missing, all))' "$@"
}
while IFS= read -r label; do
    draw "$label"
    texts "$label" -- label.svg sig.svg
    texts "${label//[\/,]/_}" -- label.svg
done <labels
mc-plot plane plane.tsv marks.tsv --names "'a,b''c,\\d%s" --title "'" -o plane.svg
texts "'" "'a" "b''c" '\d%s' "distance from 'a towards b''c" -- plane.svg
for label in $'a\tb' $'a\nb' $'a\eb' $'a\x7fb' $'a\u0085b'; do
    draw "$label"
    texts 'a b' -- label.svg sig.svg
done
for label in $'a\xffb' $'a\xef\xbf' $'a\xef\xbf\xbeb' $'\xed\xa0\x80b' $'\xc3'; do
    draw "$label"
    texts -- label.svg sig.svg
    grep -q $'\uFFFD' label.svg || die "no replacement for $(od -c <<<"$label")"
done
draw 'a]]>b]>'
texts $'a]]\u2060>b]\u2060>' -- label.svg sig.svg
for format in svg png pdf; do
    mc-plot path a.tsv --size 400x300 --title "$(cat labels && printf "%05000d'" 0)" -o label.$format
done
# a closed pipe ends it
set +o pipefail
timeout 60 mc-plot path a.tsv --format svg | true
[ "${PIPESTATUS[0]}" = 141 ] || die 'a closed pipe does not end it'

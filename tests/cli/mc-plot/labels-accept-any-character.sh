# SPDX-License-Identifier: Apache-2.0
# Labels, titles, names and layers may contain any bytes: mc-plot replaces only control characters and invalid UTF-8.
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n.5\t2\t40\n1\t1\t50\n' >a.tsv
printf '%s\n' "'" "''" "'a" "a'" "a''b" "'''" '"a"' '\' '\n' 'a\' '`date`' '@a' '$x' '%d %s %%' '&<>&amp;' '<!--' '{/b a}_2^3' \
    '</svg>' '#' ';' '!ls' 'θ₁ é' '/b' ' a ' 'x,y' >labels
printf 'x\ty\ttest.loss\ttest.accuracy\n0\t0\t1\t1\n1\t0\t2\t3\n0\t1\t2\t4\n1\t1\t1\t2\n' >plane.tsv
printf 'mark\tname\tx\ty\toff\nnetwork\ta\t0\t0\t0\nnetwork\tb\t1\t0\t0\nnetwork\tc\t0\t1\t0\n' >marks.tsv
# draw TEXT: draws it as a title and a line's label, and as a layer
draw() {
    mc-plot path "${1//[\/,]/_}=a.tsv" --title "$1" -o label.svg
    printf 'layer\tidentity\tpermuted\n%s\t.1\t.5\nlast\t.2\t.3\n' "${1//[$'\n\t']/ }" >sig.tsv
    mc-plot signature sig.tsv -o sig.svg
}
# texts TEXT... -- FILE...: each file is well-formed and contains each text
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

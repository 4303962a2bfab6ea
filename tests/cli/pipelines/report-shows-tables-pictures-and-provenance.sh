# SPDX-License-Identifier: Apache-2.0
# The goal report writes one self-contained page with every number of every table, to five digits, the pictures, permutations, content ids,
# and the command that repeats the run.
# holds_all FOLDER: the page has all of the folder's tables
holds_all() {
    py "$1" <<'END'
import glob, re
from page import Page
out = sys.argv[1]
page = Page(out + "/report.html")
cells = {word for cell in page.cells for word in [cell, *cell.split(" ± ")]}
for path in glob.glob(out + "/**/*.tsv", recursive=True):
    for line in open(path).read().splitlines()[1:]:
        long = [c for c in line.split("\t") if re.fullmatch(r"-?[0-9]*\.[0-9e-]+", c) and len(re.sub("[^0-9]", "", c)) > 5]
        assert set(line.split("\t")) - {*long} | {"%.5g" % float(c) for c in long} <= cells | {""}, (path, line)
pictures = {os.path.relpath(p, out) for p in glob.glob(out + "/**/*.svg", recursive=True)}
assert not any(re.fullmatch(r"[0-9]*\.[0-9]{7,}", c) for c in cells)
text = open(out + "/report.html").read()
assert "above: percentage of the inner points" in text and "lead: mean over the epochs" in text
assert {os.path.basename(p) for p in page.images} == {os.path.basename(p) for p in pictures}, page.images
for name in "net-1", "net-2", "1-2/permutation", "1-2/curve-aligned":
    assert mcz.read(f"{out}/{name}.mcz").id in cells, name
moved = mcz.read(out + "/1-2/permutation.mcz")
for name, size in ((g["name"], g["size"]) for g in moved.meta["groups"]):
    i = page.cells.index(name)
    found = str(sum(moved.tensors[name] != np.arange(size)))
    assert page.cells[i + 1:i + 3] == [str(size), found], page.cells[i:i + 3]
# the network has one group, so its mean is the signature's
matched = open(out + "/1-2/signature.tsv").read().splitlines()[1].split("\t")[5]
assert abs(float(page.cells[i + 4]) - float(matched)) < 1e-4, (page.cells[i + 4], matched)
open("command", "w").write(page.pre)
END
}
# again: the page's command makes nothing, and the same page
again() {
    cp "$1/report.html" before.html
    bash -eu command >log 2>errors || die "$(cat log errors)"
    expect_equal "$(count_programs)" ''
    same "$1/report.html" before.html
}
bin=$MC_BUILD/bin # the page shows pictures
fixture connected
expect_programs '' connect report
grep -qx 'Report: *out/report.html' log || die "$(cat log)"
holds_all out
again out
# a changed setting, from the shell's environment too
export POINTS=5
graph connect -n report
same out/report.html before.html
graph connect POINTS=5 report
holds_all out
! cmp -s out/report.html before.html || die 'the page is not of the new setting'
unset POINTS
again out
for goal in pair net-1; do
    rc=0
    (graph connect POINTS=5 $goal report) >refused || rc=$?
    [ $rc != 0 ] && grep -q 'report shows all pairs' refused || die "$goal report: $rc $(cat refused)"
done

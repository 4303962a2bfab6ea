# SPDX-License-Identifier: Apache-2.0
# python -m mcz refuses the streams that mc-info --check refuses, with status 3, from files, pipes and standard input.
# Without mc-info on PATH it lists streams, refuses damaged ones, reports that contents are not checked, and exits with 1.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
py <<'END'
# rows for a missing tensor and past a tensor's end, which only mc-info detects
for name, row in ("good", "w\t0\t0\t4\t1\tg"), ("missing", "v\t0\t0\t4\t1\tg"), ("past", "w\t0\t2\t4\t1\tg"):
    mcz.write(name + ".mcz", "weights", {"net": "groups", "dataset": "", "symmetry": "\t".join(
        ("tensor", "axis", "offset", "count", "block", "group")) + "\n" + row + "\n"}, {"w": np.arange(5, dtype="f4")})
END
head -c 60 good.mcz >cut.mcz
mcz() { $python -m mcz "$@"; }
summary='ok, kind weights, id '$(id good.mcz)', 1 records'
expect_equal "$(mcz good.mcz | head -n 1)" "good.mcz: $summary"
expect_equal "$(mcz <good.mcz | head -n 1)" "-: $summary"
expect_equal "$(cat good.mcz | mcz - good.mcz | grep -c "$summary")" 2
expect_equal "$(mcz <(cat good.mcz) | grep -c "$summary")" 1
cp good.mcz ./-x.mcz
expect_equal "$(mcz -x.mcz | head -n 1)" "-x.mcz: $summary"
fails 3 'mc-info: missing.mcz: symmetry: line 2: ' mcz missing.mcz
fails 3 'mc-info: past.mcz: symmetry: line 2: ' mcz past.mcz
fails 3 'mc-info: stdin: symmetry: line 2: ' mcz <missing.mcz
piped() { cat missing.mcz | mcz; }
fails 3 'mc-info: stdin: symmetry: ' piped
fails 3 'mcz: cut.mcz: ' mcz cut.mcz
fails 3 'mcz: stdin: ' mcz <cut.mcz
fails 1 "mcz: *No such file*'none.mcz'" mcz none.mcz
rc=0
mcz missing.mcz good.mcz none.mcz >out 2>err || rc=$?
expect_equal "$rc $(grep -c . err) $(head -n 1 out)" "3 2 good.mcz: $summary"

# the status equals mc-info's for each sample
for f in "$MC_ROOT"/formats/samples/*.mcz; do
    expected=0
    mc-info --check -q "$f" 2>/dev/null || expected=$?
    status=0
    mcz "$f" >/dev/null 2>&1 || status=$?
    expect_equal "${f##*/} $status" "${f##*/} $expected"
done

mkdir empty
without() { PATH=$PWD/empty $python -m mcz "$@"; }
rc=0
without good.mcz missing.mcz >out 2>err || rc=$?
expect_equal "$rc $(cat err)" "1 mcz: contents are not checked: mc-info is not on PATH (install mc: docs/guides/wheel.md; or add the folder of its programs)"
expect_equal "$(grep -c ': read, kind weights, id ' out)" 2
rc=0
without cut.mcz >out 2>err || rc=$?
expect_equal "$rc $(grep -c . err)" '3 2'

# programs next to Python are found without PATH, as in a notebook of an environment that is not active
$python -m venv --without-pip --system-site-packages env
ln -s "$(command -v mc-info)" env/bin/
expect_equal "$(PATH=$PWD/empty env/bin/python -m mcz good.mcz | head -n 1)" "good.mcz: $summary"

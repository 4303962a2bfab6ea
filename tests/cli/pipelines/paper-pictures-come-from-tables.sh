# SPDX-License-Identifier: Apache-2.0
# pipelines/paper/pictures draws the pictures of docs/results whose tables are published. With the matplotlib that drew them the
# bytes are the same.
mkdir drawn
"$MC_ROOT/pipelines/paper/pictures" drawn
[ "$(find drawn -name '*.svg' | wc -l)" = 13 ] || die "$(ls drawn)"
for f in drawn/*; do
    published=$MC_ROOT/docs/results/${f#*/}
    expect_equal "$(svg_texts "$f")" "$(svg_texts "$published")"
    grep -q "$(grep -o 'Matplotlib v[0-9.]*' "$f" | head -n 1)" "$published" && same "$f" "$published"
done
rc=0
"$MC_ROOT/pipelines/paper/pictures" nowhere/there 2>errors || rc=$?
expect_equal "$rc $(<errors)" "1 pictures: 'nowhere/there' is not a folder"

# SPDX-License-Identifier: Apache-2.0
# formats/python/mcz/ops.json is the programs' table of operations, and graph.md is made from it; if not, run `make reference`.
"$MC_BUILD/tests/reference/ops" >ops.json
diff "$MC_ROOT/formats/python/mcz/ops.json" ops.json || die "ops.json is out of date: run make reference"
"$MC_ROOT/pipelines/setup/reference_graph.py" >graph.md
diff "$MC_ROOT/formats/codecs/graph.md" graph.md || die "graph.md is out of date: run make reference"
# the page changes with the table
mkdir -p copy/pipelines/setup copy/formats/{codecs,python/mcz}
cp "$MC_ROOT/pipelines/setup/reference_graph.py" copy/pipelines/setup
cp graph.md copy/formats/codecs
sed 's/"a number over 0"/"a number over 1"/' ops.json >copy/formats/python/mcz/ops.json
copy/pipelines/setup/reference_graph.py >changed.md
expect_equal "$(diff graph.md changed.md | grep '^>')" \
    "> | \`eps\` | \`batchnorm\`, \`layernorm\`, \`groupnorm\` | a number over 1 | added to the variance |"
# a page without the comments around a table is refused
sed -i '/end of the settings/d' copy/formats/codecs/graph.md
fails 1 'reference_graph: graph.md*comments around*table*settings' copy/pipelines/setup/reference_graph.py

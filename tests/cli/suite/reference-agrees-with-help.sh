# SPDX-License-Identifier: Apache-2.0
# docs/reference/programs.md has the --help of every program; if not, run `make reference`.
"$MC_ROOT/pipelines/setup/reference.sh" "$MC_BUILD"/bin/mc-* >programs.md
diff "$MC_ROOT/docs/reference/programs.md" programs.md || die "docs/reference/programs.md is out of date: run make reference"

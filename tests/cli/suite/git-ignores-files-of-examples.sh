# SPDX-License-Identifier: Apache-2.0
# git ignores all files that examples in the documents write when run in the source tree.
[ "$(git -C "$MC_ROOT" rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$MC_ROOT" && pwd -P)" ] || exit 77
cd "$MC_ROOT"
folders=$(grep -ohE '\bOUT=[a-z0-9-]+' README.md docs/*.md docs/guides/*.md pipelines/*.mk pipelines/cluster/slurm.sh | sed 's/^OUT=//' | sort -u)
files=$(grep -ohE ' -o [A-Za-z0-9.-]+\.(mcz|tsv|svg|png|pdf|safetensors)\b' README.md docs/*.md docs/guides/*.md | sed 's/^ -o //' | sort -u)
files+=" $(sed -nE 's/^# ([a-z]+\.py)$/\1/p' docs/tutorial.md docs/guides/any-module.md) $(grep -ohE ' -o [a-z]+\.json' docs/tutorial.md | sed 's/^ -o //')"
[ "$(wc -w <<<"$folders $files")" -gt 15 ] || die "$folders $files"
for name in $folders; do git check-ignore -q "$name/" || die "the folder $name"; done
for name in $files; do git check-ignore -q "$name" || die "the file $name"; done

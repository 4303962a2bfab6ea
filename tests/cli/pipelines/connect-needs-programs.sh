# SPDX-License-Identifier: Apache-2.0
# connect.mk reports missing programs in a source tree that is not built, also next to another folder called bin.
mkdir -p bare/bin bare/tree
cp -R "$MC_ROOT/pipelines" bare/tree
env PATH=/usr/bin:/bin make -f bare/tree/pipelines/connect.mk OUT=bare/out >log 2>errors && die "works without programs"
grep -q 'the programs are missing: run make' errors && [ ! -s log ] && [ ! -e bare/out ] || die "$(cat errors)"

# SPDX-License-Identifier: Apache-2.0
# With POSIXLY_CORRECT set, options may still follow operands, and everything after -- is an operand.
export POSIXLY_CORRECT=1
mc-data synth --samples 10 -o d.mcz
[ -s d.mcz ] || die 'mc-data did not read -o'
fails 2 "unknown option '--nothing'" mc-info d.mcz --nothing
fails 2 "'-x'" mc-info d.mcz -qx
! mc-info d.mcz -- -q >shown 2>errors || die 'mc-info read an option after --'
grep -qF "'-q'" errors || die "no '-q' in: $(cat errors)"
mc-info d.mcz -h >shown
grep -q '^Usage' shown || die 'mc-info did not read -h'
for p in "$MC_BUILD"/bin/mc-*; do
    p=${p##*/}
    fails 2 "unknown option '--nothing'" "$p" operand --nothing
done

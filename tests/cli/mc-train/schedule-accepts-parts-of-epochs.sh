# SPDX-License-Identifier: Apache-2.0
# --schedule step:N:F of mc-train, mc-bezier and mc-pam accepts a fraction of an epoch for N; F is the factor per epoch.
fixture curves
train() { mc-train -q --net mlp:bn,16 --data d.mcz --samples 300 --batch 30 --epochs 2 --lr .04 --seed 1 -t 1 "$@"; }

# the last step of an epoch: .04, halved after the fifth of ten steps and at the end
train --schedule step:.5 --log-json log -o a.mcz
expect_equal "$(field log epoch lr | paste -sd ' ')" "$(awk 'BEGIN { printf "%.9g %.9g", .02, .005 * .9996 }')"
train --schedule step:1/2:.5 --log-json log -o b.mcz
expect_equal "$(field log epoch lr | paste -sd ' ')" '0.02 0.0025'
mc-info b.mcz | grep -q 'step-epochs=0.5 step-factor=0.5' || die "$(mc-info b.mcz)"
# the form without N: the same bytes, and its options in the history
train --schedule step:1 -o c.mcz
train --schedule step:1:.9996 -o d1.mcz
same_content c.mcz d1.mcz
mc-info c.mcz | grep -q 'step-epochs=1 ' || die "$(mc-info c.mcz)"
# a checkpoint records both
train --schedule step:.5 --stop-after 1 --checkpoint ck -o x.mcz
fails 3 'step-epochs' train --schedule step:.25 --checkpoint ck --resume -o x.mcz
train --schedule step:.5 --checkpoint ck --resume -o x.mcz
same x.mcz a.mcz

for program in 'mc-bezier --data d.mcz n1.mcz n2.mcz' 'mc-pam --data d.mcz n1.mcz n2.mcz'; do
    fails 2 "--schedule step: '0'*not a number" $program --schedule step:0 -o x
    fails 2 "--schedule step:N: '2'*not a number" $program --schedule step:1:2 -o x
    fails 2 "--schedule step: ''*not a number" $program --schedule step: -o x
done

# SPDX-License-Identifier: Apache-2.0
# mc-corr computes the same matrices from two raw streams as from their moments.
fixture moments

# through FIFOs, whose kind of stream decides; and as files
mkfifo fa fb
cat a.acts >fa &
cat b.acts >fb &
mc-corr fa fb -o raw.mcz
wait
agree 1e-6 c.mcz raw.mcz
for t in 1 2; do
    mc-corr --raw -t $t a.acts b.acts -o x.mcz
    expect_equal "$(id x.mcz)" "$(id raw.mcz)"
done
mc-corr --measure l2 m.mcz -o l2.mcz
mc-corr --measure l2 a.acts b.acts -o x.mcz
agree 1e-10 l2.mcz x.mcz

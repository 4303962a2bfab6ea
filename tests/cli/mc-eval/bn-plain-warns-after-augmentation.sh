# SPDX-License-Identifier: Apache-2.0
# --bn-plain warns if a history records training on augmented images: of either network, of a curve or of its ends. It does
# not warn without such training, if the data have no augmentation, or if statistics are not re-estimated.
mc-data synth --samples 48 --size 8 -o d.mcz
py <<'END'
d = mcz.read("d.mcz")
mcz.write("fixed.mcz", d.kind, dict(d.meta, augment={"rotate": 0.0, "flip": False, "pad": 0}), d.tensors)
mcz.write("other.mcz", d.kind, dict(d.meta, name="other"), d.tensors)
END
train='mc-train -q -t 1 --data d.mcz --batch 16 --lr .02'
for s in 1 2; do $train --net mlp:bn,6 --no-augment --epochs 1 --seed $s -o plain$s.mcz; done
for s in 3 4; do $train --net mlp:bn,6 --epochs 1 --seed $s -o augmented$s.mcz; done
$train --net mlp:bn,6 --epochs 0 -o untrained.mcz
$train --net mlp:6 --epochs 1 -o no-norm.mcz
$train --init augmented3.mcz --no-augment --epochs 1 -o further.mcz
$train --net mlp:bn,6 --epochs 1 --no-history -o bare.mcz
mc-train -q -t 1 --data other.mcz --batch 16 --lr .02 --net mlp:bn,6 --epochs 1 --seed 5 -o other-net.mcz
mc-bezier -q --epochs 0 plain1.mcz plain2.mcz -o plain-line.mcz
mc-bezier -q --epochs 0 plain1.mcz augmented3.mcz -o line.mcz
mc-bezier -q -t 1 --data d.mcz --batch 16 --epochs 1 plain1.mcz plain2.mcz -o curve.mcz
mc-bezier -q -t 1 --data d.mcz --batch 16 --epochs 1 --no-augment plain1.mcz plain2.mcz -o plain-curve.mcz

warning='warning: --bn-plain: *trained*augmented images*accuracy'
plain='mc-eval -q -t 1 --data d.mcz --bn-data d.mcz --bn-plain'
for of in augmented3 'plain1.mcz augmented3' 'augmented3.mcz augmented4' further '--points 3 line' '--points 3 curve' \
    '--points 3 --line plain1.mcz augmented3' '--grid 2 --plane plain1.mcz plain2.mcz augmented3'; do
    expect_message "mc-eval: $warning" $plain $of.mcz
done
for of in plain1 'plain1.mcz untrained' bare no-norm '--points 3 plain-line' '--points 3 plain-curve'; do
    expect_message '' $plain $of.mcz
done
expect_message '' mc-eval -q -t 1 --data d.mcz --bn-data d.mcz augmented3.mcz
expect_message '' mc-eval -q -t 1 --data d.mcz --bn-data fixed.mcz --bn-plain augmented3.mcz
for of in line curve; do
    expect_message "mc-bezier: $warning" mc-bezier -q -t 1 --point .5 --bn-data d.mcz --bn-plain $of.mcz
done
for of in plain-line plain-curve; do expect_message '' mc-bezier -q -t 1 --point .5 --bn-data d.mcz --bn-plain $of.mcz; done
# networks of two data sets, each with its history
expect_message "mc-eval: warning: d.mcz: images*synth*trained*other
mc-eval: $warning" $plain plain1.mcz other-net.mcz
for tool in mc-eval mc-bezier; do
    $tool --help >help
    tr -s ' \n' ' ' <help >words
    grep -q 'trained on augmented images may lose several points' words || die "$tool --help does not say that --bn-plain may lose accuracy"
done

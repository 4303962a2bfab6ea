# SPDX-License-Identifier: Apache-2.0
# mc-pgd refuses mismatched, truncated and non-finite inputs in one line, and keeps the old output.
fixture examples

cp adv.mcz old.mcz
mc-data synth --samples 20 --size 12 -o small.mcz
fails 3 'small.mcz: images*3x12x12' mc-pgd --data small.mcz 1.mcz -o old.mcz
fails 3 "$test images*$((test + 1))*requested" $p --samples $((test + 1)) 1.mcz -o old.mcz
fails 3 'weights expected*dataset' $p test.mcz -o old.mcz
fails 3 'dataset expected*weights*mc-data' mc-pgd --data 1.mcz 1.mcz -o old.mcz
# truncated after the required images
head -c -7 test.mcz >cut.mcz
fails 3 'cut.mcz: ' mc-pgd --data cut.mcz --samples 3 1.mcz -o old.mcz
mc-pgd --data cut.mcz 1.mcz 2>err | mc-info --check >out 2>&1 && die 'a failed run wrote a complete stream'
py <<'END'
s = mcz.read("adv.mcz")
s.tensors["images"][5, 0, 0, 0] = np.nan
mcz.write("nan.mcz", s.kind, s.meta, s.tensors)
w = mcz.read("1.mcz")
for name in w.tensors: # finite, but its sums overflow
    if name.endswith("weight"):
        w.tensors[name] = np.full_like(w.tensors[name], 3e38)
mcz.write("huge.mcz", w.kind, w.meta, w.tensors)
END
fails 3 'nan.mcz: image 5*pixel outside [0, 1]' mc-pgd --data nan.mcz 1.mcz -o old.mcz
fails 3 "network's loss*image 0*not finite" $p huge.mcz -o old.mcz
same adv.mcz old.mcz
no_temporaries

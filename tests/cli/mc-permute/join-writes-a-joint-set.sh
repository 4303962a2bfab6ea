# SPDX-License-Identifier: Apache-2.0
# mc-permute --join writes a joint set from permutations, which it inverts if they lead from the first network, and from
# networks, which keep their order. Wrong sets are refused.
fixture joint
for m in 12 13 23; do mc-hungarian -q m$m.mcz -o p$m.mcz; done

mc-permute --join 2.mcz p12.mcz p23.mcz -o j.mcz
expect_equal "$(mc-info --json j.mcz | grep -o '"members":[^]]*')" "\"members\":[\"$(id 2.mcz)\",\"$(id 1.mcz)\",\"$(id 3.mcz)\""
same_content <(mc-permute j.mcz 2.mcz) 2.mcz
same_content <(mc-permute j.mcz 1.mcz) <(mc-permute --inverse p12.mcz 1.mcz 2>/dev/null)
same_content <(mc-permute j.mcz 3.mcz) <(mc-permute p23.mcz 3.mcz)
# without a network first, every permutation is unchanged
mc-permute --join p12.mcz 3.mcz -o k.mcz
same_content <(mc-permute k.mcz 2.mcz) <(mc-permute p12.mcz 2.mcz)
same_content <(mc-permute k.mcz 3.mcz) 3.mcz
# the permutation of a curve, standard input, and the set as an input of --compose
mc-bezier -q --epochs 0 --perm p12.mcz 1.mcz 2.mcz -o curve.mcz
mc-permute --join 1.mcz curve.mcz - <p13.mcz | same_content - <(mc-permute --join 1.mcz p12.mcz p13.mcz)
mc-permute --compose k.mcz p12.mcz | mc-info --check - >/dev/null

fails 3 "p23.mcz: leads*order*network $(id 2.mcz | cut -c1-8)*p12.mcz moves" mc-permute --join 1.mcz p12.mcz p23.mcz
fails 3 "p23.mcz:*same network*3.mcz" mc-permute --join 1.mcz 3.mcz p23.mcz
fails 3 "1.mcz:*same network*1.mcz" mc-permute --join 1.mcz 1.mcz
mc-permute --no-history p12.mcz 2.mcz -o pb.mcz
mc-permute --no-history --compose p12.mcz p12.mcz -o bare.mcz
fails 3 "bare.mcz:*not record two networks (a permutation" mc-permute --join 1.mcz bare.mcz
# words of a history that are not content ids cannot be members
py <<'END'
for name, word in ("upper", "A" * 32), ("words", "not the content id of a network."), ("short", "0" * 31):
    s = mcz.read("p12.mcz")
    for e in s.history:
        e["args"] = [[k, word if k == "b" else v] for k, v in e["args"]]
    mcz.write(name + ".mcz", s.kind, s.meta, s.tensors, s.history)
END
for f in upper words short; do
    fails_unchanged 3 "$f.mcz:*not record two networks" mc-permute --join 3.mcz $f.mcz -o no.mcz
    mc-permute $f.mcz 2.mcz --perm-out $f-out.mcz | same_content - <(mc-permute p12.mcz 2.mcz)
    mc-info --json $f-out.mcz >info
    ! grep '"mc-permute".*\["b"' info || die "$f-out.mcz names a network"
done
mc-train -q -t 1 --net mlp:bn,12,8 --data data.mcz --samples 32 --batch 16 --epochs 1 -o other.mcz
fails 3 "other.mcz: other groups*units*1.mcz" mc-permute --join 1.mcz other.mcz
fails 3 "j.mcz: one permutation expected*joint set*3" mc-permute --join 1.mcz j.mcz
fails 3 "expected, got matrices" mc-permute --join 1.mcz m12.mcz
usage_error "missing: operand FILE.mcz" mc-permute --join 1.mcz
usage_error "one*--compose, --identity, --join*--random*given" mc-permute --join --compose p12.mcz p13.mcz
usage_error "--member*no effect*with --join" mc-permute --join --member 1 1.mcz p12.mcz
usage_error "--inverse*no effect*with --join" mc-permute --join --inverse 1.mcz p12.mcz
usage_error "--verify*no effect*with --join*writes*permutation" mc-permute --join --verify data.mcz 1.mcz p12.mcz

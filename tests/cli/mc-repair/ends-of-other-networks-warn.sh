# SPDX-License-Identifier: Apache-2.0
# mc-repair warns about ends that NET was not merged from, as far as NET records its networks: after mc-merge, and for a point of a
# curve with a permutation. mc-merge and mc-repair warn about networks of different data sets.
mc-data synth --samples 64 --size 8 -o d.mcz
for s in a:1 b:2 c:3; do mc-train -q -t 1 --net mlp:6,5 --data d.mcz --epochs 1 --batch 16 --seed ${s#*:} -o ${s%:*}.mcz; done
mc-match -q -t 1 a.mcz b.mcz -o p.mcz
mc-permute p.mcz b.mcz -o pb.mcz
mc-merge a.mcz pb.mcz -o mean.mcz
repair() { mc-repair -q -t 1 --data d.mcz "$@"; }
other() { printf 'mc-repair: warning: %s*not one*networks*%s*merged' "$1" "$2"; }

expect_message '' repair mean.mcz --ends a.mcz pb.mcz
expect_message '' repair mean.mcz --ends pb.mcz
expect_message "$(other b.mcz mean.mcz)" repair mean.mcz --ends a.mcz b.mcz
expect_message "$(other c.mcz mean.mcz)
$(other b.mcz mean.mcz)" repair mean.mcz --ends c.mcz a.mcz b.mcz
mc-merge a.mcz pb.mcz | repair --ends a.mcz c.mcz -o r.mcz 2>errors
expect_lines errors "$(other c.mcz stdin)"
# a point of a curve with a permutation: the second end is permuted
mc-bezier --epochs 0 --perm p.mcz a.mcz b.mcz | mc-bezier --point .5 - -o point.mcz
expect_message '' repair point.mcz --ends a.mcz pb.mcz
expect_message "$(other b.mcz point.mcz)" repair point.mcz --ends a.mcz b.mcz
expect_message "$(other c.mcz point.mcz)" repair point.mcz --ends c.mcz
# no record, no warning
mc-bezier --epochs 0 a.mcz pb.mcz | mc-bezier --point .5 - -o line.mcz
mc-merge --no-history a.mcz pb.mcz -o bare.mcz
for net in line bare a; do expect_message '' repair $net.mcz --ends c.mcz; done

py <<'END'
for name, data in ("shapes", "shapes"), ("unnamed", ""), ("adversarial", "synth-pgd"):
    s = mcz.read("pb.mcz")
    mcz.write(name + ".mcz", s.kind, dict(s.meta, dataset=data), s.tensors)
END
expect_message 'mc-merge: warning: a.mcz*trained*synth*shapes.mcz*shapes' mc-merge a.mcz pb.mcz shapes.mcz
expect_message '' mc-merge a.mcz unnamed.mcz adversarial.mcz
expect_message 'mc-repair: warning: a.mcz*trained*synth*shapes.mcz*shapes' repair a.mcz --ends a.mcz shapes.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-pam --resume refuses a checkpoint of other settings, permutations and curves.
fixture pam
both() { pam --permutation-epochs 2 --epochs 2 --permutation-lr 1 n1.mcz n2.mcz --checkpoint ck "$@"; }

both --stop-after 3 -o part.mcz
for other in '--nu-curve 5' '--nu-curve 10000.000000001' '--draws 5' '--perm p.mcz' '--init perm-only.mcz'; do
    fails 3 'ck: ' both --resume $other
done
# values that are not finite, except in the report, which may have some; a matrix that is not a permutation
py <<'END'
ck = mcz.read("ck")
for name in set(ck.tensors) - {"report"}:
    t = {k: v.copy() for k, v in ck.tensors.items()}
    t[name][0] = np.nan
    mcz.write("nan-" + name, ck.kind, ck.meta, t)
END
ls nan-* | sort >names
expect_equal "$(paste -sd ' ' names)" 'nan-anchor nan-epochs nan-matrices nan-momentum nan-offset nan-permutation nan-previous'
for name in nan-*; do
    case $name in
    *-permutation | *-previous) why='entry 0 is -1' ;;
    *) why="\"${name#nan-}\" holds a value that is not finite" ;;
    esac
    rm -f ck && cp "$name" ck
    fails 3 "$why" both --resume
    grep -q '^mc-pam: ck: ' err.fails || die "$(cat err.fails)"
done
# reports and units that no run writes
py <<'END'
ck = mcz.read("nan-offset")
ck.tensors["offset"][0] = 0
for name, place, value in (("report", 0, -1), ("report", 22, .5), ("permutation", 0, .5)):
    t = {k: v.copy() for k, v in ck.tensors.items()}
    (t[name].view("<f8") if name == "report" else t[name])[place if place < 22 else -1] = value
    if name == "permutation":
        t[name][0] += np.floor(ck.tensors[name][0])
    mcz.write("wrong-%s-%d" % (name, place), ck.kind, ck.meta, t)
END
for name in wrong-*; do
    why='"report" holds results of iteration'
    [ $name != wrong-permutation-0 ] || why='entry 0 is -1'
    rm -f ck && cp $name ck
    fails 3 "$why" both --resume
done

# SPDX-License-Identifier: Apache-2.0
# mc-permute applies the member of a joint set that has the network's id, or --member. --to maps to another member's order;
# --inverse and --compose accept members, and a set can be composed with a permutation.
fixture joint
mc-hungarian -q --joint m12.mcz m13.mcz m23.mcz -o j.mcz

for i in 1 2 3; do
    mc-permute --member $i j.mcz -o p$i.mcz
    mc-permute p$i.mcz $i.mcz -o own$i.mcz 2>errors
    [ ! -s errors ] || die "$(cat errors)"
    same_content own$i.mcz <(mc-permute j.mcz $i.mcz)
    same_content own$i.mcz <(mc-permute --member $i j.mcz $i.mcz)
    same_content $i.mcz <(mc-permute --inverse --member $i j.mcz own$i.mcz)
    same_content $i.mcz <(mc-permute --inverse --member $i j.mcz | mc-permute - own$i.mcz)
done
same_content own1.mcz 1.mcz
same_content own3.mcz <(cat j.mcz | mc-permute - 3.mcz)
py <<'END'
j = mcz.read("j.mcz")
for i in (1, 2, 3):
    p = mcz.read("p%d.mcz" % i)
    last = dict(map(tuple, p.history[-1]["args"]))
    assert last == {"member": i, "a": j.meta["members"][0], "b": j.meta["members"][i - 1]}, last
    for which in i, j.meta["members"][i - 1]:
        m = mcz.member("j.mcz", which)
        assert m.network == j.meta["members"][i - 1] and m.meta == p.meta and list(m.tensors) == list(p.tensors)
        assert all((m.tensors[g] == p.tensors[g]).all() for g in p.tensors)
for source, which, why in ("j.mcz", 4, "from 1 to 3 (got 4)"), ("j.mcz", 0, "got 0"), ("j.mcz", "x", "none of the 3"), ("p2.mcz", 1, "one permutation"):
    try:
        mcz.member(source, which)
        sys.exit("accepted: %s %s" % (source, which))
    except mcz.Error as e:
        assert why in str(e), e
END

# the map from network 3 to network 2 is that of member 3, then the inverse of member 2's
mc-permute --member 3 --to 2 j.mcz -o p32.mcz
mc-permute --inverse --member 2 j.mcz -o back.mcz
same_content p32.mcz <(mc-permute --compose p3.mcz back.mcz)
same_content <(mc-permute p32.mcz 3.mcz) <(mc-permute --to 2 j.mcz 3.mcz)
mc-info p32.mcz | grep -qF "to=2 a=$(id 2.mcz) b=$(id 3.mcz)" || die "$(mc-info p32.mcz)"
mc-permute --compose j.mcz back.mcz -o in2.mcz
same_content 2.mcz <(mc-permute in2.mcz 2.mcz)
same_content <(mc-permute p32.mcz 3.mcz) <(mc-permute in2.mcz 3.mcz)
expect_equal "$(mc-info --json in2.mcz | grep -o '"members":[^]]*')" "$(mc-info --json j.mcz | grep -o '"members":[^]]*')"
# --verify and --perm-out apply the same member
mc-permute -q --verify data.mcz --perm-out out.mcz j.mcz 3.mcz -o v.mcz >/dev/null
same_content v.mcz own3.mcz
same_content out.mcz p3.mcz

mc-permute --random 9 1.mcz -o stranger.mcz
fails 3 "stranger.mcz: not one*3 networks*j.mcz*id $(id stranger.mcz)" mc-permute j.mcz stranger.mcz
expect_message "mc-permute: warning: j.mcz*another network*stranger.mcz" mc-permute --member 2 j.mcz stranger.mcz -o x.mcz
fails 3 "j.mcz: --member*at most 3*members (got 4)" mc-permute --member 4 j.mcz 1.mcz
fails 3 "j.mcz: --to*at most 3*members (got 7)" mc-permute --to 7 j.mcz 1.mcz
fails 3 "j.mcz:*joint set*3" mc-permute --inverse j.mcz
fails 3 "j.mcz:*joint set*no inverse" mc-permute --inverse --compose j.mcz p2.mcz
fails 3 "j.mcz: one permutation expected*joint set*3" mc-permute --compose p2.mcz j.mcz
fails 3 "j.mcz: one permutation expected" mc-bezier --epochs 0 --perm j.mcz 1.mcz 3.mcz
fails 3 "p2.mcz:*joint set expected*--member*got one permutation" mc-permute --member 2 p2.mcz 2.mcz
fails 3 "p2.mcz:*joint set expected*--to*got one permutation" mc-permute --to 2 p2.mcz 2.mcz
for form in "--compose p1.mcz p2.mcz" "--identity 1.mcz" "--random 3 1.mcz"; do
    usage_error "--member*no effect*${form%% *}" mc-permute --member 2 $form
done
usage_error "--member: '0'*not a whole number*1 to 1024" mc-permute --member 0 j.mcz

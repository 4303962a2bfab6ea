# SPDX-License-Identifier: Apache-2.0
# mcz.torch.canonical keeps the logits of networks, in float32 and float64, and the groups of the result allow the maps that
# were derived by hand: rotations of streams and within heads, signs of all rows or of some, and permutations elsewhere.
# mcz.torch.groups checks them with random maps. Other networks allow permutations only.
need_torch 2.15
"$python" "$MC_ROOT/tests/parity/derived_maps.py" check >table 2>errors &&
    "$python" "$MC_ROOT/tests/parity/derived_maps.py" kinds >>table 2>>errors || die "$(tail -n 5 errors)"
! grep -A 1 WRONG table >&2 || die 'a network allows other maps'
[ "$(grep -c 'ok$' table)" -ge 34 ] || die 'networks are missing'

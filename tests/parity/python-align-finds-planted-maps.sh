# SPDX-License-Identifier: Apache-2.0
# mcz.torch.align with maps="all" brings back networks that were moved by random maps of every kind. mc-permute and
# mcz.torch.permute apply maps to the same numbers. By permutations alone, rotations stay the identity. Learned maps lower the loss in the middle.
need_torch 2.15 transformers
maps() { "$python" "$MC_ROOT/tests/parity/derived_maps.py" "$@" 2>errors || die "$(tail -n 5 errors)"; }

maps plant >planted
[ "$(grep -c 'ok$' planted)" = 8 ] || die "$(cat planted)"
maps many >many
[ "$(grep -c 'ok$' many)" = 4 ] || die "$(cat many)"
maps programs out >numbers
[ "$(grep -c 'ok$' numbers)" = 2 ] || die "$(cat numbers)"
maps learn >learned
maps learn_rotary >>learned
[ "$(grep -c 'ok$' learned)" = 3 ] || die "$(cat learned)"

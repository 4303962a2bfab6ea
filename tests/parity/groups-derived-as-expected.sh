# SPDX-License-Identifier: Apache-2.0
# mcz.torch.groups derives the groups that were derived by hand from the sources of public networks, and is right, smaller or
# refuses modules that are easy to get wrong. tests/parity/derived_groups.py compares the outputs of permuted networks
# independently of it.
need_torch 2.15
"$python" "$MC_ROOT/tests/parity/derived_groups.py" check >table.tsv 2>errors ||
    die "$(grep WRONG table.tsv; tail -n 5 errors)"
[ "$(grep -c 'ok$\|skipped: ' table.tsv)" -ge 70 ] || die 'networks are missing'

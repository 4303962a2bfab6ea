# SPDX-License-Identifier: Apache-2.0
# mcz.torch.groups derives the groups that were derived by hand from the sources of public networks, and is right, smaller or
# refuses modules that are easy to get wrong. tests/parity/derived_groups.py compares the outputs of permuted networks
# independently of it. Needs PyTorch >= 2.4, torchvision and transformers (PYTHON: a Python that has them); skipped without.
python=${PYTHON:-/usr/bin/python3}
$python -c 'import mcz.torch, timm, torchvision, transformers; mcz.torch.groups' 2>/dev/null || exit 77
[ "$MC_UNDER" != valgrind ] || exit 77
"$python" "$MC_ROOT/tests/parity/derived_groups.py" check >table.tsv 2>errors ||
    die "$(grep WRONG table.tsv; tail -n 5 errors)"
[ "$(grep -c 'ok$' table.tsv)" -ge 70 ] || die 'networks are missing'

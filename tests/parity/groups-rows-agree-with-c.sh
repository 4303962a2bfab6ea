# SPDX-License-Identifier: Apache-2.0
# mc-convert --groups and mcz.groups accept the same of some hundred changed group files, nest their groups in the same way,
# and a permutation moves the same values. The files have grouped convolutions, query heads and orders tied over units. Some have
# other numbers, names, line ends, comments or bytes.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
$python "$MC_ROOT/tests/parity/group_rows.py" "${SEED:-1}" "${COUNT:-300}"

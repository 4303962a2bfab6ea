# SPDX-License-Identifier: Apache-2.0
# A damaged stream of each kind, through mc-info and through a program that reads it: exit 3, one line,
# no complete output, the old one kept, under 64 MiB of memory.
exec /usr/bin/python3 "$MC_ROOT/tests/cli/lib/damaged_streams.py"

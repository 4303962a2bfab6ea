# SPDX-License-Identifier: Apache-2.0
# mc-info and programs that read a damaged stream of any kind refuse it: status 3, one line, no complete output, the old
# one unchanged, under 64 MiB of memory.
exec /usr/bin/python3 "$MC_ROOT/tests/cli/lib/damaged_streams.py"

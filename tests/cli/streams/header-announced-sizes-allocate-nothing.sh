# SPDX-License-Identifier: Apache-2.0
# What a header announces takes no memory before it comes: exit 3, one line, under 64 MiB.
exec /usr/bin/python3 "$MC_ROOT/tests/cli/lib/oversized_streams.py"

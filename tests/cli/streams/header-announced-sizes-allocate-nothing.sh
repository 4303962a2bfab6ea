# SPDX-License-Identifier: Apache-2.0
# Readers allocate nothing for sizes that a header only announces: status 3, one line, under 64 MiB.
exec /usr/bin/python3 "$MC_ROOT/tests/cli/lib/oversized_streams.py"

# SPDX-License-Identifier: Apache-2.0
# No switch over operations: a row of each table says what an operation does, and a missing row is a link error. A switch
# has a default, which computed an activation that it did not list as a sigmoid.
cd "$MC_ROOT"
if grep -rnE 'case MC_OP_|switch \(.*\bop\)' libcommon kernels formats tools --include='*.[ch]' --include='*.cu' --include='*.cuh'; then
    die "a switch over operations"
fi

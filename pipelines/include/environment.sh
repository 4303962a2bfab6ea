# SPDX-License-Identifier: Apache-2.0
# The environment of every script and make graph (machinery.mk sets the same). Numbers have a decimal point and text is
# UTF-8, whatever the user's language. CDPATH would let cd print a name or go elsewhere; POSIXLY_CORRECT would change bash,
# and end the options of other programs at the first operand.
export LC_ALL=C.UTF-8
unset CDPATH POSIXLY_CORRECT

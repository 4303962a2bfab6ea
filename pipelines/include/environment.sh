# SPDX-License-Identifier: Apache-2.0
# The environment of every script and experiment (machinery.mk sets the same). Numbers have a decimal point and text is
# UTF-8 in every locale. CDPATH would make cd print names or enter another folder. POSIXLY_CORRECT would change bash, and
# make other programs accept no options after the first operand.
export LC_ALL=C.UTF-8
unset CDPATH POSIXLY_CORRECT

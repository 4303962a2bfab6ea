# SPDX-License-Identifier: Apache-2.0
# What every script reads before its first cd, and every graph: CDPATH would send a relative cd elsewhere, POSIXLY_CORRECT ends
# options at the first operand. Numbers have a decimal point and text is UTF-8 in any language. The last word is for names.mk.
unset CDPATH POSIXLY_CORRECT
export LC_ALL=C.UTF-8

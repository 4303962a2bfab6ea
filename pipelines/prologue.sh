# SPDX-License-Identifier: Apache-2.0
# Numbers have a decimal point, text is UTF-8, whatever the user's language is: read by make graphs (common.mk) and by scripts.
export LC_ALL=C.UTF-8

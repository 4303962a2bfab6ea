# SPDX-License-Identifier: Apache-2.0
# install-packages.sh refuses unknown packages, and does nothing if a prefix's env.sh was sourced. (--prefix itself needs
# Debian's mirrors.)
script=$MC_ROOT/pipelines/setup/install-packages.sh
[ "$("$script" -h | wc -L)" -le 100 ]
fails 2 "there is no option '--prefixes'" "$script" --prefixes x
fails 2 '--prefix needs a folder' "$script" --prefix
fails 2 '--prefix needs a folder' "$script" --prefix ''
expect_equal "$(MC_PACKAGES=/there "$script" no-such-package)" ''
# without dpkg it prints the required packages
mkdir bin
for p in sh cat dirname readlink; do ln -s "$(command -v $p)" bin/; done
PATH=$PWD/bin "$script" 2>errors
grep -q 'no dpkg here; this needs what Debian calls gcc ' errors
rc=0
PATH=$PWD/bin "$script" --prefix here 2>errors || rc=$?
expect_equal "$rc $(grep -c 'no dpkg here' errors)" '1 1'
[ ! -e here ]

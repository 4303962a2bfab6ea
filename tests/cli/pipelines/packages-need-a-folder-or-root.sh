# SPDX-License-Identifier: Apache-2.0
# install-packages.sh refuses unknown options, and does nothing in a shell that has read a prefix's env.sh. (Debian's mirrors
# would be needed to test --prefix.)
script=$MC_ROOT/pipelines/setup/install-packages.sh
[ "$("$script" -h | wc -L)" -le 100 ]
fails 2 "unknown option '--prefixes'" "$script" --prefixes x
fails 2 '--prefix requires*folder' "$script" --prefix
fails 2 '--prefix requires*folder' "$script" --prefix ''
expect_equal "$(MC_PACKAGES=/there "$script" no-such-package)" ''
# without dpkg it lists the packages
mkdir bin
for p in sh cat dirname readlink; do ln -s "$(command -v $p)" bin/; done
PATH=$PWD/bin "$script" 2>errors
grep -q 'dpkg is missing; install the equivalents of these Debian packages: gcc ' errors
rc=0
PATH=$PWD/bin "$script" --prefix here 2>errors || rc=$?
expect_equal "$rc $(grep -c 'dpkg is missing' errors)" '1 1'
[ ! -e here ]
# --check names missing packages and the command, and installs nothing; pip's build prints the same line
fails 1 'dpkg is missing' env PATH="$PWD/bin" "$script" --check
printf '#!/bin/sh\n[ "$3" = libzip-dev ] || echo ii\n' >bin/dpkg-query
printf '#!/bin/sh\ntouch installed\n' >bin/apt-get
chmod +x bin/dpkg-query bin/apt-get
fails 1 'install-packages: packages*missing*root: apt-get install libzip-dev' env PATH="$PWD/bin" "$script" --check
build() { PATH=$PWD/bin PYTHONPATH=$MC_ROOT/pipelines/setup /usr/bin/python3 -c 'import build_wheel; build_wheel.build_wheel(".")'; }
fails 1 'install-packages: packages*missing*root: apt-get install libzip-dev' build
[ ! -e installed ]

# SPDX-License-Identifier: Apache-2.0
# install-packages.sh waits, and says so, while another package manager has a lock. Other errors of apt-get end it at once.
mkdir bin
printf '#!/bin/sh\necho\n' >bin/dpkg-query # no package is installed
printf '#!/bin/sh\necho 0\n' >bin/id
printf '#!/bin/sh\necho "$1" >>waits\n' >bin/sleep
cat >bin/apt-get <<'END'
#!/bin/sh
case "$*" in *--simulate*) exit ;; esac # it uses no lock
echo "$*" >>calls
[ ! -e broken ] || { echo 'E: Unable to locate package x' >&2; exit 100; }
[ "$(wc -l <calls)" -ge 4 ] || { echo 'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt)' >&2; exit 100; }
END
chmod +x bin/*
install() { PATH=$PWD/bin:$PATH MC_PACKAGES= "$MC_ROOT/pipelines/setup/install-packages.sh" >log 2>errors; }
install || die "$(cat errors)"
expect_equal "$(wc -l <calls) $(wc -l <waits)" '4 3'
expect_lines errors 'install-packages: another package manager*waiting at most 10 minutes'
touch broken
rm calls waits
! install || die 'an error of apt-get passes'
[ ! -e waits ] && has_words errors 'Unable to locate' || die "$(cat errors)"

# SPDX-License-Identifier: Apache-2.0
# lock.sh locks as NFS lets it: what excludes others on a descriptor that may be written; what fails otherwise is told, and
# nobody waits for it.
lock=$MC_ROOT/pipelines/lock.sh
real=$(command -v flock)
mkdir bin out
# EBADF for a lock that is not shared where the descriptor (the last word) may only be read
cat >bin/flock <<END
#!/bin/bash
case " \$* " in *" -s "*) exec "$real" "\$@" ;; esac
flags=\$(awk '/^flags:/ { print \$2 }' "/proc/\$\$/fdinfo/\${!#}")
[ \$((0\$flags & 3)) != 0 ] || { echo "flock: \${!#}: Bad file descriptor" >&2 && exit 65; }
exec "$real" "\$@"
END
chmod +x bin/flock
export PATH=$PWD/bin:$PATH
# a make is a shell here, whose child the script is; it ends when `end` is there
taken() { exec bash -c '"$0" "$1" $$ "${@:2}" && touch "took$3" && until [ -e end ]; do sleep .02; done' "$lock" "$@"; }
for unit in '' -1-2; do
    rm -f end took*
    taken out first.mk ${unit#-} >log 2>&1 &
    first=$!
    until [ -e "took${unit#-}" ] || [ ! -e "/proc/$first" ]; do sleep .02; done
    [ -e "took${unit#-}" ] || die "it cannot lock: $(cat log)"
    [ ! -s log ] || die "$(cat log)"
    is "$(cut -d ' ' -f 2 "out/.lock$unit")" first.mk
    rc=0
    bash -c '"$0" "$1" $$ "${@:2}"; exit $?' "$lock" out second.mk ${unit#-} >told 2>err || rc=$?
    is $rc 1
    grep -q "^make $first (first.mk) on .* has been at work there since" told || die "$(cat told err)"
    [ ! -s err ] || die "$(cat err)"
    touch end
    wait $first
done
# a job that was left is waited for
rm -f took* end
(exec 9<"out/.jobs" && flock -s 9 && touch left && until [ -e done ]; do sleep .02; done) &
left=$!
until [ -e left ]; do sleep .02; done
taken out third.mk >log 2>&1 &
third=$!
until grep -q waiting log; do [ -e "/proc/$third" ] || die "it did not wait: $(cat log)"; sleep .02; done
grep -q 'flock: ' log && die "$(cat log)"
touch done end
wait $left $third
# where only what is shared can be locked a unit's make goes on, and says that others' go unnoticed
mkdir shared
printf '#!/bin/bash\ncase " $* " in *" -s "*) ;; *) exit 65 ;; esac\n' >bin/flock
for unit in '' 1-2; do
    timeout 20 bash -c '"$0" "$1" $$ "${@:2}"; exit $?' "$lock" shared first.mk $unit >told 2>err || die "it is refused: $(cat told err)"
    is "$(<err)" 'OUT="shared": there are no locks on this file system: two makes there would go unnoticed'
done

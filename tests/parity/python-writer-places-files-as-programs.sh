# SPDX-License-Identifier: Apache-2.0
# mcz.write places its file as the programs do, in one list of situations: permissions, symbolic links, pipes, descriptors,
# temporary files of dead and of running writers, names that cannot be written. Each writer leaves the same files.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
cp "$MC_ROOT/formats/samples/good-matrices.mcz" m.mcz
cat >write.py <<'END'
import sys
import mcz
import numpy as np
try:
    mcz.write(sys.argv[1], "permutation", {"groups": [{"name": "g", "size": 2}]}, {"g": np.array([1, 0], "i4")})
except (mcz.Error, OSError) as e:
    sys.exit("%s: %s" % (type(e).__name__, e))
END
write_c() { exec mc-hungarian -q ../m.mcz -o "$1"; }
write_python() { exec $python ../write.py "$1"; }

# Each line: the name to write, and commands before. $$ is the writer's process number, `lock FILE` locks a file for it.
cat >situations <<'END'
t
t           umask 077
t           touch t; chmod 600 t
t           touch t; chmod 754 t
t           echo old >t; chmod 4755 t
t           mkdir t
t/          :
t/          mkdir t
t/          touch t
d/t         :
d/t         mkdir d
d/t         touch d
l           mkdir d; touch d/t; chmod 640 d/t; ln -s d/t l
l           mkdir d; ln -s d/t l
l           mkdir d; ln -s d/t d/l; ln -s d/l l; mkdir d/d; touch d/d/t
l           ln -s "$PWD/t" l
l           ln -s none/t l
l           ln -s l l
l           touch t; ln -s . d; ln -s d/d/d/t l
l           n=t; touch t; for i in {1..39}; do ln -s $n l$i; n=l$i; done; ln -s $n l
l           n=t; touch t; for i in {1..41}; do ln -s $n l$i; n=l$i; done; ln -s $n l
l           mkdir d; ln -s d l
/dev/null   :
/dev/stdout :
/dev/fd/7   echo first >t; exec 7>>t
/dev/fd/7   :
l           ln -s /proc/self/fd/7 l; exec 7>t
t           mkfifo t; cat t >u &
t           touch .t.2147483646.mcz-tmp .t.0.mcz-tmp .t.99999999999.mcz-tmp .t.1.mcz-tmp
t           touch .t.1234567890.mcz-tmp.old .t.12x.mcz-tmp .t.x.mcz-tmp .t.-1.mcz-tmp .tt.99999.mcz-tmp t.1.mcz-tmp .t..mcz-tmp
t           touch .t.1.mcz-tmp; lock .t.1.mcz-tmp
t           ln -s u .t.99999.mcz-tmp; mkdir .t.99998.mcz-tmp; touch u
t           touch .t.$$.mcz-tmp
t           echo old >t; touch .t.$$.mcz-tmp; lock .t.$$.mcz-tmp
t           mkdir .t.$$.mcz-tmp
t           ln -s u .t.$$.mcz-tmp
l           mkdir d; ln -s d/t l; touch .l.99999.mcz-tmp .t.99999.mcz-tmp d/.t.99999.mcz-tmp
t.[*]       touch '.t.[*].99999.mcz-tmp' .t.x.99999.mcz-tmp
END
digits=$(printf %0255d 0) letters=$(printf 'é%.0s' {1..127})
printf '%s :\n' "$digits" "${digits}0" "a$letters" >>situations # the temporary name of the last one ends inside a letter
printf '%s touch .%s.99999.mcz-tmp\n' "$digits" "${digits:0:200}" "$digits" "${digits:0:199}" >>situations

lock() { exec {locked}>"$1" && flock -n "$locked"; }
leave() { # WRITER NAME COMMANDS: prints what the writer leaves
    local rc=0
    rm -rf work && mkdir work && cd work || exit
    (
        umask 022
        eval "${3//\$\$/\$BASHPID}"
        echo $BASHPID >../pid
        "$1" "$2"
    ) >../stdout 2>../stderr || rc=$?
    wait
    [ $rc = 0 ] || rc=failed # statuses are the programs' own
    echo "$rc $([ ! -s ../stdout ] || echo printed)"
    find . -mindepth 1 -printf '%P %y %m %l\n' | sed "s/\.$(<../pid)\.mcz/.OWN.mcz/" | sort
    grep -raobF $'(\xb5/\xfd' . | sort # where streams start
    cd ..
}
while read -r name commands; do
    for writer in c python; do leave write_$writer "$name" "$commands" >$writer; done
    diff c python || die "'$name' after '$commands': the programs leave the files on the left, mcz.write those on the right ($(<stderr))"
done <situations

# SPDX-License-Identifier: Apache-2.0
# Nothing is lost if standard output or the log is a non-blocking pipe, as some parent processes leave it.
mc-data synth --samples 5 -o d.mcz
mc-train -q -t 1 --net resnet20 --epochs 0 --data d.mcz -o a.mcz
mc-info -v a.mcz >want

cat >late.py <<'END'
import fcntl, os, subprocess, sys, time
r, w = os.pipe()
fcntl.fcntl(w, fcntl.F_SETFL, os.O_WRONLY | os.O_NONBLOCK)
fcntl.fcntl(w, 1031, 4096)  # F_SETPIPE_SZ
run = subprocess.Popen(sys.argv[1:], pass_fds=[w], stdout=w)
os.close(w)
time.sleep(.3)
while part := os.read(r, 1000):
    sys.stdout.buffer.write(part)
sys.exit(run.wait())
END
run_with_slow_reader() { /usr/bin/python3 late.py "$@" >got; }
run_with_slow_reader mc-info -v a.mcz
same got want
[ "$(wc -c <want)" -gt 8192 ] || die 'the text fits into the pipe'
run_with_slow_reader mc-permute --identity a.mcz
mc-permute --identity a.mcz | cmp - got
run_with_slow_reader sh -c 'mc-info -v a.mcz 2>&1 >&2'
same got want
run_with_slow_reader mc-train -q -t 1 --net mlp:3 --no-augment --lr 1e-12 --epochs 99 --data d.mcz --log-json /dev/stdout -o b.mcz
expect_equal "$(grep -c '^{"event":"epoch".*}$' got)" 99
[ "$(wc -c <got)" -gt 8192 ] || die 'the log fits into the pipe'

# SPDX-License-Identifier: Apache-2.0
"""python -m mcz FILE...: whether each is sound, and what is in it."""
import signal
import sys

import mcz

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
status = 0
if {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__)
    sys.exit()
for path in sys.argv[1:] or ["-"]:
    try:
        s = mcz.read(path)
    except (mcz.Error, OSError) as e:
        print("mcz: %s" % e, file=sys.stderr)
        status = 3 if isinstance(e, mcz.Error) else 1
        continue
    print("%s: ok, kind %s, id %s, %d records" % (path, s.kind, s.id, s.records))
    for name, a in s.tensors.items():
        print("  %-8s  %-16s  %s" % (s.dtypes[name], "x".join(map(str, a.shape)) or "scalar", name))
sys.exit(status)

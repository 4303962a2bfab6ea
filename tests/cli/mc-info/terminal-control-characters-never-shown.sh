# SPDX-License-Identifier: Apache-2.0
# mc-info prints numbers as written, never sends control characters to a terminal, also non-ASCII ones, and prints 1 as 1.
py <<'END'
mcz.write("odd.mcz", "test", {"rate": 0.1, "text": "a\u009b2Jb\x7fc\u00e9", "one": [{"k": 1}]}, {"t": np.zeros(1)})
END
mc-info odd.mcz >shown
grep -qx '  rate            0\.1' shown
grep -qx '  text            a 2Jb cé' shown
grep -q ', 1 tensor, 1 record, [0-9]* bytes$' shown
grep -q '(1 item; -v shows them)' shown
mc-info --check odd.mcz | grep -q ', 1 record$'
mc-info --json odd.mcz >shown
grep -qF '"rate":0.1,' shown
grep -qF '"a\u009b2Jb\u007fcé"' shown

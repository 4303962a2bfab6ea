# SPDX-License-Identifier: Apache-2.0
# A report of pam.mk, of robust.mk, which adds to the user's flags, and of a network whose name has HTML and shell characters:
# the page shows them as text, and its command repeats the run.
again() {
    py "$1" "$2" <<'END'
from page import Page
page = Page(sys.argv[1] + "/report.html")
assert page.title.startswith(sys.argv[2] + " on synth"), page.title
open("command", "w").write(page.pre)
END
    bash -eu command >log 2>errors || die "$(cat log errors)"
    expect_equal "$(count_programs)" ''
}
bin=$MC_BUILD/bin # the pages show pictures
fixture pam_graph robust
graph pam DATA_FLAGS='--size 8' CURVE_EPOCHS=2 PERMUTATION_EPOCHS=2 \
    PAM_FLAGS='--outer 2 --permutation-lr 1 --select-images 256' report
again out mlp:bn,16
grep -q '>pam.svg<' out/report.html || die 'no picture'
graph robust TRAIN_IMAGES=256 BATCH=64 OUT=out-robust ATTACK=$attack report
again out-robust mlp:bn,16
name='<b>$x & `net`'"'s \\ <script>alert(1)</script>/<i>&amp; \"my\""
mkdir -p "nets/${name%/*}"
mc-info --graph out/net-1.mcz >"nets/$name.json"
graph connect NET="nets/${name//'$'/'$$'}.json" OUT=hostile DATA_FLAGS='--size 8' EPOCHS=0 CURVE_EPOCHS=0 TRAIN_IMAGES=64 TEST_IMAGES=50 report
again hostile '<i>&amp; "my"'
grep -q '&lt;b&gt;$x &amp;' hostile/report.html || die 'the name is not shown'

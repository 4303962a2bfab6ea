# SPDX-License-Identifier: Apache-2.0
# A permutation step lowers the loss, also on other images, with each rule of acceptance and the defaults.
fixture pam

[ "$(field log.json permutation moved)" != 0 ] || die "no unit moves: $(cat log.json)"
# expect_less LOG X Y: X is less than Y; both are sums of fields of the permutation step
expect_less() {
    local x=0 y=0 f
    for f in $2; do x+=+$(field "$1" permutation $f); done
    for f in $3; do y+=+$(field "$1" permutation $f); done
    awk "BEGIN { exit !($x < $y) }" || die "$2: not less than $3: $(cat "$1")"
}
expect_less log.json loss loss_before
expect_less log.json loss_others loss_others_before
expect_equal "$(field log.json permutation other_images)" 128
both --select-by objective --log-json priced.json -o x.mcz
expect_less priced.json 'loss proximal' loss_before
both --accept joint --log-json joint.json -o x.mcz
expect_less joint.json loss loss_before
expect_equal "$(field joint.json permutation loss_relaxed)" "$(field log.json permutation loss_relaxed)"
[ "$(field joint.json permutation loss)" != "$(field log.json permutation loss)" ]
# --as-paper: options given before or after it take precedence
args() { mc-info "$1" | sed -n 's/.* mc-pam .*\( permutation-lr=[^ ]*\).*\( accept=[^ ]*\) \(select-by=[^ ]*\).*/\1\2 \3/p'; }
both -o plain.mcz && [ "$(args plain.mcz)" = ' permutation-lr=1 accept=groups select-by=loss' ] || die "$(args plain.mcz)"
pam --as-paper --permutation-epochs 1 --epochs 1 n1.mcz n2.mcz -o x.mcz
[ "$(args x.mcz)" = ' permutation-lr=0.01 accept=joint select-by=objective' ] || die "$(args x.mcz)"
both --accept joint --select-by objective --permutation-lr .01 --log-json a.json -o x.mcz
both --permutation-lr .01 --as-paper --log-json b.json -o y.mcz
same x.mcz y.mcz
both --select-by loss --as-paper -o x.mcz
[ "$(args x.mcz)" = ' permutation-lr=1 accept=joint select-by=loss' ] || die "$(args x.mcz)"
# with the defaults units move, and the path improves
pam --stage permutation --permutation-epochs 4 --log-json default.json n1.mcz n2.mcz -o x.mcz
expect_less default.json loss loss_before

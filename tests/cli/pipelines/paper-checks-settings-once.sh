# SPDX-License-Identifier: Apache-2.0
# paper.mk checks the settings of new cases once, and builds each network once for that. If a case's folder
# exists, connect.mk and the first of the other experiments compare its networks with the settings.
mkdir bin
for program in "$MC_BUILD"/bin/*; do
    printf '#!/bin/bash\necho "%s" >>"%s/calls"\nexec "%s" "$@"\n' "${program##*/}" "$TMP" "$program" >"bin/${program##*/}"
done
chmod +x bin/*
# calls SETTING...: the programs that make -n calls, except mc-data
calls() {
    : >calls
    graph paper -n BIN=bin NETS='mlp tinyten' "$@"
    grep -v mc-data calls | sort | uniq -c | tr -s ' \n' ' '
}
expect_equal "$(calls)" ' 3 mc-convert 1 mc-pam '
expect_equal "$(calls SCHEDULE=cosine)" ' 3 mc-convert 1 mc-pam 1 mc-train '
grep -q 'mc-pam ' log || die 'no command of pam.mk'
mkdir -p out/tinyten-synth && cp "$MC_ROOT/formats/samples/good-weights.mcz" out/tinyten-synth/net-1.mcz
expect_equal "$(calls)" ' 5 mc-convert 2 mc-info 3 mc-pam 2 mc-train '

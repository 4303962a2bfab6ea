# SPDX-License-Identifier: Apache-2.0
# paper.mk: figures- and grid- experiments first run connect.mk of the experiment with the same networks, whatever GRAPHS is.

# called SETTING...: the graphs in their order
called() {
    graph paper -n OUT=none "$@"
    { grep -o '/[a-z]*\.mk *OUT=[^ ]*' log || true; } | sed -E 's,/([a-z]*)\.mk *OUT=none/(.*),\2 \1,' | paste -sd ';'
}
expect_equal "$(called PART=grid-mlp-synth GRAPHS=grid)" 'mlp-synth connect;grid-mlp-synth grid'
expect_equal "$(called PART=figures-mlp-synth)" 'mlp-synth connect;figures-mlp-synth connect'
# one after the other if the other experiment is chosen too
for jobs in -j1 -j4; do
    expect_equal "$(called PART='mlp-synth grid-mlp-synth' GRAPHS='planes grid' $jobs | tr ';' '\n' | grep mlp-synth | grep -v grid)" \
        $'mlp-synth connect\nmlp-synth planes'
done
# and not if nothing needs it
expect_equal "$(called PART='mlp-synth figures-mlp-synth' GRAPHS=planes)" 'mlp-synth planes'
[ ! -e none ] || die 'make -n does something'

# SPDX-License-Identifier: Apache-2.0
# paper.mk: figures- and grid- cases first run connect.mk of the case with the same networks, whatever EXPERIMENTS is.

# called SETTING...: the experiments in their order
called() {
    graph paper -n OUT=none "$@"
    { grep -o '/[a-z]*\.mk *OUT=[^ ]*' log || true; } | sed -E 's,/([a-z]*)\.mk *OUT=none/(.*),\2 \1,' | paste -sd ';'
}
expect_equal "$(called PART=grid-mlp-synth EXPERIMENTS=grid)" 'mlp-synth connect;grid-mlp-synth grid'
expect_equal "$(called PART=figures-mlp-synth)" 'mlp-synth connect;figures-mlp-synth connect'
# one after the other if the other case is chosen too
for jobs in -j1 -j4; do
    expect_equal "$(called PART='mlp-synth grid-mlp-synth' EXPERIMENTS='planes grid' $jobs | tr ';' '\n' | grep mlp-synth | grep -v grid)" \
        $'mlp-synth connect\nmlp-synth planes'
done
# and not if nothing needs it
expect_equal "$(called PART='mlp-synth figures-mlp-synth' EXPERIMENTS=planes)" 'mlp-synth planes'
[ ! -e none ] || die 'make -n does something'

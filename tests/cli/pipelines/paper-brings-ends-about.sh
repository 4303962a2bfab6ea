# SPDX-License-Identifier: Apache-2.0
# paper.mk: a part that takes its ends from another has that one's connect made, whole, whatever GRAPHS and GOALS say.

# called SETTING...: the graphs in their order, each with the goals that it gets
called() {
    graph paper -n OUT=none "$@"
    sed -n "s/^echo '== \(.*\): \([a-z]*\)\.mk, .*/\1 \2/p" log | paste -sd ';'
    grep -o '^make .*' log | { grep -o ' none/[^ ]*$' || true; } | paste -sd ';'
}
called PART=grid-mlp-synth GRAPHS=grid | same - <(printf '%s\n' 'mlp-synth connect;grid-mlp-synth grid' '')
called PART=grid-mlp-synth GOALS=1-2/grid.tsv | same - <(printf '%s\n' 'mlp-synth connect;grid-mlp-synth grid' ' none/grid-mlp-synth/1-2/grid.tsv')
called PART=figures-mlp-synth GOALS=table.tsv | same - <(printf '%s\n' 'mlp-synth connect;figures-mlp-synth connect' ' none/figures-mlp-synth/table.tsv')
# one after another where the other part is wanted too
called PART='mlp-synth grid-mlp-synth' GRAPHS='planes grid' | same - <(printf '%s\n' 'mlp-synth connect;mlp-synth planes;grid-mlp-synth grid' '')
# and not where nothing needs it
called PART='mlp-synth figures-mlp-synth' GRAPHS=planes | same - <(printf '%s\n' 'mlp-synth planes' '')

# SPDX-License-Identifier: Apache-2.0
# mc-bound -v prints per layer both spectral norms, and the distance of pre-activations before and after the permutation.
fixture bounded

mc-bound -v n1.mcz n2.mcz m.mcz 2>errors >table
expect_equal "$(grep -c ', distance of pre-activations [0-9.e+-]*$' errors) $(wc -l <errors)" '3 4'
mc-bound -v n1.mcz n2.mcz m.mcz p.mcz 2>errors >table
expect_equal "$(sed -E 's/[0-9.e+-]{5,}/X/g' errors | paste -sd ';')" "$(printf '%s;' \
    'mc-bound: layers.0.linear.weight: spectral norms X and X, distance of pre-activations X, aligned X' \
    'mc-bound: layers.1.linear.weight: spectral norms X and X, distance of pre-activations X, aligned X' \
    'mc-bound: layers.2.linear.weight: spectral norms X and X, distance of pre-activations X, aligned X' \
    'mc-bound: dense.weight: spectral norms X and X' | sed 's/;$//')"

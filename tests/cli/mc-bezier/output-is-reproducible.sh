# SPDX-License-Identifier: Apache-2.0
# mc-bezier writes the same bytes twice, to a pipe or a file; it also trains chains of several control points.
fixture curves

curve | same curve.mcz -
curve --chain --control-points 2 --seed 9 -o chain.mcz
mc-info --check line.mcz curve.mcz chain.mcz

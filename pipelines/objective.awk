# SPDX-License-Identifier: Apache-2.0
#
# From mc-pam's logs, what each outer iteration made of the objective: a row a permutation step or curve step
# that was taken. `objective` is the loss and the weight decay along the path, `proximal` the price of the step;
# `decrease` is what the iteration won beyond its prices, which the theorem has at least 0. others_before and
# others_after are the loss alone, of the previous and of the kept permutation, on images that did not judge them.
#
#   awk -f objective.awk pair=1-2 path=curve-pam-aligned 1-2/curve-pam-aligned.log.json
BEGIN {
    OFS = "\t"
    print "pair", "path", "outer", "before", "relaxed", "residual", "projection", "candidates", "kept", "moved", \
        "proximal_permutation", "after_permutation", "others_before", "others_after", "proximal_curve", "after_curve", "decrease"
}
function field(key,   at) {
    if (!match($0, "\"" key "\":[^,}]*"))
        return ""
    at = RSTART + length(key) + 3
    return substr($0, at, RSTART + RLENGTH - at)
}
function sum(a, b) { return field(a) == "" || field(b) == "" ? "" : field(a) + field(b) }
# a line that a killed run left torn is none
/"event":"permutation".*}$/ {
    relaxed = sum("loss_relaxed", "decay_relaxed")
    residual = field("residual")
    projection = sum("loss_projection", "decay_projection")
    candidates = field("candidates")
    kept = field("kept") + 0 < 1 ? "previous" : field("kept") + 0 < 2 ? "projection" : \
        field("joint") == "0" ? "combination" : "draw"
    others_before = field("loss_others_before")
    others_after = field("loss_others")
    moved = field("moved")
    after = sum("loss", "decay")
}
/"event":"iteration".*}$/ {
    print pair, path, field("outer"), field("q_before"), relaxed, residual, projection, candidates, kept, moved, \
        field("proximal_permutation"), after, others_before, others_after, field("proximal_curve"), sum("loss_curve", "decay_curve"), \
        field("decrease")
    relaxed = residual = projection = candidates = kept = moved = after = others_before = others_after = ""
}

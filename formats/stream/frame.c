/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/stream/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts bound the reader's memory: even the smallest object takes 24 bytes when it is unpacked. A
 * header has room for a graph of MC_MAX_NODES and its tensors. */
const struct mc_bounds_limits mc_limits_header = {
    .bytes = (size_t)5 << 19, .objects = 262144, .depth = 24, .ext = 0};
const struct mc_bounds_limits mc_limits_history = {
    .bytes = (size_t)1 << 20, .objects = 32768, .depth = 8, .ext = 0};
const struct mc_bounds_limits mc_limits_record = {
    .bytes = MC_RECORD_MAX, .objects = 16384, .depth = 2, .ext = 1};

void mc_origin_drop(struct mc_origin *o)
{
    if (o && !--o->refs)
        free(o);
}

void mc_hash_id(XXH128_hash_t h, char id[MC_ID_LEN])
{
    snprintf(id, MC_ID_LEN, "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

int mc_kind_ok(const char *kind)
{
    size_t n = strspn(kind, "abcdefghijklmnopqrstuvwxyz0123456789-_");

    return n && n <= MC_KIND_MAX && !kind[n];
}

/* Commands that make the expected kind; the first row that fits is used. got NULL: any kind. */
static const struct {
    const char *expected, *got, *hint;
} hints[] = {
    {"weights", "curve", "extract weights with mc-bezier --point T --bn-data FILE"},
    {"weights", "checkpoint", "resume its run with --resume to get weights"},
    {"weights", "dataset", "train with mc-train first, or check the order of the operands"},
    {"dataset", NULL, "make one with mc-data"},
    {"moments", "weights", "run mc-acts first"},
    {"moments", "dataset", "run mc-acts first"},
    {"weights", "moments", "check the order of the operands"},
    {"matrices", "permutation", "mc-hungarian already ran"},
    {"moments", "curve",
     "extract weights with mc-bezier --point T --bn-data FILE, then run mc-acts"},
    {"moments", "matrices", "mc-corr already ran"},
    {"activations", "weights", "run mc-acts --raw first"},
    {"activations", "moments", "run mc-acts with --raw"},
    {"matrices", "weights", "run mc-acts and mc-corr first"},
    {"matrices", "moments", "run mc-corr first"},
    {"matrices", "activations", "run mc-corr first"},
    {"permutation", "weights", "run mc-match first, or mc-acts, mc-corr and mc-hungarian"},
    {"permutation", "moments", "run mc-corr and mc-hungarian first"},
    {"permutation", "activations", "run mc-corr and mc-hungarian first"},
    {"permutation", "matrices", "run mc-hungarian first"},
    {"curve", "weights", "run mc-bezier first"},
    {"losses", "weights", "run mc-eval --losses first"},
    {"losses", "curve", "run mc-eval --losses first"},
};

const char *mc_kind_hint(const char *expected, const char *got)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp(hints[i].expected, expected) && (!hints[i].got || !strcmp(hints[i].got, got)))
            return hints[i].hint;
    return "";
}

int mc_stream_tensor_check(const struct mc_tensor *t)
{
    if (mc_tensor_check(t))
        return -1;
    return mc_tensor_row_elems(t) > MC_CUT / mc_dtype_size(t->dtype) ? -1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What reader, writer and history share. */
#include "formats/stream/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An unpacked object takes 24 bytes however small it was: counts bound memory, not bytes. A header
 * has room for a graph of MC_MAX_NODES and its tensors. */
const struct mc_bounds_limits mc_limits_header = {
    .bytes = (size_t)2 << 20, .objects = 262144, .depth = 24, .ext = 0};
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

int mc_stream_tensor_check(const struct mc_tensor *t)
{
    if (mc_tensor_check(t))
        return -1;
    return mc_tensor_row_elems(t) > MC_CUT / mc_dtype_size(t->dtype) ? -1 : 0;
}

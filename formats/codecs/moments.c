/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/moments.h"

#include "formats/codecs/tensors.h"
#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IMAGES ((uint64_t)1 << 40)
#define VERSION 2

#define N_PARTS 5
static const char *const parts[N_PARTS] = {"sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross"};

/* Add the tensors of all taps, at their places in the sums. */
static void sums_layout(struct mc_layout *l, const struct mc_moments *m)
{
    for (size_t i = 0; i < m->taps.n_taps; i++) {
        const struct mc_tap_info *tap = &m->taps.taps[i];
        const uint64_t shape[2] = {tap->count, tap->count};
        mc_layout_slab(l, &m->sums[i], MC_MOMENTS_SIZE(tap->count) * sizeof(double));
        for (size_t j = 0; j < N_PARTS; j++) {
            struct mc_tensor t = mc_tensor_make("", MC_F64, j == N_PARTS - 1 ? 2 : 1, shape);
            snprintf(t.name, sizeof t.name, "%u/%.*s/%s", (unsigned)i, MC_MAX_NODE_NAME - 1,
                     tap->name, parts[j]);
            mc_layout_tensor(l, &t, j * tap->count * sizeof(double));
        }
    }
}

int mc_moments_begin(struct mc_moments *out, const struct mc_taps *taps, struct mc_error *err)
{
    int rc = 0;

    memset(out, 0, sizeof *out);
    out->cut.shards = 1;
    for (size_t i = 0; i < taps->n_taps; i++)
        if (taps->taps[i].count > MC_MAX_MATCHED)
            return mc_fail(err, MC_EINPUT, "tap %s: at most %d units can be matched (got %zu)",
                           taps->taps[i].name, MC_MAX_MATCHED, taps->taps[i].count);
    if ((rc = mc_taps_copy(&out->taps, taps, err)) || (rc = mc_new(&out->sums, taps->n_taps, err)))
        mc_moments_release(out);
    return rc;
}

int mc_moments_room(struct mc_moments *m, size_t tap, struct mc_error *err)
{
    const size_t count = m->taps.taps[tap].count;

    if (!m->sums[tap])
        m->sums[tap] = mc_aligned_zeros(MC_MOMENTS_SIZE(count) * sizeof(double));
    return m->sums[tap] ? 0 : mc_fail(err, MC_ENOMEM, "out of memory: moments of %zu units", count);
}

int mc_moments_init(struct mc_moments *out, const struct mc_taps *taps, struct mc_error *err)
{
    int rc = mc_moments_begin(out, taps, err);

    for (size_t i = 0; i < taps->n_taps && !rc; i++)
        rc = mc_moments_room(out, i, err);
    if (rc)
        mc_moments_release(out);
    return rc;
}

void mc_moments_release(struct mc_moments *m)
{
    for (size_t i = 0; m->sums && i < m->taps.n_taps; i++)
        free(m->sums[i]);
    free(m->sums);
    free(m->merged);
    mc_taps_release(&m->taps);
    memset(m, 0, sizeof *m);
}

uint64_t mc_cut_before(const struct mc_cut *c, uint32_t shard)
{
    const uint64_t n = (c->total + c->batch - 1) / c->batch;
    const uint64_t batches = n / c->shards * shard + n % c->shards * shard / c->shards;

    return batches < n ? batches * c->batch : c->total;
}

static int counted(const struct mc_moments *m, uint32_t shard)
{
    if (m->shard == shard)
        return 1;
    for (size_t i = 0; i < m->n_merged; i++)
        if (m->merged[i] == shard)
            return 1;
    return 0;
}

static const struct mc_key count_keys[] = {
    MC_KEY(struct mc_moments, images, "images", MC_KEY_COUNT, MAX_IMAGES),
    MC_KEY(struct mc_moments, cut.shards, "shards", MC_KEY_COUNT, MC_MAX_SHARDS),
};
static const struct mc_key total_key =
    MC_KEY(struct mc_moments, cut.total, "total", MC_KEY_COUNT, MAX_IMAGES);
static const struct mc_key batch_key =
    MC_KEY(struct mc_moments, cut.batch, "batch", MC_KEY_COUNT, MAX_IMAGES);
static int unpack_shards(struct mc_moments *m, const msgpack_object *meta, struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = mc_get_array(meta, "counted", &a, err);

    if (rc)
        return rc;
    size_t n = a->via.array.size;
    if (n < 1 || n > m->cut.shards)
        return mc_fail(err, MC_EINPUT, "\"counted\" lists %zu of %u shards", n, m->cut.shards);
    if ((rc = mc_new(&m->merged, n, err)))
        return rc;
    for (size_t i = 0; i < n; i++) {
        const msgpack_object *o = &a->via.array.ptr[i];
        if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || o->via.u64 >= m->cut.shards ||
            (i && o->via.u64 <= a->via.array.ptr[i - 1].via.u64))
            return mc_fail(err, MC_EINPUT, "\"counted\" is not an ascending list of shards");
        if (i)
            m->merged[i - 1] = (uint32_t)o->via.u64;
        else
            m->shard = (uint32_t)o->via.u64;
    }
    m->n_merged = n - 1;
    return 0;
}

/* Number of images in the counted shards, by the cut. */
static uint64_t images_of_shards(const struct mc_moments *m)
{
    uint64_t images = 0;

    if (m->cut.shards == 1)
        return m->cut.total;
    for (size_t i = 0; i <= m->n_merged; i++) {
        const uint32_t s = i ? m->merged[i - 1] : m->shard;
        images += mc_cut_before(&m->cut, s + 1) - mc_cut_before(&m->cut, s);
    }
    return images;
}

static int unpack_cut(struct mc_moments *m, const msgpack_object *meta, struct mc_error *err)
{
    uint64_t version = 0;
    int rc = 0;

    if ((rc = mc_get_u64(meta, "version", UINT32_MAX, &version, err)))
        return rc;
    if (version != VERSION)
        return mc_fail(err, MC_EINPUT, "moments of version %llu (this program reads %d)",
                       (unsigned long long)version, VERSION);
    if ((rc = unpack_shards(m, meta, err)) || (rc = mc_keys_unpack(meta, &total_key, 1, m, err)) ||
        (m->cut.shards > 1 && (rc = mc_keys_unpack(meta, &batch_key, 1, m, err))))
        return rc;
    if (!m->cut.total || (m->cut.shards > 1 && !m->cut.batch))
        return mc_fail(err, MC_EINPUT, "\"total\" and \"batch\" must be at least 1");
    const uint64_t images = images_of_shards(m);
    if (m->images != images)
        return mc_fail(err, MC_EINPUT,
                       "\"images\" must be %llu for these shards of %llu (got %llu)",
                       (unsigned long long)images, (unsigned long long)m->cut.total,
                       (unsigned long long)m->images);
    return 0;
}

static int check_sums(const struct mc_moments *m, size_t i, const char *file, struct mc_error *err)
{
    const struct mc_tap_info *tap = &m->taps.taps[i];
    const double *sumsq = m->sums[i] + 2 * tap->count;
    int rc = mc_finite(MC_F64, m->sums[i], MC_MOMENTS_SIZE(tap->count), file, tap->name, err);

    for (size_t k = 0; k < 2 * tap->count && !rc; k++)
        if (sumsq[k] < 0)
            rc = mc_fail(err, MC_EINPUT, "%s: \"%s\" holds a negative sum of squares", file,
                         tap->name);
    return rc;
}

static int check_samples(const struct mc_moments *m, const char *file, struct mc_error *err)
{
    for (size_t i = 0; i < m->taps.n_taps; i++) {
        const struct mc_tap_info *tap = &m->taps.taps[i];
        if (m->images ? !tap->samples || tap->samples % m->images : tap->samples != 0)
            return mc_fail(
                err, MC_EINPUT, "%s: \"%s\" must have a multiple of %llu samples (got %llu)", file,
                tap->name, (unsigned long long)m->images, (unsigned long long)tap->samples);
    }
    return 0;
}

int mc_moments_read(struct mc_moments *out, struct mc_stream from, struct mc_history *h,
                    struct mc_error *err)
{
    struct mc_reader *r = NULL;
    struct mc_layout l = {0};
    int rc = mc_stream_open(&r, from, "moments", h, err);

    memset(out, 0, sizeof *out);
    if (rc)
        goto out;
    const msgpack_object *meta = mc_reader_meta(r);
    if ((rc = mc_taps_unpack(&out->taps, meta, err)) ||
        (rc = mc_keys_unpack(meta, count_keys, 2, out, err)) || (rc = unpack_cut(out, meta, err)) ||
        (rc = mc_conditions_unpack(&out->conditions, meta, err))) {
        mc_fail_in(rc, err, "%s", mc_reader_name(r));
        goto out;
    }
    const size_t n = out->taps.n_taps;
    if ((rc = mc_expect_count(r, n * N_PARTS, err)) ||
        (rc = check_samples(out, mc_reader_name(r), err)) || (rc = mc_new(&out->sums, n, err)))
        goto out;
    sums_layout(&l, out);
    rc = mc_layout_read(&l, r, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = check_sums(out, i, mc_reader_name(r), err);
    for (size_t i = 0; i < 3 && mc_reader_n_inputs(r) == 3; i++)
        snprintf(out->inputs[i], sizeof out->inputs[i], "%s", mc_reader_input(r, i));
out:
    if (rc)
        mc_moments_release(out);
    mc_stream_close(from, r);
    return rc;
}

int mc_moments_write(const struct mc_moments *m, const char *path, const struct mc_history *h,
                     struct mc_error *err)
{
    struct mc_layout l = {0};

    sums_layout(&l, m);
    mc_layout_meta(&l, "moments", 8u + (m->cut.shards > 1) + mc_conditions_count(&m->conditions));
    mc_put_u64(&l.meta, "version", VERSION);
    mc_taps_pack(&m->taps, &l.meta);
    mc_keys_pack(&l.meta, count_keys, 2, m);
    mc_put_array(&l.meta, "counted", 1 + m->n_merged);
    for (uint32_t s = 0; s < m->cut.shards; s++)
        if (counted(m, s))
            mc_pack_u64(&l.meta, s);
    mc_keys_pack(&l.meta, &total_key, 1, m);
    if (m->cut.shards > 1)
        mc_keys_pack(&l.meta, &batch_key, 1, m);
    mc_conditions_pack(&m->conditions, &l.meta);
    return mc_layout_write(&l, path, h, err);
}

static int same_inputs(const struct mc_moments *a, const struct mc_moments *b, struct mc_error *err)
{
    static const char *const names[3] = {"first networks", "second networks", "data sets"};

    for (size_t i = 0; i < 3; i++)
        if (a->inputs[i][0] && b->inputs[i][0] && strcmp(a->inputs[i], b->inputs[i]))
            return mc_fail(err, MC_EINPUT, "moments of different %s", names[i]);
    return 0;
}

static int same_cut(const struct mc_moments *a, const struct mc_moments *b, struct mc_error *err)
{
    const struct mc_cut *x = &a->cut, *y = &b->cut;

    if (x->shards != y->shards)
        return mc_fail(err, MC_EINPUT, "a shard of %u cannot be added to a shard of %u", x->shards,
                       y->shards);
    if (x->total != y->total)
        return mc_fail(err, MC_EINPUT, "shards of runs over %llu and over %llu images",
                       (unsigned long long)x->total, (unsigned long long)y->total);
    if (x->batch != y->batch)
        return mc_fail(err, MC_EINPUT, "shards of different batch sizes (%llu and %llu)",
                       (unsigned long long)x->batch, (unsigned long long)y->batch);
    for (uint32_t s = 0; s < x->shards; s++)
        if (counted(b, s) && counted(a, s)) /* b first: usually one shard */
            return mc_fail(err, MC_EINPUT, "shard %u of %u is repeated", s + 1, x->shards);
    return 0;
}

int mc_moments_add(struct mc_moments *into, const struct mc_moments *m, struct mc_error *err)
{
    int rc = 0;

    if (!mc_taps_same(&into->taps, &m->taps))
        return mc_fail(err, MC_EINPUT, "moments of different architectures or taps");
    if ((rc = same_inputs(into, m, err)) ||
        (rc = mc_conditions_same(&into->conditions, &m->conditions, "moments", err)) ||
        (rc = same_cut(into, m, err)))
        return rc;
    uint32_t *merged =
        realloc(into->merged, (into->n_merged + 1 + m->n_merged) * sizeof *into->merged);
    if (!merged)
        return mc_no_memory(err);
    into->merged = merged;
    into->merged[into->n_merged++] = m->shard;
    for (size_t i = 0; i < m->n_merged; i++)
        into->merged[into->n_merged++] = m->merged[i];
    into->images += m->images;
    for (size_t i = 0; i < m->taps.n_taps; i++) {
        size_t n = MC_MOMENTS_SIZE(m->taps.taps[i].count);
        into->taps.taps[i].samples += m->taps.taps[i].samples;
        for (size_t k = 0; k < n; k++)
            into->sums[i][k] += m->sums[i][k];
    }
    return 0;
}

/* List the missing shards, "2, 5, 6", or as many as fit. */
static void list_missing(char *text, size_t size, const struct mc_moments *m)
{
    size_t used = 0;

    *text = 0;
    for (uint32_t s = 0; s < m->cut.shards; s++)
        if (!counted(m, s)) {
            const int full = used + 16 > size;
            used += (size_t)snprintf(text + used, size - used, full ? ", ..." : "%s%u",
                                     used ? ", " : "", s + 1);
            if (full)
                return;
        }
}

int mc_moments_expect_whole(const struct mc_moments *m, struct mc_error *err)
{
    const size_t missing = m->cut.shards - 1 - m->n_merged;
    char text[96];

    if (missing) {
        list_missing(text, sizeof text, m);
        return mc_fail(err, MC_EINPUT, "shard%s %s of %u %s missing", missing > 1 ? "s" : "", text,
                       m->cut.shards, missing > 1 ? "are" : "is");
    }
    if (m->images != m->cut.total)
        return mc_fail(err, MC_EINPUT, "%llu images expected in all shards, got %llu",
                       (unsigned long long)m->cut.total, (unsigned long long)m->images);
    return 0;
}

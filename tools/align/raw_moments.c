/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw streams, batch by batch through a backend. */
#include "tools/align/raw_moments.h"

#include "kernels/model.h"

#include <stdlib.h>
#include <string.h>

int mc_joint_moments_batch(struct mc_moments *m, struct mc_backend *be,
                           const struct mc_raw_batch *batch, struct mc_error *err)
{
    struct mc_tap_info *t = &m->taps.taps[batch->tap];
    const size_t n = batch->n, hw = batch->hw;
    const size_t size = MC_MOMENTS_SIZE(t->count);
    const size_t bytes = n * t->count * hw * sizeof *batch->a;
    double *sums = malloc(size * sizeof *sums);
    struct mc_buf *d_a, *d_b, *d_sums;
    struct mc_bufs bufs = {.be = be, .rc = sums ? 0 : mc_no_memory(err)};

    mc_bufs_add(&bufs, &d_a, batch->a, bytes, err);
    mc_bufs_add(&bufs, &d_b, batch->b, bytes, err);
    mc_bufs_add(&bufs, &d_sums, NULL, size * sizeof *sums, err);
    int rc = bufs.rc;
    if (!rc && !(rc = be->moments_of(be, n, t->count, hw, d_a, d_b, d_sums, err)))
        rc = be->get(be, d_sums, 0, sums, size * sizeof *sums, err);
    for (size_t i = 0; !rc && i < size; i++)
        m->sums[batch->tap][i] += sums[i];
    if (!rc)
        t->samples += n * hw;
    mc_bufs_release(&bufs);
    free(sums);
    return rc;
}

static int check_shapes(const struct mc_activations_reader *a,
                        const struct mc_activations_reader *b, struct mc_error *err)
{
    const char *name_a = mc_reader_name(a->r);
    const char *name_b = mc_reader_name(b->r);

    if (!mc_taps_same(&a->taps, &b->taps))
        return mc_fail(err, MC_EINPUT, "%s and %s have different layers", name_a, name_b);
    if (a->position.images != b->position.images)
        return mc_fail(err, MC_EINPUT, "%s has %llu images, but %s has %llu", name_a,
                       (unsigned long long)a->position.images, name_b,
                       (unsigned long long)b->position.images);
    return mc_fail_in(mc_conditions_same(&a->conditions, &b->conditions, "activations", err), err,
                      "%s and %s", name_a, name_b);
}

/* Check that both were measured on the same data. Activations record two inputs: the network and
 * the data. */
static int check_data(struct mc_reader *a, struct mc_reader *b, struct mc_error *err)
{
    if (mc_reader_n_inputs(a) == 2 && mc_reader_n_inputs(b) == 2 &&
        strcmp(mc_reader_input(a, 1), mc_reader_input(b, 1)))
        return mc_fail(err, MC_EINPUT, "%s and %s were measured on different data",
                       mc_reader_name(a), mc_reader_name(b));
    return 0;
}

int mc_joint_moments_of_streams(struct mc_moments *out, struct mc_activations_reader *a,
                                struct mc_activations_reader *b, struct mc_backend *be,
                                void (*progress)(void *arg, uint64_t images), void *arg,
                                struct mc_error *err)
{
    uint64_t images = 0;

    memset(out, 0, sizeof *out);
    int rc = check_shapes(a, b, err);
    if (rc)
        return rc;
    if ((rc = mc_moments_begin(out, &a->taps, err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(a->r));
    for (size_t i = 0; i < out->taps.n_taps; i++)
        out->taps.taps[i].samples = 0;
    for (;;) {
        struct mc_raw_batch x = {0}, y = {0};
        int more_a = mc_activations_next(a, &x.tap, &x.n, &x.a, &x.hw, err);
        int more_b = more_a < 0 ? more_a : mc_activations_next(b, &y.tap, &y.n, &x.b, &y.hw, err);

        if (more_b < 0)
            return more_b;
        if (more_a != more_b || x.tap != y.tap || x.n != y.n || x.hw != y.hw)
            return mc_fail(err, MC_EINPUT, "%s and %s have different batches", mc_reader_name(a->r),
                           mc_reader_name(b->r));
        if (!more_a)
            break;
        if ((rc = mc_moments_room(out, x.tap, err)) ||
            (rc = mc_joint_moments_batch(out, be, &x, err)))
            return rc;
        if (x.tap + 1 == out->taps.n_taps)
            images += x.n;
        progress(arg, images);
    }
    out->images = a->position.images;
    out->conditions = a->conditions;
    out->cut.total = out->images;
    return check_data(a->r, b->r, err);
}

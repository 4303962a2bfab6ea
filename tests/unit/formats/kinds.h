/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kind of stream, for tests that treat each alike: make a tiny stream, read a stream with its
 * codec. */
#ifndef KINDS_H
#define KINDS_H

#include "formats/codecs/activations.h"
#include "formats/codecs/checkpoint.h"
#include "formats/codecs/curve.h"
#include "formats/codecs/dataset.h"
#include "formats/codecs/losses.h"
#include "formats/codecs/matrices.h"
#include "formats/codecs/moments.h"
#include "formats/network/permutations.h"
#include "formats/codecs/weights.h"
#include "libcommon/nets/nets.h"

#include <stdlib.h>
#include <string.h>

#define TRY(x)                                                                                     \
    do {                                                                                           \
        if ((rc = (x)))                                                                            \
            goto out;                                                                              \
    } while (0)

/* Set element i of a tensor. */
static inline void put(void *data, enum mc_dtype dtype, size_t i, double v)
{
    switch (dtype) {
    case MC_F32:
        ((float *)data)[i] = (float)v;
        break;
    case MC_F64:
        ((double *)data)[i] = v;
        break;
    case MC_I32:
        ((int32_t *)data)[i] = (int32_t)v;
        break;
    default:
        ((uint8_t *)data)[i] = (uint8_t)v;
    }
}

/* Fixed numbers with few repetitions. */
static inline float nth(size_t i)
{
    return (float)((i * 2654435761u >> 7) % 4096) / 1024.0f - 2.0f;
}

static const struct mc_net_spec tiny_spec = {
    .channels = 1, .height = 2, .width = 2, .classes = 2, .mean = {0.5f}, .std = {0.25f}};

static struct mc_tap_info tiny_tap = {.name = "relu", .count = 3, .samples = 8};
static struct mc_group tiny_group = {.name = "layers.0.linear", .size = 3, .outer = MC_NO_GROUP};
static int32_t tiny_order[3] = {2, 0, 1};
static int32_t *tiny_orders[1] = {tiny_order};

static inline struct mc_taps tiny_taps(void)
{
    return (struct mc_taps){
        .place = "post", .n_groups = 1, .n_taps = 1, .groups = &tiny_group, .taps = &tiny_tap};
}

static inline struct mc_perm tiny_perm(void)
{
    return (struct mc_perm){.n_groups = 1, .groups = &tiny_group, .perm = tiny_orders};
}

static inline int make_dataset(const char *path, const struct mc_history *h, struct mc_error *err)
{
    char *names[2] = {(char[]){"cat"}, (char[]){"dog"}};
    struct mc_dataset_info info = {.name = "tiny",
                                   .split = "train",
                                   .order = "publisher",
                                   .n = 3,
                                   .pixels = MC_U8,
                                   .spec = tiny_spec,
                                   .augment = {.rotate = 15, .flip = 1, .pad = 4},
                                   .class_names = names};
    uint8_t images[12] = {0, 1, 2, 3, 50, 60, 70, 80, 255, 254, 253, 252};
    int32_t labels[3] = {0, 1, 0};
    struct mc_dataset_writer *d = NULL;
    int rc = mc_dataset_create(&d, path, &info, h, err);

    if (!rc)
        rc = mc_dataset_write(d, 3, images, labels, err);
    return mc_dataset_commit(d, rc, NULL, err);
}

static inline int read_dataset(const char *path, struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    const void *images;
    const int32_t *labels;
    size_t got = 1;
    int rc = mc_dataset_open(&d, path, err);

    while (!rc && got)
        rc = mc_dataset_lend(d, 1, &images, &labels, &got, err);
    mc_dataset_close(d);
    return rc;
}

static inline int make_weights(const char *path, const struct mc_history *h, struct mc_error *err)
{
    struct mc_graph *g = NULL;
    struct mc_weights w = {0};
    int rc = 0;

    TRY(mc_net_build(&g, "mlp:bn,3", &tiny_spec, err));
    TRY(mc_weights_init(&w, g, "tiny", err));
    for (size_t i = 0; i < g->n_params; i++)
        for (size_t k = 0; k < g->params[i].count; k++)
            w.params[g->params[i].offset + k] = nth(i + k);
    for (size_t i = 0; i < g->n_stats; i++)
        for (size_t k = 0; k < g->stats[i].count; k++)
            w.stats[g->stats[i].offset + k] = nth(i + k) + 3;
    TRY(mc_weights_write(&w, path, h, err));
out:
    mc_weights_release(&w);
    mc_graph_free(g);
    return rc;
}

static inline int read_weights(const char *path, struct mc_error *err)
{
    struct mc_weights w = {0};
    int rc = mc_weights_read(&w, (struct mc_stream){.path = path}, NULL, err);

    mc_weights_release(&w);
    return rc;
}

static inline int make_curve(const char *path, const struct mc_history *h, struct mc_error *err)
{
    struct mc_graph *g = NULL;
    struct mc_curve c = {0};
    struct mc_perm p = tiny_perm();
    int rc = 0;

    TRY(mc_net_build(&g, "mlp:3", &tiny_spec, err));
    TRY(mc_curve_init(&c, g, MC_CURVE_BEZIER, 3, "tiny", err));
    for (size_t k = 0; k < c.n_points; k++)
        for (size_t i = 0; i < g->n_params; i++)
            for (size_t e = 0; e < g->params[i].count; e++)
                c.points[k][g->params[i].offset + e] = nth(100 * k + i + e);
    c.perm = &p;
    rc = mc_curve_write(&c, path, h, err);
    c.perm = NULL;
out:
    mc_curve_release(&c);
    mc_graph_free(g);
    return rc;
}

static inline int read_curve(const char *path, struct mc_error *err)
{
    struct mc_curve c = {0};
    int rc = mc_curve_read(&c, (struct mc_stream){.path = path}, NULL, err);

    mc_curve_release(&c);
    return rc;
}

static inline int make_permutation(const char *path, const struct mc_history *h,
                                   struct mc_error *err)
{
    struct mc_perm p = tiny_perm();
    struct mc_assignment info = {.value = 1.5, .bound = 1.5, .gap = 0, .n_ties = 1};

    return mc_perm_write(&p, &info, path, h, err);
}

static inline int read_permutation(const char *path, struct mc_error *err)
{
    struct mc_joint_perm j = {0};
    int rc = mc_joint_perm_read(&j, (struct mc_stream){.path = path}, NULL, err);

    mc_joint_perm_release(&j);
    return rc;
}

/* The sums of 8 samples of 3 units of two networks. */
static inline void put_sums(double *sums)
{
    for (size_t n = 0; n < 8; n++)
        for (size_t i = 0; i < 3; i++) {
            const double x = (double)nth(3 * n + i), y = (double)nth(90 + 3 * n + i);
            sums[i] += x;
            sums[3 + i] += y;
            sums[6 + i] += x * x;
            sums[9 + i] += y * y;
            for (size_t j = 0; j < 3; j++)
                sums[12 + 3 * i + j] += x * (double)nth(90 + 3 * n + j);
        }
}

static inline int make_moments(const char *path, const struct mc_history *h, struct mc_error *err)
{
    struct mc_taps taps = tiny_taps();
    struct mc_moments m = {0};
    int rc = mc_moments_init(&m, &taps, err);

    if (!rc) {
        m.images = m.cut.total = 2;
        put_sums(m.sums[0]);
        rc = mc_moments_write(&m, path, h, err);
    }
    mc_moments_release(&m);
    return rc;
}

static inline int read_moments(const char *path, struct mc_error *err)
{
    struct mc_moments m = {0};
    int rc = mc_moments_read(&m, (struct mc_stream){.path = path}, NULL, err);

    mc_moments_release(&m);
    return rc;
}

static inline int make_activations(const char *path, const struct mc_history *h,
                                   struct mc_error *err)
{
    struct mc_taps taps = tiny_taps();
    struct mc_activations_writer *a = NULL;
    int rc = mc_activations_create(
        &a, path,
        &(struct mc_activations_shape){&taps, (const int[][2]){{2, 2}}, 3, 2, {.seed = 0}}, h, err);
    float data[24];

    for (size_t i = 0; i < 24; i++)
        data[i] = nth(i);
    if (!rc)
        rc = mc_activations_write(a, 0, 2, data, err);
    if (!rc)
        rc = mc_activations_write(a, 0, 1, data, err);
    return mc_activations_commit(a, rc, err);
}

static inline int read_activations(const char *path, struct mc_error *err)
{
    struct mc_activations_reader *a = NULL;
    const float *data = NULL;
    size_t tap = 0, n = 0, hw = 0;
    int rc = mc_activations_open(&a, path, err);

    if (!rc)
        while ((rc = mc_activations_next(a, &tap, &n, &data, &hw, err)) == 1)
            ;
    mc_activations_close(a);
    return rc;
}

static inline int make_losses(const char *path, const struct mc_history *h, struct mc_error *err)
{
    double t[2] = {0, 1}, chord[1] = {.5};
    float loss[6];
    uint8_t correct[6];
    struct mc_losses_data data = {
        .name = "test", .id = "none", .images = 3, .loss = loss, .correct = correct};
    struct mc_losses l = {.T = 2, .t = t, .chord = chord, .data = &data, .n_data = 1};

    for (size_t i = 0; i < 6; i++) {
        loss[i] = nth(i) + 2;
        correct[i] = i % 3 == 1;
    }
    return mc_losses_write(&l, path, h, err);
}

static inline int read_losses(const char *path, struct mc_error *err)
{
    struct mc_losses l = {0};
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    if (!rc)
        rc = mc_losses_read_stream(&l, r, NULL, err);
    mc_reader_close(r);
    mc_losses_release(&l);
    return rc;
}

static inline int make_matrices(const char *path, const struct mc_history *h, struct mc_error *err)
{
    double value[9];
    int32_t dead[1] = {1};
    struct mc_matrix matrix = {.n = 3, .value = value, .taps = 1, .dead_b = dead, .n_dead_b = 1};
    struct mc_matrices m = {.measure = "correlation",
                            .place = "post",
                            .groups = &tiny_group,
                            .matrices = &matrix,
                            .n_groups = 1};

    for (size_t i = 0; i < 9; i++)
        value[i] = i % 3 == 1 ? 0 : nth(i) / 2;
    return mc_matrices_write(&m, path, h, err);
}

static inline int read_matrices(const char *path, struct mc_error *err)
{
    struct mc_matrices m = {0};
    int rc = mc_matrices_read(&m, (struct mc_stream){.path = path}, NULL, err);

    mc_matrices_release(&m);
    return rc;
}

static inline void tiny_state(struct mc_checkpoint *s, float *data)
{
    memset(s, 0, sizeof *s);
    s->tool = "mc-train";
    s->settings[0].name = "lr";
    strcpy(s->settings[0].value, "0.1");
    s->n_settings = 1;
    s->vectors[0] = (struct mc_checkpoint_vector){.name = "point", .data = data, .n = 5};
    s->n_vectors = 1;
    s->epoch = 2;
}

static inline int make_checkpoint(const char *path, const struct mc_history *h,
                                  struct mc_error *err)
{
    float data[5] = {1, 2, 3, 4, 5};
    struct mc_checkpoint s;

    (void)h;
    tiny_state(&s, data);
    return mc_checkpoint_write(&s, path, err);
}

static inline int read_checkpoint(const char *path, struct mc_error *err)
{
    float data[5];
    struct mc_checkpoint s;

    tiny_state(&s, data);
    return mc_checkpoint_read(&s, path, err);
}

static const struct kind {
    const char *name;
    int (*make)(const char *path, const struct mc_history *h, struct mc_error *err);
    int (*read)(const char *path, struct mc_error *err);
} kinds[] = {
    {"dataset", make_dataset, read_dataset},    {"weights", make_weights, read_weights},
    {"moments", make_moments, read_moments},    {"activations", make_activations, read_activations},
    {"matrices", make_matrices, read_matrices}, {"permutation", make_permutation, read_permutation},
    {"curve", make_curve, read_curve},          {"checkpoint", make_checkpoint, read_checkpoint},
    {"losses", make_losses, read_losses},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

#undef TRY

#endif

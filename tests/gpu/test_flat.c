/* SPDX-License-Identifier: Apache-2.0
 *
 * A device's other functions, compared with the CPU's: flat vectors, augmented pixels, attacks,
 * joint moments, permutation groups' matrices.
 *
 * If both run the same operations in float32 or float64, the bits must be equal. The CPU may
 * contract sums of float32 products: SUMS. Float64 sums differ in order: DOUBLES. A device's sines
 * and logarithms may differ in the last bit, which may move a pixel to its neighbour: one in two
 * thousand may differ. */
#include "tests/gpu/pair.h"

#include "libcommon/permutation/soft_permutation.h"

#define SUMS 3e-6
#define DOUBLES 1e-12

/* ---- flat vectors ---------------------------------------------------------------------------- */

enum { MAX_TERMS = 40, MARGIN = 3 }; /* floats after the n that must stay unwritten */

static struct mc_buf *random_buf(size_t n, uint32_t purpose)
{
    float *x = floats(n);
    for (size_t i = 0; i < n; i++)
        x[i] = 2 * unit(purpose, (uint32_t)i) - 1;
    return buf(n * sizeof *x, x);
}

static void run_vectors(struct record *r, const void *arg)
{
    const size_t n = *(const size_t *)arg, all = n + MARGIN;
    const struct mc_ctl ctl = {.seed = 1, .row = 2};
    static const size_t terms[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, MAX_TERMS};
    const size_t most = n > 70000 ? 18 : MAX_TERMS;
    struct mc_buf *x[MAX_TERMS], *dst = random_buf(all, 90), *coefs = random_buf(400, 91);
    struct mc_buf *d_ctl = buf(sizeof ctl, &ctl), *acc = buf(3 * sizeof(double), NULL);
    uint32_t *index = room(n, sizeof *index);

    for (size_t j = 0; j < most; j++)
        x[j] = random_buf(all, 100 + (uint32_t)j);
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)((i * 2654435761u + 5) % n);
    struct mc_buf *d_index = buf(n * sizeof *index, index);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        for (size_t k = n == 129 && i == 0 ? 1 : terms[i]; k <= terms[i] && k <= most; k++) {
            be->lincomb(be, n, dst, k, (const struct mc_buf *const *)x, coefs, d_ctl);
            note_floats(r, "lincomb", SUMS, dst, all);
        }
    be->lincomb(be, n, x[1], 2, (const struct mc_buf *const[]){x[0], x[1]}, coefs, d_ctl);
    note_floats(r, "lincomb into a term", SUMS, x[1], all);
    for (int v = 0; v < 4; v++) {
        const struct mc_sgd s = {.p = x[2],
                                 .m = x[3],
                                 .grad = x[4],
                                 .point = x[5],
                                 .lrs = coefs,
                                 .coefs = v & 1 ? coefs : NULL,
                                 .stride = 3,
                                 .k = 2,
                                 .momentum = .9f,
                                 .decay = .01f,
                                 .nesterov = v / 2};
        be->sgd(be, n, &s, d_ctl);
        note_floats(r, "sgd's point", SUMS, x[2], all);
        note_floats(r, "sgd's momentum", SUMS, x[3], all);
    }
    for (size_t slot = 1; slot < 3; slot++)
        be->sumsq(be, n, x[6], .25 * (double)slot, acc, slot);
    be->sumsq(be, n, x[7], 1, acc, 1);
    note_doubles(r, "sumsq", DOUBLES, acc, 3);
    be->gather(be, n, dst, x[8], d_index);
    note_floats(r, "gather", 0, dst, all);
    be->ctl_next(be, d_ctl);
    be->proximal(be, n, x[9], x[10], coefs, .3, d_ctl);
    note_floats(r, "pull", 0, x[9], all);
}

static void flat_vectors(void **state)
{
    static const size_t sizes[] = {1,   2,    15,   16,   17,    127,   128,
                                   129, 1000, 4096, 4097, 65537, 100000};
    const size_t n = sizeof sizes / sizeof *sizes;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        char name[32];
        if (is_slow() && (sizes[i] == 65537 || sizes[i] == 4096))
            continue;
        snprintf(name, sizeof name, "%zu floats", sizes[i]);
        both(name, run_vectors, &sizes[i]);
    }
}

/* More numbers than all blocks have threads, and more than a sum of squares has parts. */
static void run_long(struct record *r, const void *arg)
{
    const size_t n = ((size_t)1 << 23) + 77;
    const struct mc_ctl ctl = {.row = 0};
    const float coefs[2] = {.75f, -3};
    float *x = floats(n);

    (void)arg;
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(i % 1009) / 1009;
    struct mc_buf *a = buf(n * sizeof *x, x), *b = buf(n * sizeof *x, NULL);
    struct mc_buf *d = buf(sizeof coefs, coefs), *c = buf(sizeof ctl, &ctl);
    struct mc_buf *acc = buf(sizeof(double), NULL);
    be->lincomb(be, n, b, 2, (const struct mc_buf *const[]){a, a}, d, c);
    note_floats(r, "lincomb", SUMS, b, n);
    be->sumsq(be, n, a, 1, acc, 0);
    note_doubles(r, "sumsq", DOUBLES, acc, 1);
}

static void long_vectors(void **state)
{
    (void)state;
    both("long vectors", run_long, NULL);
}

/* ---- pixels and attacks ---------------------------------------------------------------------- */

struct image_case {
    int c, h, w, batch, valid, bytes;
    struct mc_augment augment;
    struct mc_ball ball;
};

static struct mc_graph *tiny(int c, int h, int w)
{
    static const float mean[] = {.5f, .4f, .45f, .55f}, std[] = {.25f, .3f, .2f, .35f};
    struct mc_graph *g = mc_graph_new("tiny", c, h, w, 4, mean, std);
    head(g, mc_graph_flatten(g, NULL, 0), 1, 0);
    return finish(g, 0);
}

static void run_pixels(struct record *r, const void *arg)
{
    const struct image_case *n = arg;
    const struct mc_augment *a = &n->augment;
    const struct mc_tap_request tap = {0, 0, (size_t)n->c};
    int32_t samples[64];
    struct fixture f;

    setup_batch(&f, tiny(n->c, n->h, n->w), n->bytes, (size_t)n->batch);
    set_order(&f, n->valid, samples);
    f.source.augment = a;
    f.source.purpose = MC_RNG_AUGMENT;
    f.source.base = 77;
    const size_t floats = f.batch * f.image;
    const int turns = a->rotate > 0 || a->turn > 0 || a->scale > 0;
    const double tolerance = a->contrast > 0 || a->saturation > 0 ? 1e-6 : 0;
    struct mc_plan *p =
        plan(f.g, (struct mc_plan_opts){.batch = f.batch, .taps = &tap, .n_taps = 1});
    struct mc_buf *out = buf(floats * sizeof(float), NULL);
    be->load(p, &f.source, f.d_ctl);
    be->pixels(p, &f.source, f.d_ctl, out);
    note_floats(r, "pixels", tolerance, out, floats)->stray = turns ? floats / 2000 : 0;
    be->output(p, MC_OUT_TAP, 0, out);
    note_floats(r, "loaded", tolerance, out, floats)->stray = turns ? floats / 2000 : 0;
    teardown(&f);
}

static void augmented_pixels(void **state)
{
    static const struct mc_augment all[] = {{0},
                                            {.flip = 1},
                                            {.pad = 3},
                                            {.rotate = 30},
                                            {.turn = 40},
                                            {.scale = .4f},
                                            {.contrast = 1},
                                            {.saturation = 1},
                                            {.contrast = .5f, .saturation = .9f},
                                            {20, 1, 2, 15, .2f, .3f, .6f}};
    static const int shapes[][3] = {{1, 1, 1}, {3, 3, 5}, {1, 9, 7}, {4, 8, 8}, {3, 32, 32}};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            for (int bytes = 0; bytes < 2; bytes++) {
                const struct image_case n = {.c = shapes[i][0],
                                             .h = shapes[i][1],
                                             .w = shapes[i][2],
                                             .batch = k % 2 ? 33 : 5,
                                             .valid = k % 2 ? 21 : 5,
                                             .bytes = bytes,
                                             .augment = all[k]};
                char name[64];
                if (n.c == 4 && (all[k].contrast > 0 || all[k].saturation > 0))
                    continue;
                snprintf(name, sizeof name, "%dx%dx%d, augmentation %zu, %s", n.c, n.h, n.w, k,
                         bytes ? "u8" : "f32");
                both(name, run_pixels, &n);
            }
}

/* Two restarts of three steps. Some numbers of the gradients, and all of one image's, are 0. */
static void run_attack(struct record *r, const void *arg)
{
    const struct image_case *n = arg;
    const double tolerance = n->ball.norm == MC_BALL_LINF ? 0 : 1e-5;
    int32_t samples[64];
    const float none = NAN;
    float worst[64];
    struct fixture f;

    setup_batch(&f, tiny(n->c, n->h, n->w), n->bytes, (size_t)n->batch);
    set_order(&f, n->valid, samples);
    const size_t floats = f.batch * f.image, bytes = floats * sizeof(float);
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.batch = f.batch, .backward = 1});
    struct mc_buf *clean = buf(bytes, NULL), *x = buf(bytes, NULL), *dx = buf(bytes, NULL);
    struct mc_buf *best = buf(bytes, NULL), *loss = buf(f.batch * sizeof(float), NULL);
    for (size_t i = 0; i < f.batch; i++)
        worst[i] = i % 3 ? NAN : 1.3f;
    put(loss, 0, worst, f.batch * sizeof(float));
    float *g = room(1, bytes);
    be->load(p, &f.source, f.d_ctl);
    be->pixels(p, &f.source, f.d_ctl, clean);
    be->copy(be, best, clean, bytes);
    for (uint32_t restart = 0; restart < 2; restart++) {
        struct mc_ball ball = n->ball;
        ball.step = restart ? -ball.step : ball.step;
        be->attack_start(p, &ball, restart, clean, x);
        note_floats(r, "start", tolerance, x, floats);
        for (uint32_t step = 0; step < 3; step++) {
            for (size_t i = 0; i < floats; i++)
                g[i] = i / f.image == 1 || i % 7 == 3 ? 0 : unit(300 + step, (uint32_t)i) - .5f;
            put(dx, 0, g, bytes);
            be->attack_step(p, &ball, clean, dx, x);
            note_floats(r, "step", tolerance, x, floats);
        }
        if (n->valid < n->batch) /* a masked image's gradient must be ignored */
            put(x, bytes - sizeof none, &none, sizeof none);
        be->set_pixels(p, x);
        be->forward(p, MC_MODE_EVAL, f.d_params, f.d_stats, NULL, f.d_ctl);
        be->attack_keep(p, (int)restart, x, loss, best);
        note_floats(r, "best", tolerance, best, floats);
        note_floats(r, "best loss", 1e-5, loss, f.batch);
        be->backward(p, f.d_params, f.d_grad);
        note_floats(r, "gradient", 1e-4, f.d_grad, f.g->P);
    }
    teardown(&f);
}

static void attacks(void **state)
{
    static const int shapes[][3] = {{1, 1, 1}, {3, 3, 5}, {1, 9, 7}, {3, 32, 32}};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int l2 = 0; l2 < 2; l2++) {
            const struct image_case n = {.c = shapes[i][0],
                                         .h = shapes[i][1],
                                         .w = shapes[i][2],
                                         .batch = i % 2 ? 33 : 5,
                                         .valid = i % 2 ? 21 : 4,
                                         .bytes = l2,
                                         .ball = {l2 ? MC_BALL_L2 : MC_BALL_LINF, l2 ? .5f : .03f,
                                                  l2 ? .2f : .01f, MC_RNG_ATTACK}};
            char name[64];
            snprintf(name, sizeof name, "%s attack of %dx%dx%d", l2 ? "l2" : "l-infinity", n.c, n.h,
                     n.w);
            both(name, run_attack, &n);
        }
}

/* ---- joint moments ---------------------------------------------------------------------------
 * of the pixels of two batches, so that both backends sum the same numbers: parts of channels, and
 * enough images to need two conversions to doubles. Also of logits: a masked image has a bias */

static void run_moments(struct record *r, const void *arg)
{
    const struct image_case *n = arg;
    const struct mc_tap_request taps[] = {
        {0, 0, (size_t)n->c}, {0, 1, (size_t)n->c - 1}, {2, 1, 3}};
    const struct mc_augment a = {.flip = 1, .pad = 1};
    int32_t *samples = room((size_t)n->batch, sizeof *samples);
    struct mc_plan *p[2];
    struct fixture f;

    setup_batch(&f, tiny(n->c, n->h, n->w), n->bytes, (size_t)n->batch);
    set_order(&f, n->valid, samples);
    for (int k = 0; k < 2; k++) {
        p[k] = plan(f.g, (struct mc_plan_opts){.batch = f.batch, .taps = taps, .n_taps = 3});
        f.source.augment = k ? &a : NULL;
        be->load(p[k], &f.source, f.d_ctl);
    }
    const struct mc_buf *const params[] = {f.d_params, f.d_params};
    struct mc_buf *const stats[] = {f.d_stats, f.d_stats};
    struct mc_buf *acc[3];
    for (size_t t = 0; t < 3; t++)
        acc[t] = buf(MC_MOMENTS_SIZE(taps[t].count) * sizeof(double), NULL);
    be->moments(p, params, stats, f.d_ctl, acc);
    be->moments((struct mc_plan *[]){p[1], p[0]}, params, stats, f.d_ctl, acc);
    for (size_t t = 0; t < 3; t++)
        note_doubles(r, "moments", t < 2 ? 1e-6 : 1e-4, acc[t], MC_MOMENTS_SIZE(taps[t].count));
    teardown(&f);
}

static void joint_moments(void **state)
{
    static const struct image_case all[] = {
        {.c = 2, .h = 1, .w = 1, .batch = 2, .valid = 1},
        {.c = 3, .h = 9, .w = 7, .batch = 33, .valid = 20, .bytes = 1},
        {.c = 4, .h = 32, .w = 32, .batch = 5, .valid = 5},
        {.c = 3, .h = 64, .w = 64, .batch = 400, .valid = 390, .bytes = 1}};

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        both("moments", run_moments, &all[i]);
}

/* ---- matrices of permutation groups ---------------------------------------------------------- */

static void run_action(struct record *r, const void *arg)
{
    const char *name = arg;
    const struct mc_net_spec spec = {3, 8, 8, 5, {.5f, .4f, .45f}, {.25f, .3f, .2f}};
    struct mc_graph *g = NULL;
    struct mc_symmetry s = {0};
    struct mc_soft_perm *a = NULL;
    struct mc_error err = {0};

    if (strcmp(name, "concat"))
        g = net_of(name, spec);
    else {
        g = mc_graph_new(name, 3, 8, 8, 5, MEAN, STD);
        const struct mc_conv_opts o = {.kernel = 3, .pad = 1, .bias = 1};
        const int x = unit_of(g, 0, 33, o), y = unit_of(g, x, 17, o);
        head(g, mc_graph_flatten(g, NULL, mc_graph_concat(g, NULL, (int[]){x, y}, 2)), 1, 0);
        g = finish(g, 0);
    }
    ok(mc_symmetry_derive(&s, g, &err), &err);
    ok(be->soft_perm_new(be, g, &s, &a, &err), &err);
    const size_t M = mc_soft_perm_layout(&s, NULL), P = g->P;
    struct mc_buf *m = random_buf(M, 400), *theta = random_buf(P, 401), *grad = random_buf(P, 402);
    struct mc_buf *out = random_buf(P, 403), *dm = random_buf(M, 404), *res = buf(8, NULL);
    be->soft_permute(a, m, theta, out);
    note_floats(r, "act", 1e-5, out, P);
    for (int again = 0; again < 2; again++) {
        be->soft_permute_grad(a, m, theta, grad, dm);
        note_floats(r, "soft_permute_grad", 1e-5, dm, M);
    }
    for (size_t sweeps = 0; sweeps < 42; sweeps += 7) {
        const float bad = sweeps % 2 ? -INFINITY : NAN;
        if (sweeps > 27) /* spoils one group, or none */
            put(m, 0, &bad, sizeof bad);
        be->project(a, m, sweeps, res);
        note_floats(r, "project", 1e-6, m, M);
        note_doubles(r, "residual", 1e-9, res, 1)->least = 1e-12;
    }
    be->soft_perm_free(a);
    mc_symmetry_release(&s);
    mc_graph_free(g);
}

static void groups_matrices(void **state)
{
    static const char *const nets[] = {"mlp:3", "mlp:bn,17,64", "mlp:129", "concat"};

    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        both(nets[i], run_action, nets[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_vectors),     cmocka_unit_test(long_vectors),
        cmocka_unit_test(augmented_pixels), cmocka_unit_test(attacks),
        cmocka_unit_test(joint_moments),    cmocka_unit_test(groups_matrices),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kind of node on the device compared with the CPU's, forward and backward in its modes, over
 * channels, sizes, batches and settings, with full batches and with masked images: taps, logits,
 * losses, metrics, gradients, running and re-estimated statistics.
 *
 * A stem of exact numbers (one input per channel, times a power of two) makes the node's input the
 * same bits on both. Operations that only move or compare numbers must then return the same bits,
 * and rounding decides no tie or kink. Other numbers agree to FLOATS of their size or of the root
 * mean square of their kind: float32 sums of up to some thousand terms in another order, a few
 * layers deep. In less precision than float32's, pixels are eighths, so that the node's input is
 * the same bits there too. Operations that only move or compare must then return the same bits,
 * rounded once; other results agree in norm (pair.h).
 *
 * Shapes are those of a list, or with MC_GPU_SHAPES=all every channel count with every size and
 * batch; an emulated device tests part of the list. MC_GPU_KIND names one kind to test. */
#include "tests/gpu/nodes.h"

/* Sums in float64 of float32 numbers, some of which the CPU rounds to float32: SUMS. */
#define FLOATS 1e-4
#define SUMS 5e-6
/* The residue of float32 sums of numbers up to 1 whose true value is 0. After a batch norm of one
 * or two numbers, whose sigma may be sqrt(1e-5), a hundred times as much. */
#define LEAST 5e-6

/* ---- a case ---------------------------------------------------------------------------------- */

static int is_stem(const struct mc_node *n)
{
    return n->op == MC_OP_CONV && !strncmp(n->name, "stem", 4);
}

static void exact_stems(struct fixture *f)
{
    for (int i = 0; i < f->g->n_nodes; i++) {
        const struct mc_node *n = &f->g->nodes[i];
        for (int c = 0; is_stem(n) && c < n->c; c++) {
            float *w = f->params + n->weight.offset + 3 * c;
            w[0] = w[1] = w[2] = 0;
            w[(c + i) % 3] = ldexpf(c % 2 ? -1 : 1, (c + i) % 5 - 3);
            if (n->has_bias)
                f->params[n->bias.offset + (size_t)c] = (float)((c + i) % 7 - 3) / 8;
        }
    }
    put(f->d_params, 0, f->params, f->g->P * sizeof(float));
}

static void exact_pixels(struct fixture *f)
{
    for (size_t i = 0; i < N * f->image; i++)
        f->pixels[i] = rintf(8 * f->pixels[i]) / 8;
    put(f->d_pixels, 0, f->pixels, N * f->image * sizeof(float));
}

/* Returns whether node i's output has the same bits on both backends. */
static int is_exact(const struct mc_graph *g, int i)
{
    const struct mc_node *n = &g->nodes[i];

    if (i == 0 || is_stem(n))
        return 1;
    if (n->op != MC_OP_RELU && n->op != MC_OP_ADD && n->op != MC_OP_CONCAT &&
        n->op != MC_OP_MAXPOOL && n->op != MC_OP_FLATTEN && n->op != MC_OP_DROPOUT)
        return 0;
    if (n->delta > 0)
        return 0;
    for (int k = 0; k < n->n_in; k++)
        if (!is_exact(g, n->in[k]))
            return 0;
    return 1;
}

struct outputs {
    struct mc_buf *any, *dx, *acc, *metrics;
    size_t n_acc;
    double least;
};

static void note_forward(struct record *r, struct fixture *f, struct mc_plan *p,
                         const struct mc_tap_request *taps, size_t n_taps, struct outputs *o)
{
    const size_t rows = f->batch;

    for (size_t t = 0; t < n_taps; t++) {
        const struct mc_node *n = &f->g->nodes[taps[t].node];
        be->output(p, MC_OUT_TAP, t, o->any);
        note_floats(r, n->name, is_exact(f->g, taps[t].node) ? 0 : FLOATS, o->any,
                    rows * (size_t)n->c * (size_t)(n->h * n->w))
            ->least = is_exact(f->g, taps[t].node) ? 0 : o->least;
    }
    be->output(p, MC_OUT_LOGITS, 0, o->any);
    note_floats(r, "logits", FLOATS, o->any, rows * 5);
    be->output(p, MC_OUT_LOSS, 0, o->any);
    note_floats(r, "loss", FLOATS, o->any, rows);
    be->output(p, MC_OUT_CORRECT, 0, o->any);
    struct set *correct = note_floats(r, "correct", 0, o->any, rows);
    correct->stray = within(0) > 0 ? 1 + rows / 8 : 0; /* rounding decides between equal logits */
    be->zero(be, o->metrics);
    be->metrics(p, o->metrics);
    be->metrics(p, o->metrics);
    note_doubles(r, "metrics", FLOATS, o->metrics, MC_N_METRICS)->each = 1;
    struct set *images = note(r, "images", 0, 1);
    fetch(o->metrics, images->x, sizeof *images->x);
}

static void note_backward(struct record *r, struct fixture *f, struct mc_plan *p, struct outputs *o)
{
    static const float other = 7;

    put(f->d_grad, 0, &other, sizeof other);
    be->backward(p, f->d_params, f->d_grad);
    for (size_t t = 0; t < f->g->n_params; t++) {
        const struct mc_param *q = &f->g->params[t];
        struct set *a = note(r, q->tensor.name, FLOATS, q->count);
        float *x = floats(q->count);
        get(f->d_grad, q->offset * sizeof *x, x, q->count * sizeof *x);
        for (size_t i = 0; i < q->count; i++)
            a->x[i] = (double)x[i];
        a->least = o->least;
    }
    be->input_grad(p, o->dx);
    note_floats(r, "pixels' gradient", FLOATS, o->dx, f->batch * f->image)->least = o->least;
}

static void one_mode(struct record *r, struct fixture *f, struct mc_plan *p, enum mc_mode mode,
                     const struct mc_tap_request *taps, size_t n_taps, int backward,
                     struct outputs *o)
{
    be->zero(be, o->acc);
    be->load(p, &f->source, f->d_ctl);
    be->forward(p, mode, f->d_params, f->d_stats, o->acc, f->d_ctl);
    note_forward(r, f, p, taps, n_taps, o);
    if (backward)
        note_backward(r, f, p, o);
    if (!f->g->S)
        return;
    note_floats(r, "statistics", SUMS, f->d_stats, f->g->S);
    if (mode == MC_MODE_REESTIMATE) {
        note_doubles(r, "re-estimation", SUMS, o->acc, o->n_acc);
        be->reestimate(be, f->g, o->acc, f->d_stats);
        note_floats(r, "re-estimated statistics", 10 * SUMS, f->d_stats, f->g->S);
    }
    put(f->d_stats, 0, f->stats, f->g->S * sizeof(float));
}

/* Returns whether the backward pass is tested in this mode. Batch norm's depends only on whether
 * the forward pass used the batch's statistics, so a slow device tests it after a training and an
 * evaluation. */
static int has_own_backward(const struct family *f, enum mc_mode mode)
{
    return !is_slow() || f->modes != ALL_MODES || mode == MC_MODE_TRAIN || mode == MC_MODE_EVAL;
}

static void run_node(struct record *r, const void *arg)
{
    const struct node_case *n = arg;
    const int batch = n->shape.batch, masked = batch - (batch + 2) / 3;
    int32_t *samples = room((size_t)batch, sizeof *samples);
    struct fixture f;
    size_t n_taps = 0, most = 0;

    setup_batch(&f, build(n), n->variant % 2 && !(within(0) > 0), (size_t)batch);
    if (within(0) > 0)
        exact_pixels(&f);
    exact_stems(&f);
    struct mc_tap_request *taps = room((size_t)f.g->n_nodes, sizeof *taps);
    for (int i = 0; i < f.g->n_nodes; i++) {
        const struct mc_node *m = &f.g->nodes[i];
        const size_t floats = (size_t)batch * (size_t)m->c * (size_t)(m->h * m->w);
        if (m->op != MC_OP_LOSS)
            taps[n_taps++] = (struct mc_tap_request){i, 0, (size_t)m->c};
        most = m->op != MC_OP_LOSS && floats > most ? floats : most;
    }
    struct outputs o = {.n_acc = MC_REESTIMATE_SIZE(f.g->S)};
    o.any = buf(most * sizeof(float), NULL);
    o.dx = buf((size_t)batch * f.image * sizeof(float), NULL);
    o.acc = buf(o.n_acc * sizeof(double), NULL);
    o.metrics = buf(MC_N_METRICS * sizeof(double), NULL);
    for (int tapped = 0; tapped < 2; tapped++) { /* tapped nodes are fused less */
        const struct mc_plan_opts opts = {.batch = (size_t)batch,
                                          .backward = 1,
                                          .input_grad = 1,
                                          .train_only =
                                              n->family->train_only && !(tapped && batch > 2),
                                          .taps = taps,
                                          .n_taps = tapped ? n_taps : 0};
        struct mc_plan *p = plan(f.g, opts);
        for (int full = is_slow() && masked > 0 ? 0 : 1; full >= 0; full--) {
            set_order(&f, full ? batch : masked, samples);
            o.least = (full ? batch : masked) * n->shape.h * n->shape.w > 2 ? LEAST : 100 * LEAST;
            for (enum mc_mode mode = MC_MODE_TRAIN; mode <= MC_MODE_EVAL; mode++)
                if (n->family->modes >> mode & 1)
                    one_mode(r, &f, p, mode, taps, opts.n_taps, has_own_backward(n->family, mode),
                             &o);
        }
    }
    teardown(&f);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Returns 0 if the case does not exist. */
static int check(const struct family *f, const struct shape *s, int variant)
{
    const struct node_case n = {f, *s, variant};
    char name[96];
    struct mc_graph *g = build(&n);

    /* a batch norm of few numbers magnifies earlier rounding errors */
    if (g && within(0) > 0 && g->S && s->batch * s->h * s->w < 64) {
        mc_graph_free(g);
        return 0;
    }
    if (!g)
        return 0;
    snprintf(name, sizeof name, "%s %d of %dx%dx%d, batch %d", f->name, variant, s->c, s->h, s->w,
             s->batch);
    const struct mc_plan_opts opts = {
        .batch = (size_t)s->batch, .backward = 1, .input_grad = 1, .train_only = f->train_only};
    struct mc_error err = {0};
    struct mc_plan *plan = NULL;
    /* A device that cannot make a plan fails this case only. The emulation makes every plan. */
    if (!on_emulation() && cuda->plan_new(cuda, g, &opts, &plan, &err))
        differs("%s: %s", name, err.text);
    else
        both_counted(name, run_node, &n);
    if (plan)
        cuda->plan_free(plan);
    mc_graph_free(g);
    return 1;
}

/* Each channel count, size and batch, and enough of one channel for sums in several parts,
 * or rows for several tiles. */
static const struct shape listed[] = {{1, 1, 1, 1},   {2, 3, 5, 2},  {3, 8, 8, 5},   {5, 9, 7, 2},
                                      {16, 3, 5, 5},  {17, 9, 7, 2}, {33, 8, 8, 1},  {64, 3, 5, 2},
                                      {5, 3, 5, 33},  {33, 1, 1, 5}, {2, 32, 32, 5}, {160, 3, 5, 2},
                                      {24, 20, 20, 3}};

/* Returns whether variant v is tested on shape i of the list. `few` selects a quarter of the pairs,
 * a slow device half of those without batch norm. */
static int is_sampled(const struct family *f, size_t i, size_t v, int few)
{
    if (few) /* a convolution's variants of one kernel meet different shapes */
        return (i + v + v / 8) % 4 == 0;
    if (!is_slow())
        return 1;
    /* A residual block of 160 channels takes minutes and adds nothing: its activations are channels
     * first, where a tile has one channel at any count, and the convolutions have several tiles. */
    if (f->build == residual)
        return listed[i].c <= 64;
    return f->modes == ALL_MODES || f->variants == 1 || (i / 2 + v) % 2 == 0;
}

static void sweep(const struct family *f)
{
    static const int channels[] = {1, 2, 3, 5, 16, 17, 33, 64}, batches[] = {1, 2, 5, 33};
    static const int sizes[][2] = {{1, 1}, {3, 5}, {8, 8}, {9, 7}, {32, 32}};
    const char *shapes = getenv("MC_GPU_SHAPES");
    const int all = shapes && !strcmp(shapes, "all"),
              few = (is_slow() || (shapes && !strcmp(shapes, "few"))) &&
                    (f->variants > 8 || within(0) > 0);
    int cases = 0;

    worst_error = n_off = 0;
    for (int v = 0; v < f->variants; v++) {
        for (size_t i = 0; !all && i < sizeof listed / sizeof *listed; i++)
            if (is_sampled(f, i, (size_t)v, few))
                cases += check(f, &listed[i], v);
        for (int i = 0; all && i < 8 * 5 * 4; i++) {
            const struct shape s = {channels[i / 20], sizes[i / 4 % 5][0], sizes[i / 4 % 5][1],
                                    batches[i % 4]};
            cases += check(f, &s, v);
        }
    }
    assert_true(cases > 0);
    print_message("%s: %d variants, %d cases, worst error %.2f of its bound, %u differ\n", f->name,
                  f->variants, cases, worst_error, n_off);
    assert_int_equal(n_off, 0);
}

static void every_kind_of_node(void **state)
{
    sweep(*state);
}

int main(void)
{
    enum { KINDS = sizeof families / sizeof *families };
    struct CMUnitTest tests[KINDS];
    const char *only = getenv("MC_GPU_KIND");
    size_t n = 0;

    for (size_t i = 0; i < KINDS; i++)
        if (!only || !strcmp(only, families[i].name))
            tests[n++] = (struct CMUnitTest){.name = families[i].name,
                                             .test_func = every_kind_of_node,
                                             .initial_state = (void *)(uintptr_t)&families[i]};
    if (!n) {
        fprintf(stderr, "test_kernels: MC_GPU_KIND: unknown kind '%s'\n", only);
        return 2;
    }
    return _cmocka_run_group_tests("kernels", tests, n, open_both, close_both);
}

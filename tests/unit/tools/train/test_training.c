/* SPDX-License-Identifier: Apache-2.0
 *
 * The training loop's numbers: a few steps of a network, a Bezier curve and a chain against the
 * same steps in float64. Covers sample order, t of a batch, learning rates, momentum, weight decay,
 * Huber's delta, augmentation, the short last batch, and reports of epochs. Also a resumed run
 * against an uninterrupted one. */
#include "tests/unit/kernels/naive.h"

#include "formats/codecs/curve.h"
#include "tests/unit/tools/train/training.h"

/* ---- training ---- */

/* A network, or a curve of k points, with its options. */
struct job {
    const char *net;
    size_t k;
    enum mc_curve_kind kind;
    float huber; /* the network's own Huber delta */
    struct mc_train_options o;
};

static float *copy_of(const float *x, size_t n)
{
    float *y = naive_alloc(n, sizeof *y);

    memcpy(y, x, n * sizeof *y);
    return y;
}

static struct outcome run(const struct job *j, const struct mc_graph *g, struct mc_in_memory *data)
{
    struct outcome u = {.n_epochs = 0};
    struct mc_weights w = {0};
    struct mc_curve c = {0};
    struct mc_curve_objective l;

    if (j->k == 1) {
        must(mc_weights_init(&w, g, "test", &why));
        init_point(g, 0, w.params);
        for (size_t i = 0; i < g->S; i++)
            w.stats[i] = .5f;
        mc_curve_objective_network(&l, &w);
    } else {
        must(mc_curve_init(&c, g, j->kind, j->k, "test", &why));
        for (size_t i = 0; i < j->k; i++)
            init_point(g, (uint32_t)i, c.points[i]);
        mc_curve_objective_curve(&l, &c);
    }
    must(run_job(be, g, data, &l.objective, &j->o, record_epoch, &u, &why));
    for (size_t i = 0; i < j->k; i++)
        u.points[i] = copy_of(j->k == 1 ? w.params : c.points[i], g->P);
    if (j->k == 1) {
        u.stats = copy_of(w.stats, g->S);
        mc_weights_release(&w);
    } else {
        mc_curve_release(&c);
    }
    return u;
}

static void release(struct outcome *u)
{
    for (size_t i = 0; i < MAX_K; i++)
        free(u->points[i]);
    free(u->stats);
}

/* ---- float64 reference ---- */

struct reference {
    const struct job *j;
    const struct mc_graph *g;
    double *p[MAX_K], *m[MAX_K]; /* points and their momenta */
    double *stats;
    float *theta;
    struct naive v;
};

static void picture(const struct job *j, uint64_t epoch, int32_t sample, double *out)
{
    naive_picture(C, H, W, pixels + sample * IMAGE, j->o.augment,
                  mc_rng(j->o.seed, MC_RNG_AUGMENT, (uint32_t)epoch, (uint32_t)sample, 0), out);
}

/* Fisher-Yates from the last sample down. */
static void shuffle(const struct job *j, uint64_t epoch, int32_t *order)
{
    for (int32_t i = 0; i < STEPS * B; i++)
        order[i] = i < N ? i : -1;
    for (uint32_t i = N - 1; i > 0; i--) {
        const struct mc_rng4 r = mc_rng(j->o.seed, MC_RNG_SHUFFLE, (uint32_t)epoch, i, 0);
        const uint32_t k = mc_rng_below(r.v[0], i + 1);
        const int32_t t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}

/* Bernstein polynomials of degree 2, or hat functions. */
static void weights_at(const struct job *j, uint64_t epoch, uint64_t step, double *coef)
{
    const struct mc_rng4 r = mc_rng(j->o.seed, MC_RNG_CURVE_T, (uint32_t)epoch, (uint32_t)step, 0);
    const double t = (double)mc_rng_unit(r.v[0]);

    if (j->k == 1) {
        coef[0] = 1;
    } else if (j->kind == MC_CURVE_BEZIER) {
        assert_int_equal(j->k, 3);
        coef[0] = (1 - t) * (1 - t);
        coef[1] = 2 * t * (1 - t);
        coef[2] = t * t;
    } else {
        for (size_t i = 0; i < j->k; i++)
            coef[i] = fmax(0, 1 - fabs(t * (double)(j->k - 1) - (double)i));
    }
}

static int right_answers(const struct naive *v)
{
    int n = 0;

    for (int b = 0; b < v->valid; b++) {
        const double *x = v->out[v->g->logits] + b * CLASSES;
        int best = 0;
        for (int c = 1; c < CLASSES; c++)
            best = x[c] > x[best] ? c : best;
        n += best == v->labels[b];
    }
    return n;
}

static void track(struct reference *r)
{
    for (int i = 0; i < r->g->n_nodes; i++) {
        const struct mc_node *n = &r->g->nodes[i];
        const double count = (double)r->v.valid * n->h * n->w, w = (double)n->momentum;
        if (n->op != MC_OP_BATCHNORM)
            continue;
        for (size_t c = 0; c < (size_t)n->c; c++) {
            double *mean = &r->stats[n->running_mean.offset + c];
            double *var = &r->stats[n->running_var.offset + c];
            *mean += w * (r->v.mean[i][c] - *mean);
            *var += w * (r->v.var[i][c] * count / (count - 1) - *var);
        }
    }
}

static void descend(struct reference *r, double lr, const double *coef, const double *theta)
{
    const struct mc_train_options *o = &r->j->o;
    const size_t first = r->j->k > 1, last = r->j->k > 1 ? r->j->k - 2 : 0; /* the trained points */

    for (size_t i = first; i <= last; i++)
        for (size_t q = 0; q < r->g->P; q++) {
            const double d = coef[i] * (r->v.dparams[q] + o->decay * theta[q]);
            r->m[i][q] = o->momentum * r->m[i][q] + d;
            r->p[i][q] -= lr * (o->nesterov ? d + o->momentum * r->m[i][q] : r->m[i][q]);
        }
}

static struct mc_train_epoch refer_epoch(struct reference *r, uint64_t epoch)
{
    const struct job *j = r->j;
    struct mc_train_epoch e = {.epoch = epoch + 1, .epochs = EPOCHS, .images = N};
    double *theta = naive_alloc(r->g->P, sizeof *theta);
    double batch[B * IMAGE], coef[MAX_K];
    int32_t order[STEPS * B], answers[B];

    shuffle(j, epoch, order);
    for (uint64_t s = 0; s < STEPS; s++) {
        const int32_t *samples = order + s * B;
        memset(batch, 0, sizeof batch);
        r->v.valid = 0;
        for (int b = 0; b < B && samples[b] >= 0; b++) {
            picture(j, epoch, samples[b], batch + b * IMAGE);
            answers[b] = labels[samples[b]];
            r->v.valid++;
        }
        weights_at(j, epoch, s, coef);
        for (size_t q = 0; q < r->g->P; q++) {
            theta[q] = 0;
            for (size_t i = 0; i < j->k; i++)
                theta[q] += coef[i] * r->p[i][q];
            r->theta[q] = (float)theta[q];
            e.decay += .5 * j->o.decay * theta[q] * theta[q] / STEPS;
        }
        r->v.samples = samples;
        r->v.labels = answers;
        r->v.params = r->theta;
        naive_run(&r->v, batch);
        for (int b = 0; b < r->v.valid; b++)
            e.loss += r->v.loss[b] / N;
        e.accuracy += right_answers(&r->v) / (double)N;
        track(r);
        e.lr = mc_train_lr(&j->o, epoch, s, STEPS);
        descend(r, e.lr, coef, theta);
    }
    e.objective = e.loss + e.decay;
    free(theta);
    return e;
}

/* Check |got - want| relative to the distance covered by the run. */
static void check_vector(const char *name, const float *got, const double *want, const float *start,
                         size_t n)
{
    double diff = 0, distance = 0;

    for (size_t i = 0; i < n; i++) {
        diff += pow((double)got[i] - want[i], 2);
        distance += pow(want[i] - (double)start[i], 2);
    }
    assert_true(distance > 1e-4);
    if (!(sqrt(diff) <= 1e-4 * sqrt(distance)))
        fail_msg("%s: off by %g after moving by %g", name, sqrt(diff), sqrt(distance));
}

static void same_number(const char *name, uint64_t epoch, double got, double want)
{
    if (!(fabs(got - want) <= 1e-5 * fabs(want)))
        fail_msg("%s of epoch %llu: %.9g, expected %.9g", name, (unsigned long long)epoch, got,
                 want);
}

static void check_epoch(const struct mc_train_epoch *got, const struct mc_train_epoch *want)
{
    assert_int_equal(got->epoch, want->epoch);
    assert_int_equal(got->epochs, want->epochs);
    assert_int_equal(got->images, want->images);
    same_number("loss", want->epoch, got->loss, want->loss);
    same_number("objective", want->epoch, got->objective, want->objective);
    same_number("decay", want->epoch, got->decay, want->decay);
    same_number("accuracy", want->epoch, got->accuracy, want->accuracy);
    same_number("lr", want->epoch, got->lr, want->lr);
    assert_true(got->seconds > 0);
}

static void check(const struct job *j)
{
    struct mc_in_memory data = data_set();
    struct mc_graph *g = network(j->net), *rounded = mc_graph_copy(g);
    mc_graph_huber(g, j->huber);
    struct outcome u = run(j, g, &data);
    struct reference r = {.j = j, .g = rounded};
    float *start = naive_alloc(g->P, sizeof *start);
    float *start_stats = naive_alloc(g->S, sizeof *start_stats);

    assert_non_null(rounded);
    mc_graph_huber(rounded, j->o.huber > 0 ? (float)j->o.huber : j->huber);
    naive_init(&r.v, rounded, B);
    r.v.mode = MC_MODE_TRAIN;
    r.theta = naive_alloc(g->P, sizeof *r.theta);
    r.stats = naive_alloc(g->S, sizeof *r.stats);
    for (size_t i = 0; i < g->S; i++)
        r.stats[i] = .5;
    for (size_t i = 0; i < j->k; i++) {
        r.p[i] = naive_alloc(g->P, sizeof(double));
        r.m[i] = naive_alloc(g->P, sizeof(double));
        init_point(g, (uint32_t)i, start);
        for (size_t q = 0; q < g->P; q++)
            r.p[i][q] = (double)start[q];
    }
    assert_int_equal(u.n_epochs, EPOCHS);
    for (uint64_t e = 0; e < EPOCHS; e++) {
        const struct mc_train_epoch want = refer_epoch(&r, e);
        check_epoch(&u.epochs[e], &want);
    }
    for (size_t i = 0; i < j->k; i++) {
        init_point(g, (uint32_t)i, start);
        if (j->k > 1 && (i == 0 || i == j->k - 1))
            assert_memory_equal(u.points[i], start, g->P * sizeof *start);
        else
            check_vector("parameters", u.points[i], r.p[i], start, g->P);
        free(r.p[i]);
        free(r.m[i]);
    }
    for (size_t i = 0; i < g->S; i++)
        start_stats[i] = .5f;
    if (j->k == 1 && g->S)
        check_vector("statistics", u.stats, r.stats, start_stats, g->S);
    naive_release(&r.v);
    free(r.theta);
    free(r.stats);
    free(start);
    free(start_stats);
    release(&u);
    mc_graph_free(g);
    mc_graph_free(rounded);
    mc_in_memory_release(&data, be);
}

/* With and without Nesterov momentum, with and without a Huber delta. */
static void check_variants(struct job j)
{
    for (int nesterov = 0; nesterov < 2; nesterov++)
        for (int huber = 0; huber < 2; huber++) {
            j.o = options(nesterov, huber * .7);
            check(&j);
        }
}

TEST(network_steps_agree_with_float64)
{
    check_variants((struct job){.net = "mlp:7,5", .k = 1});
}

TEST(batch_norm_statistics_are_tracked)
{
    check_variants((struct job){.net = "mlp:bn,7", .k = 1});
}

TEST(curve_steps_agree_with_float64)
{
    check_variants((struct job){.net = "mlp:7,5", .k = 3, .kind = MC_CURVE_BEZIER});
}

TEST(chain_steps_agree_with_float64)
{
    check_variants((struct job){.net = "mlp:7,5", .k = 4, .kind = MC_CURVE_CHAIN});
}

TEST(network_keeps_its_own_huber_delta)
{
    struct job j = {.net = "mlp:7,5", .k = 1, .huber = .4f, .o = options(1, 0)};

    check(&j);
    j.o.huber = .7;
    check(&j);
}

TEST(augmented_steps_agree_with_float64)
{
    struct job j = {.net = "mlp:7,5", .k = 1, .o = options(1, 0)};

    j.o.augment = 1;
    check(&j);
    j.k = 3;
    check(&j);
}

TEST(steps_follow_the_schedule)
{
    struct job j = {.net = "mlp:7,5", .k = 1, .o = options(1, 0)};

    j.o.schedule = MC_SCHEDULE_STEP;
    check(&j);
    j.o.schedule = MC_SCHEDULE_ONECYCLE;
    check(&j);
}

/* ---- resuming ---- */

static void check_resume(struct job j)
{
    struct mc_in_memory data = data_set();
    struct mc_graph *g = network(j.net);
    struct outcome whole = run(&j, g, &data), part, rest;

    j.o.checkpoint = file;
    j.o.stop_after = 1;
    part = run(&j, g, &data);
    j.o.stop_after = 0;
    j.o.resume = 1;
    rest = run(&j, g, &data);
    assert_int_equal(unlink(file), 0);

    assert_int_equal(part.n_epochs, 1);
    assert_int_equal(rest.n_epochs, EPOCHS);
    /* an epoch of the first run is reported, not repeated */
    assert_true(rest.epochs[0].seconds == 0 && rest.epochs[1].seconds > 0);
    for (size_t e = 0; e < EPOCHS; e++) {
        whole.epochs[e].seconds = rest.epochs[e].seconds = part.epochs[e].seconds = 0;
        assert_memory_equal(&rest.epochs[e], &whole.epochs[e], sizeof whole.epochs[e]);
    }
    assert_memory_equal(&part.epochs[0], &whole.epochs[0], sizeof whole.epochs[0]);
    for (size_t i = 0; i < j.k; i++)
        assert_memory_equal(rest.points[i], whole.points[i], g->P * sizeof(float));
    const size_t trained = j.k > 1; /* a trained point */
    assert_memory_not_equal(part.points[trained], whole.points[trained], g->P * sizeof(float));
    if (j.k == 1 && g->S)
        assert_memory_equal(rest.stats, whole.stats, g->S * sizeof(float));
    release(&whole);
    release(&part);
    release(&rest);
    mc_graph_free(g);
    mc_in_memory_release(&data, be);
}

TEST(resumed_runs_end_in_the_same_bytes)
{
    struct job j = {.net = "mlp:bn,7", .k = 1, .o = options(1, .7)};

    j.o.augment = 1;
    check_resume(j);
    j.k = 3;
    check_resume(j);
    j.k = 4;
    j.kind = MC_CURVE_CHAIN;
    check_resume(j);
}

int main(void)
{
    return run_entered(start_backend, stop_backend);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Times cuDNN's engines for every convolution of the given networks on a device, and prints the
 * device's lines of kernels/cuda/plans.tsv. The first line is the fastest engine whose sums have a
 * fixed order, but the untuned choice unless another is faster by a twentieth. A second line is an
 * engine with sums in any order, if it is faster than the first by a twentieth. An engine without
 * notes counts as fixed-order if it returns the same bytes every time and, in float32, the numbers
 * of an engine with notes.
 *
 *     tune device precision repeats batch net:HEIGHTxWIDTH...
 *
 * With 0 repeats nothing is timed: the lines are a plan's choices, by the table in the file $TABLE
 * if it is set. Buffers hold random numbers; no network runs. Calls are captured once and
 * replayed, as steps are, so that the device's time counts and not the host's. Repeats are
 * interleaved, and the minimum counts. An engine that is far slower than the fastest is timed once.
 *
 * Preparing engines takes much longer than timing them. If $TUNE_LOCK names a file, processes that
 * share it prepare engines side by side and time them in turn. If $TUNE_MISSING is set, only
 * shapes and passes without a line in the committed table are timed. */
#include "tests/gpu/passes.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <unistd.h>

enum { CALLS = 16, MAX_CALLS = 2 * CUDA_MAX_ENGINES }; /* calls per reading; engines of a pass */
#define NOT_TIMED 1e9                                  /* seconds */
#define FAR_SLOWER 3

struct task {
    struct cuda *be;
    int repeats, batch;
    int lock; /* a file's descriptor, or -1 */
};

struct buffers {
    struct mc_buf *x, *y, *w, *work;
};

/* One engine's calls. */
struct call {
    struct cuda_conv *conv; /* NULL: the engine does not support the shape */
    int pass;
    const struct buffers *b;
    struct mc_capture *saved;
    double least;
    int slow, examined; /* far slower than the fastest; its order of sums was examined */
};

/* Numbers from 1/2 to 1 of either sign: zeros would need less power, so less time. */
static struct mc_buf *random_buf(struct cuda *be, enum cuda_type type, size_t n)
{
    const size_t size = cuda_type_size(type);
    const int bits = type == CUDA_F32 ? 23 : type == CUDA_BF16 ? 7 : 10; /* significand's */
    const uint32_t half = type == CUDA_F32 ? 0x3f000000 : type == CUDA_BF16 ? 0x3f00 : 0x3800;
    unsigned char *x = malloc(n * size);
    uint32_t random = 1;
    struct mc_buf *b = NULL;

    if (!x)
        need(mc_no_memory(&err));
    for (size_t i = 0; i < n; i++) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        const uint32_t u = half | random >> (32 - bits) | (random & 1) << (8 * size - 1);
        const uint16_t u16 = (uint16_t)u;
        memcpy(x + i * size, size == 4 ? (const void *)&u : (const void *)&u16, size);
    }
    need(be->base.buf_new(&be->base, n * size, &b, &err));
    need(be->base.put(&be->base, b, 0, x, n * size, &err));
    free(x);
    return b;
}

static void make(void *arg)
{
    const struct call *c = arg;
    const struct buffers *b = c->b;

    cuda_conv_run(c->conv, c->pass, b->x->data, b->w->data, b->y->data, b->work->data, 0);
}

static void release_call(struct cuda *be, struct call *c)
{
    be->base.capture_free(&be->base, c->saved);
    cuda_conv_free(c->conv);
    c->saved = NULL;
    c->conv = NULL;
    c->least = NOT_TIMED;
}

/* Waits for the device. Releases the engine if it failed; others may work. */
static int finished(struct cuda *be, struct call *c)
{
    char waited = 0;

    if (!be->base.get(&be->base, c->b->work, 0, &waited, 1, &err))
        return 1;
    fprintf(stderr, "tune: %s: %s\n", cuda_pass_name(c->pass), err.text);
    be->failed = 0;
    be->reason[0] = 0;
    release_call(be, c);
    return 0;
}

/* Time one direct call after a first one, which loads the engine's code. */
static void first_reading(struct cuda *be, struct call *c)
{
    make(c);
    if (!finished(be, c))
        return;
    const double t = seconds(CLOCK_MONOTONIC);
    make(c);
    if (finished(be, c))
        c->least = seconds(CLOCK_MONOTONIC) - t;
}

static void one_reading(struct cuda *be, struct call *c, int counts)
{
    const double t = seconds(CLOCK_MONOTONIC);
    be->base.repeat(&be->base, &c->saved, CALLS, make, c);
    if (!finished(be, c))
        return;
    const double took = (seconds(CLOCK_MONOTONIC) - t) / CALLS;
    char *uncaptured = strstr(be->base.describe, ", steps not captured");
    if (uncaptured) { /* a network's steps would not be captured either, and the host's time
                         would count */
        fprintf(stderr, "tune: %s%s\n", cuda_pass_name(c->pass), uncaptured);
        *uncaptured = 0;
        be->direct = 0;
        release_call(be, c);
        return;
    }
    c->least = counts && took < c->least ? took : c->least;
}

static void mark_slow(struct call *calls, int n)
{
    double least = NOT_TIMED;

    for (int i = 0; i < n; i++)
        least = calls[i].least < least ? calls[i].least : least;
    for (int i = 0; i < n; i++)
        calls[i].slow = calls[i].least > FAR_SLOWER * least;
}

static void read_all(struct cuda *be, struct call *calls, int n, int repeats)
{
    for (int i = 0; i < n; i++)
        first_reading(be, &calls[i]);
    mark_slow(calls, n);
    for (int r = 0; r <= repeats; r++) { /* the first warms up and captures */
        for (int i = 0; i < n; i++)
            if (calls[i].conv && !calls[i].slow)
                one_reading(be, &calls[i], r);
        if (r == 1)
            mark_slow(calls, n);
    }
}

/* ---- engines without notes ------------------------------------------------------------------- */

/* The tensor that it computes from the other two, after zeros. NULL: it failed. */
static unsigned char *result(struct cuda *be, struct call *c, size_t *bytes)
{
    struct mc_buf *b = c->pass == MC_PASS_FORWARD   ? c->b->y
                       : c->pass == MC_PASS_WEIGHTS ? c->b->w
                                                    : c->b->x;
    unsigned char *out = malloc(b->bytes);

    if (!out)
        need(mc_no_memory(&err));
    *bytes = b->bytes;
    be->base.zero(&be->base, b);
    make(c);
    if (!be->base.get(&be->base, b, 0, out, b->bytes, &err))
        return out;
    be->failed = 0;
    be->reason[0] = 0;
    free(out);
    return NULL;
}

/* float32 rounded to TF32's 11 bits is off by some 3e-4. */
static int same_numbers(const float *a, const float *b, size_t n)
{
    double off = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        off += pow((double)a[i] - (double)b[i], 2);
        norm += pow((double)b[i], 2);
    }
    return off <= 1e-10 * norm;
}

/* like: an engine with notes, or NULL */
static int shows(struct cuda *be, struct call *c, struct call *like)
{
    size_t bytes = 0;
    unsigned char *first = result(be, c, &bytes);
    int same = first != NULL;

    for (int i = 0; i < 3 && same; i++) {
        unsigned char *again = result(be, c, &bytes);
        same = again && !memcmp(again, first, bytes);
        free(again);
    }
    if (same && be->precision == MC_PRECISION_F32) {
        unsigned char *right = like ? result(be, like, &bytes) : NULL;
        same = right && same_numbers((const float *)(const void *)first,
                                     (const float *)(const void *)right, bytes / sizeof(float));
        free(right);
    }
    free(first);
    return same;
}

/* Return whether a call's engine may be used, after examining one of cuDNN's without notes. */
static int may_use(struct cuda *be, struct call *calls, int n, struct call *c)
{
    struct cuda_engine *e = &c->conv->engines[c->pass];
    struct call *like = NULL;

    for (int i = 0; i < n && !like; i++)
        if (calls[i].conv && calls[i].conv->engines[c->pass].notes &&
            cuda_engine_is_usable(be, &calls[i].conv->engines[c->pass]))
            like = &calls[i];
    if (!be->any_order && !e->notes && !e->native.n && !c->examined) {
        c->examined = 1;
        e->shown = shows(be, c, like);
    }
    return cuda_engine_is_usable(be, e);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The columns without times. */
static void print_engine(const struct cuda *be, int pass, const struct cuda_conv_shape *s,
                         const struct cuda_engine *e)
{
    char text[MC_SHAPE_TEXT], key[CUDA_TABLE_KEY];

    MC_CONV_TEXT(s, text);
    cuda_table_key(be, be->any_order, key);
    printf("%s\t%s\t%s\t%s\t%s\t%zu", key, cuda_pass_name(pass), text, e->text,
           cuda_engine_proof(e), e->work);
}

static void print_refusal(const struct cuda_conv *conv, int pass, const char *reason)
{
    char shape[MC_SHAPE_TEXT];

    MC_CONV_TEXT(&conv->shape, shape);
    fprintf(stderr, "tune: %s %s: %s\n", cuda_pass_name(pass), shape, reason);
}

/* A plan's choices for one shape and pass, in fixed and in any order. */
static void print_choices(struct cuda *be, struct cuda_conv *conv, int pass)
{
    for (int any_order = 0; any_order < 2; any_order++) {
        be->any_order = any_order;
        if (cuda_choose(conv, pass)) {
            print_refusal(conv, pass, conv->reason);
            continue;
        }
        print_engine(be, pass, &conv->shape, &conv->engines[pass]);
        printf("\t-\t-\t-\n");
    }
}

static int by_time(const void *a, const void *b)
{
    const struct call *x = *(struct call *const *)a, *y = *(struct call *const *)b;
    return (x->least > y->least) - (x->least < y->least);
}

/* The untuned choice: our own engine if it precedes cuDNN's, or the first of the heuristics'
 * engines that may be used. */
static struct call *usual_call(const struct cuda *be, struct call *calls, int n)
{
    for (int i = 0; i < n && cuda_native_is_first(be); i++)
        if (calls[i].conv && calls[i].conv->engines[calls[i].pass].native.n)
            return &calls[i];
    for (int i = 0; i < n; i++)
        if (calls[i].conv && cuda_engine_is_usable(be, &calls[i].conv->engines[calls[i].pass]))
            return &calls[i];
    return NULL;
}

/* The lines of one shape and pass: in a fixed order, then in any order if that is faster. */
static void print_best(struct cuda *be, struct cuda_conv *conv, int pass, struct call *calls, int n)
{
    struct call *sorted[MAX_CALLS], *usual[2];
    double fixed_time = NOT_TIMED;

    for (int any_order = 0; any_order < 2; any_order++) { /* before engines are examined */
        be->any_order = any_order;
        usual[any_order] = usual_call(be, calls, n);
    }
    for (int i = 0; i < n; i++)
        sorted[i] = &calls[i];
    qsort(sorted, (size_t)n, sizeof(struct call *), by_time);
    for (int any_order = 0; any_order < 2; any_order++) {
        be->any_order = any_order;
        struct call *best = usual[any_order];
        const double usual_time = best ? best->least : NOT_TIMED;
        for (int i = 0; i < n && sorted[i]->least < .95 * usual_time; i++)
            if (may_use(be, calls, n, sorted[i])) {
                best = sorted[i];
                break;
            }
        if (!best)
            print_refusal(conv, pass, "no engine could be timed");
        else if (best->least < .95 * fixed_time) {
            print_engine(be, pass, &conv->shape, &best->conv->engines[pass]);
            printf("\t%.4f", best->least * 1e3);
            if (usual_time < NOT_TIMED)
                printf("\t%s\t%.4f\n", usual[any_order]->conv->engines[pass].text,
                       usual_time * 1e3);
            else
                printf("\t-\t-\n");
            fflush(stdout);
            fixed_time = best->least;
        }
    }
}

static int all_engines(struct cuda *be, const struct cuda_conv *conv, int pass,
                       const struct buffers *b, struct call calls[MAX_CALLS])
{
    int n = 0;

    be->any_order = 1;
    for (int fallback = 0; fallback < 2; fallback++) {
        char list[CUDA_MAX_ENGINES][CUDA_ENGINE_TEXT];
        struct cuda_conv *c = NULL;
        need(cuda_conv_new(be, &conv->shape, &c, &err));
        const int named = cuda_engine_candidates(c, pass, fallback, list);
        cuda_conv_free(c);
        for (int i = 0; i < named; i++) {
            int k = 0;
            while (k < n && strcmp(calls[k].conv->engines[pass].text, list[i]))
                k++;
            if (k < n)
                continue;
            calls[n] = (struct call){.pass = pass, .b = b, .least = NOT_TIMED};
            need(cuda_conv_new(be, &conv->shape, &calls[n].conv, &err));
            if (!cuda_engine_make(calls[n].conv, pass, list[i]) &&
                cuda_engine_is_usable(be, &calls[n].conv->engines[pass]))
                n++;
            else
                release_call(be, &calls[n]);
        }
    }
    return n;
}

static int in_table(const struct cuda *be, const struct cuda_conv *conv, int pass)
{
    char shape[MC_SHAPE_TEXT], key[CUDA_TABLE_KEY];

    MC_CONV_TEXT(&conv->shape, shape);
    cuda_table_key(be, 0, key);
    return mc_conv_table_entry(cuda_plan_table, key, cuda_pass_name(pass), shape) != NULL;
}

static void measure(void *arg, struct cuda_conv *conv, int pass)
{
    const struct task *t = arg;
    struct cuda *be = t->be;
    const struct cuda_conv_shape *s = &conv->shape;
    struct call calls[MAX_CALLS];
    size_t work = 1;

    if (!t->repeats) {
        print_choices(be, conv, pass);
        return;
    }
    if (getenv("TUNE_MISSING") && in_table(be, conv, pass))
        return;
    struct buffers b = {
        random_buf(be, s->type, (size_t)s->n * (size_t)(s->ic * s->ih * s->iw)),
        random_buf(be, s->type, (size_t)s->n * (size_t)(s->oc * s->oh * s->ow)),
        random_buf(be, s->type, (size_t)(s->ic / s->groups * s->oc * s->kernel[0] * s->kernel[1])),
        NULL};
    const int n = all_engines(be, conv, pass, &b, calls);
    for (int i = 0; i < n; i++)
        for (int weights = 0; weights < 2; weights++)
            work = cuda_conv_work(calls[i].conv, weights) > work
                       ? cuda_conv_work(calls[i].conv, weights)
                       : work;
    need(be->base.buf_new(&be->base, work, &b.work, &err));
    if (t->lock >= 0)
        (void)flock(t->lock, LOCK_EX);
    read_all(be, calls, n, t->repeats);
    print_best(be, conv, pass, calls, n);
    if (t->lock >= 0)
        (void)flock(t->lock, LOCK_UN);
    for (int i = 0; i < n; i++)
        release_call(be, &calls[i]);
    struct mc_buf *all[] = {b.x, b.y, b.w, b.work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        be->base.buf_free(&be->base, all[i]);
}

static void tune(void *arg, const struct mc_node *n, const struct mc_node *in)
{
    struct task *t = arg;
    each_pass(t->be, t->batch, n, in, measure, t);
}

static const char *table_of(const char *path)
{
    static char text[1 << 20];
    FILE *f = fopen(path, "r");

    if (!f || !fread(text, 1, sizeof text - 1, f))
        need(mc_fail(&err, MC_EFAIL, "cannot read %s", path));
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: tune device precision repeats batch net:HEIGHTxWIDTH...\n");
        return 2;
    }
    const char *lock = getenv("TUNE_LOCK");
    struct task t = {open_device(atoi(argv[1]), argv[2]), atoi(argv[3]), atoi(argv[4]),
                     lock ? open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1};
    if (lock && t.lock < 0)
        need(mc_fail(&err, MC_EFAIL, "cannot open %s", lock));
    if (!t.repeats && getenv("TABLE"))
        cuda_plan_table = table_of(getenv("TABLE"));
    for (int i = 5; i < argc; i++)
        each_conv(argv[i], tune, &t);
    t.be->base.close(&t.be->base);
    return 0;
}

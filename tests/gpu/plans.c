/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the plans of kernels/cuda/plans.tsv for every convolution of the given networks on a
 * device, or on one that is only described (tests/emulation), and checks what the table says of
 * them: cuDNN takes the engine for the shape, for memory at multiples of 16 bytes; its notes and
 * its scratch memory are those of the line; in a fixed order only engines whose notes or bytes say
 * so; in half precision tensor cores.
 *
 *     plans table device batch net:HEIGHTxWIDTH...
 *
 * A line a precision and pass, then how many were made; status 1 where one is missing or not as the
 * table says. */
#include "tests/gpu/passes.h"

#include <errno.h>

enum { MOST_NUMBERS = 128, MOST_SHAPES = 512 }; /* of cuDNN's engines; of all networks */

static char table[1 << 22];

struct count {
    size_t fixed, any, noted, most_work;
    int used[MOST_NUMBERS];
};

struct task {
    struct cuda *be;
    int batch, bad;
    size_t plans;
    struct count counts[CUDA_N_PASSES];
    char seen[MOST_SHAPES][MC_SHAPE_TEXT];
    size_t n_seen;
};

static void tell(struct task *t, int pass, const struct cuda_conv_shape *s, const char *why)
{
    char shape[MC_SHAPE_TEXT], key[CUDA_TABLE_KEY];

    cuda_conv_text(s, shape);
    cuda_table_key(t->be, t->be->any_order, key);
    for (char *c = key; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    printf("%s %s %s: %s\n", key, cuda_pass_name(pass), shape, why);
    t->bad++;
}

static const char *check(const struct cuda *be, struct cuda_conv *c, int pass, const char *line)
{
    struct cuda_engine *e = &c->engines[pass];
    char text[CUDA_ENGINE_TEXT], proof[16];
    size_t work = 0;

    if (sscanf(line, "%159[^\t\n]\t%15[^\t\n]\t%zu", text, proof, &work) != 3)
        return "no plan, proof and work in the table's line";
    if (cuda_engine_make(c, pass, text))
        return c->why;
    e->shown = !strcmp(proof, "shown");
    if (strcmp(cuda_engine_proof(e), proof))
        return "its notes are not those of the line";
    if (e->work != work)
        return "its scratch memory is not that of the line";
    if (!cuda_engine_fits(be, e))
        return "may not be taken";
    if (cuda_type_of(be) != CUDA_F32 && !be->any_order &&
        !(e->notes & 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE))
        return "no tensor cores";
    return NULL;
}

static void one(void *arg, struct cuda_conv *c, int pass)
{
    struct task *t = arg;
    struct count *n = &t->counts[pass];

    char key[CUDA_TABLE_KEY], shape[MC_SHAPE_TEXT];

    cuda_conv_text(&c->shape, shape);
    for (int any_order = 0; any_order < 2; any_order++) {
        cuda_table_key(t->be, any_order, key);
        const char *line = mc_conv_table_entry(table, key, cuda_pass_name(pass), shape);
        t->be->any_order = any_order;
        c->why[0] = 0;
        const char *why = line         ? check(t->be, c, pass, line)
                          : !any_order ? "the table has no line"
                                       : NULL;
        if (why)
            tell(t, pass, &c->shape, why);
        if (!line || why)
            continue;
        const struct cuda_engine *e = &c->engines[pass];
        const int number = atoi(e->text);
        t->plans++;
        *(any_order ? &n->any : &n->fixed) += 1;
        n->noted += e->notes != 0;
        n->most_work = e->work > n->most_work ? e->work : n->most_work;
        n->used[number < MOST_NUMBERS ? number : 0]++;
    }
}

static void once(void *arg, const struct mc_node *n, const struct mc_node *in)
{
    struct task *t = arg;
    char *text = t->seen[t->n_seen];
    size_t k = 0;

    mc_shape_text(text, (const int[]){in->c, in->h, in->w}, (const int[]){n->c, n->h, n->w},
                  n->kernel, n->stride, n->pad, n->groups);
    while (strcmp(t->seen[k], text))
        k++;
    if (k < t->n_seen)
        return;
    if (++t->n_seen == MOST_SHAPES)
        need(mc_fail(&err, MC_EUSAGE, "too many shapes"));
    each_pass(t->be, t->batch, n, in, one, t);
}

static void print_counts(const struct task *t)
{
    for (int pass = 0; pass < CUDA_N_PASSES; pass++) {
        const struct count *n = &t->counts[pass];
        printf("%s\t%s\t%zu\t%zu\t%zu\t%.1f\t", mc_precision_names[t->be->precision],
               cuda_pass_name(pass), n->fixed, n->any, n->noted, (double)n->most_work / (1 << 20));
        for (int e = 0; e < MOST_NUMBERS; e++)
            if (n->used[e])
                printf(" %dx%d", n->used[e], e);
        printf("\n");
    }
}

static void read_table(const char *path)
{
    FILE *f = fopen(path, "r");

    if (!f)
        need(mc_fail(&err, MC_EFAIL, "%s: %s", path, strerror(errno)));
    const size_t n = fread(table, 1, sizeof table - 1, f);
    fclose(f);
    if (n == sizeof table - 1)
        need(mc_fail(&err, MC_EFAIL, "%s: too long", path));
}

int main(int argc, char **argv)
{
    size_t plans = 0;
    int bad = 0;

    if (argc < 5) {
        fprintf(stderr, "usage: plans table device batch net:HEIGHTxWIDTH...\n");
        return 2;
    }
    read_table(argv[1]);
    printf("precision\tpass\tfixed\tany\tnoted\tmost_MiB\ttimes x engine\n");
    for (int p = 0; mc_precision_names[p]; p++) {
        static struct task t;
        t = (struct task){.be = open_device(atoi(argv[2]), mc_precision_names[p]),
                          .batch = atoi(argv[3])};
        for (int i = 4; i < argc; i++)
            each_conv(argv[i], once, &t);
        print_counts(&t);
        plans += t.plans;
        bad += t.bad;
        t.be->base.close(&t.be->base);
    }
    printf("%zu plans, %d not as the table says\n", plans, bad);
    return bad ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Repeated work, captured in CUDA graphs: launching a graph costs the host about as much as one
 * kernel. The first time, work runs directly, so that one-time work of the libraries (loading and
 * choosing code) stays outside a capture. With CUDA_LAUNCH_BLOCKING it always runs directly,
 * because a failure in a graph does not name its kernel. */
#include "kernels/cuda/cuda.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The long graph: the number of works in it, and the limit of their nodes. CUDA keeps all nodes in
 * device memory. */
#define LONG_WORKS 8
#define MAX_NODES 65536

struct mc_capture {
    unsigned frees; /* be->frees at the time of the capture */
    int warm;       /* has run directly */
    int direct;     /* always runs directly: capturing failed */
    size_t steps;   /* works in `longer`; 0: not yet known */
    cudaGraphExec_t one, longer;
};

static void destroy(struct cuda *be, cudaGraphExec_t *graph)
{
    if (*graph)
        cuda_check(be, cudaGraphExecDestroy(*graph));
    *graph = NULL;
}

static void forget(struct cuda *be, struct mc_capture *r)
{
    if (r->one) /* it may be running */
        cuda_check(be, cudaStreamSynchronize(be->stream));
    destroy(be, &r->one);
    destroy(be, &r->longer);
    *r = (struct mc_capture){.frees = be->frees};
}

/* Clear a failure in a capture, which is not a failure of the work. If not even one step could be
 * captured, add the reason to `describe`. */
static void abandon(struct cuda *be, struct mc_capture *r, cudaError_t reason)
{
    char *text = be->base.describe;
    const size_t length = strlen(text);

    (void)cudaGetLastError();
    if (!r->one) {
        r->direct = 1;
        if (!be->direct)
            snprintf(text + length, sizeof be->base.describe - length, ", steps not captured: %s",
                     be->failed ? be->reason : cudaGetErrorString(reason));
        be->direct = 1;
    }
    r->steps = 1;
    be->failed = 0;
    be->reason[0] = 0;
}

/* The mode is thread-local: a call that is invalid in a capture fails, but not for other threads.
 * After a failed capture has ended, the stream works as before. */
static cudaError_t capture(struct cuda *be, size_t steps, void (*work)(void *), void *arg,
                           cudaGraph_t *graph)
{
    cudaError_t rc;

    cuda_enter(be); /* the capture must not include earlier side work, */
    rc = cudaStreamBeginCapture(be->stream, cudaStreamCaptureModeThreadLocal);
    if (rc != cudaSuccess)
        return rc;
    for (size_t i = 0; i < steps; i++)
        work(arg);
    cuda_enter(be); /* nor leave any running */
    return cudaStreamEndCapture(be->stream, graph);
}

/* Capture `steps` works in *out. Return 0, or -1 if it failed. */
static int make_graph(struct cuda *be, struct mc_capture *r, size_t steps, void (*work)(void *),
                      void *arg, cudaGraphExec_t *out)
{
    cudaGraph_t graph = NULL;
    size_t nodes = 0;
    cudaError_t rc = capture(be, steps, work, arg, &graph);

    if (rc == cudaSuccess && !be->failed)
        rc = cudaGraphGetNodes(graph, NULL, &nodes);
    if (rc == cudaSuccess && !be->failed)
        rc = cudaGraphInstantiate(out, graph, 0);
    if (rc == cudaSuccess && !be->failed)
        rc = cudaGraphUpload(*out, be->stream);
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (rc == cudaSuccess && !be->failed) {
        if (!r->steps)
            r->steps = nodes * LONG_WORKS <= MAX_NODES ? LONG_WORKS : 1;
        return 0;
    }
    if (*out)
        (void)cudaGraphExecDestroy(*out);
    *out = NULL;
    abandon(be, r, rc);
    return -1;
}

/* The graph for `left` works, and the number of works in it. NULL: run one directly. */
static cudaGraphExec_t graph_for(struct cuda *be, struct mc_capture *r, size_t left,
                                 void (*work)(void *), void *arg, size_t *steps)
{
    const char *waits = getenv("CUDA_LAUNCH_BLOCKING");

    *steps = 1;
    if (!r->warm || r->direct || be->failed || (waits && strcmp(waits, "0"))) {
        r->warm = 1;
        return NULL;
    }
    if (!r->one && make_graph(be, r, 1, work, arg, &r->one))
        return NULL;
    if (r->steps == 1 || left < r->steps)
        return r->one;
    if (!r->longer && make_graph(be, r, r->steps, work, arg, &r->longer))
        return r->one;
    *steps = r->steps;
    return r->longer;
}

void cuda_repeat(struct mc_backend *base, struct mc_capture **capture, size_t times,
                 void (*work)(void *), void *arg)
{
    struct cuda *be = cuda_of(base);
    struct mc_capture none = {.direct = 1}, *r = &none;

    cuda_enter(be);
    if (!*capture && (*capture = calloc(1, sizeof **capture)))
        (*capture)->frees = be->frees;
    if (*capture)
        r = *capture;
    /* the graph may use memory that was freed since */
    if (r != &none && r->frees != be->frees)
        forget(be, r);
    for (size_t n_run = 0, steps = 1; n_run < times; n_run += steps) {
        const cudaGraphExec_t graph = graph_for(be, r, times - n_run, work, arg, &steps);
        const unsigned frees = be->frees;
        if (graph)
            cuda_check(be, cudaGraphLaunch(graph, be->stream));
        else
            work(arg);
        /* a graph of work that frees memory would use freed memory */
        assert(be->frees == frees);
        (void)frees;
    }
}

void cuda_capture_free(struct mc_backend *base, struct mc_capture *r)
{
    if (!r)
        return;
    cuda_enter(cuda_of(base));
    forget(cuda_of(base), r);
    free(r);
}

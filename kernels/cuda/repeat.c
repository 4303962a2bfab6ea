/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that comes again and again, captured in CUDA graphs: a launch of a graph costs the host
 * about what one kernel's does. The first time work runs as it is, so that what the libraries do
 * once (loading code, choosing it) is done outside a capture; and always where CUDA waits for each
 * launch (CUDA_LAUNCH_BLOCKING), as a failure in a graph names no kernel. */
#include "kernels/cuda/cuda.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the longer graph: works, and what they may make together; CUDA holds all nodes on the
 * device. */
#define SEVERAL 8
#define MOST_NODES 65536

struct mc_capture {
    unsigned given_back; /* the backend's, when it began */
    int warm;            /* ran as it is */
    int direct;          /* always runs as it is: it could not be captured */
    size_t steps;        /* of `several`; 0: not yet known */
    cudaGraphExec_t one, several;
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
    destroy(be, &r->several);
    *r = (struct mc_capture){.given_back = be->given_back};
}

/* A failure in a capture is no failure of the work: it is forgotten, and if not one step could be
 * captured said in `describe`. */
static void give_up(struct cuda *be, struct mc_capture *r, cudaError_t why)
{
    char *text = be->base.describe;
    const size_t length = strlen(text);

    (void)cudaGetLastError();
    if (!r->one) {
        r->direct = 1;
        if (!be->direct)
            snprintf(text + length, sizeof be->base.describe - length, ", steps not captured: %s",
                     be->failed ? be->why : cudaGetErrorString(why));
        be->direct = 1;
    }
    r->steps = 1;
    be->failed = 0;
    be->why[0] = 0;
}

/* Thread-local: a call that has no place in a capture fails, unless it is another thread's. A
 * stream whose capture failed is one like before when the capture has ended. */
static cudaError_t capture(struct cuda *be, size_t steps, void (*work)(void *), void *arg,
                           cudaGraph_t *graph)
{
    cudaError_t rc;

    cuda_enter(be); /* what is beside is not of the capture */
    rc = cudaStreamBeginCapture(be->stream, cudaStreamCaptureModeThreadLocal);
    if (rc != cudaSuccess)
        return rc;
    for (size_t i = 0; i < steps; i++)
        work(arg);
    cuda_enter(be); /* and nothing is beside behind it */
    return cudaStreamEndCapture(be->stream, graph);
}

/* 0: `steps` works are *out. */
static int take_down(struct cuda *be, struct mc_capture *r, size_t steps, void (*work)(void *),
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
            r->steps = nodes * SEVERAL <= MOST_NODES ? SEVERAL : 1;
        return 0;
    }
    if (*out)
        (void)cudaGraphExecDestroy(*out);
    *out = NULL;
    give_up(be, r, rc);
    return -1;
}

/* The graph for `left` works, and how many it does. NULL: none; one is to be run as it is. */
static cudaGraphExec_t graph_for(struct cuda *be, struct mc_capture *r, size_t left,
                                 void (*work)(void *), void *arg, size_t *steps)
{
    const char *waits = getenv("CUDA_LAUNCH_BLOCKING");

    *steps = 1;
    if (!r->warm || r->direct || be->failed || (waits && strcmp(waits, "0"))) {
        r->warm = 1;
        return NULL;
    }
    if (!r->one && take_down(be, r, 1, work, arg, &r->one))
        return NULL;
    if (r->steps == 1 || left < r->steps)
        return r->one;
    if (!r->several && take_down(be, r, r->steps, work, arg, &r->several))
        return r->one;
    *steps = r->steps;
    return r->several;
}

void cuda_repeat(struct mc_backend *base, struct mc_capture **capture, size_t times,
                 void (*work)(void *), void *arg)
{
    struct cuda *be = cuda_of(base);
    struct mc_capture none = {.direct = 1}, *r = &none;

    cuda_enter(be);
    if (!*capture && (*capture = calloc(1, sizeof **capture)))
        (*capture)->given_back = be->given_back;
    if (*capture)
        r = *capture;
    /* memory that it uses may be others' by now */
    if (r != &none && r->given_back != be->given_back)
        forget(be, r);
    for (size_t done = 0, steps = 1; done < times; done += steps) {
        const cudaGraphExec_t graph = graph_for(be, r, times - done, work, arg, &steps);
        const unsigned given_back = be->given_back;
        if (graph)
            cuda_check(be, cudaGraphLaunch(graph, be->stream));
        else
            work(arg);
        /* what work frees, a graph of it would use */
        assert(be->given_back == given_back);
        (void)given_back;
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

/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture and graphs of the emulated device. Nothing runs during a capture; a graph's launch
 * runs the captured work with its captured arguments. */
#include "tests/emulation/device.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

struct CUgraph_st {
    std::vector<std::function<void()>> nodes;
};
struct CUgraphExec_st {
    std::vector<std::function<void()>> nodes;
};
static CUgraph_st *captured; /* NULL: no capture */
static bool spoiled;

bool emulated_fails(const char *call)
{
    const char *which = getenv("MC_EMULATION_CAPTURE");
    return which && !strcmp(which, call);
}

cudaError_t emulated_refuse()
{
    spoiled = true;
    return cudaErrorStreamCaptureUnsupported;
}

bool emulated_captures()
{
    return captured != NULL;
}

static size_t asked;

size_t emulated_requests()
{
    return asked;
}

void emulated_do(const std::function<void()> &work)
{
    asked++;
    static const bool idle = getenv("MC_EMULATION_IDLE") != NULL;
    if (idle)
        return;
    if (captured) {
        captured->nodes.push_back(work);
        return;
    }
    emulated_begin();
    work();
    emulated_end();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode)
{
    if (captured || emulated_fails("begin"))
        return cudaErrorIllegalState;
    captured = new CUgraph_st();
    spoiled = false;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *out)
{
    CUgraph_st *graph = captured;
    *out = NULL;
    captured = NULL;
    if (!graph)
        return cudaErrorIllegalState;
    if (emulated_waits())
        spoiled = true;
    if (!spoiled && !emulated_fails("end")) {
        *out = graph;
        return cudaSuccess;
    }
    delete graph;
    return cudaErrorStreamCaptureInvalidated;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *, size_t *n)
{
    *n = graph->nodes.size();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long)
{
    static size_t shortest = SIZE_MAX;
    if (emulated_fails("longer") && graph->nodes.size() < shortest)
        shortest = graph->nodes.size();
    if (captured || emulated_fails("instantiate") ||
        (emulated_fails("longer") && graph->nodes.size() > shortest))
        return cudaErrorMemoryAllocation;
    *out = new CUgraphExec_st{graph->nodes};
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t)
{
    return emulated_fails("upload") ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t)
{
    if (captured)
        return emulated_refuse();
    for (const auto &node : graph->nodes)
        emulated_do(node);
    return cudaSuccess;
}

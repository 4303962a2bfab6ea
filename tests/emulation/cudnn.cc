/* SPDX-License-Identifier: Apache-2.0
 *
 * cuDNN for the emulated device. Descriptors, heuristics and plans are the library's own, for the
 * described device (device.h), so that it refuses what cuDNN refuses. The attributes of a
 * descriptor are recorded on the way. Only running a plan is emulated. The linker's --wrap
 * redirects the backend's calls here. */
#include "tests/emulation/convolution.h"
#include "tests/emulation/device.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#define WRAPPED(type, name, ...)                                                                   \
    extern "C" type __real_##name(__VA_ARGS__);                                                    \
    extern "C" __attribute__((visibility("hidden"))) type __wrap_##name(__VA_ARGS__);              \
    type __wrap_##name(__VA_ARGS__)

typedef cudnnBackendDescriptor_t descriptor;

struct noted {
    cudnnBackendDescriptorType_t type;
    std::map<int, std::vector<unsigned char>> set; /* by the attribute's name */
};
static std::map<descriptor, noted> notes;

struct plan {
    convolution c;
    int64_t work;
    bool executable; /* the plan and its graph have a handle */
};
static std::map<descriptor, plan> plans;
static bool refused; /* by the emulation, not by cuDNN */
struct cudnnContext {
    cudaStream_t stream;
};

/* Returns whether MC_EMULATION_CUDNN names this call to fail: describe (a tensor), algorithm (a
 * plan), run. */
static bool fails(const char *call)
{
    const char *which = getenv("MC_EMULATION_CUDNN");
    refused = which && !strcmp(which, call);
    return refused;
}

static size_t size_of(cudnnBackendAttributeType_t t)
{
    switch (t) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
        return 1;
    default: /* float32 and enums */
        return 4;
    }
}

/* Reads n values of an attribute that was set. */
template <class T>
static void read_values(descriptor d, cudnnBackendAttributeName_t name, T *values, size_t n = 1)
{
    const std::vector<unsigned char> &from = notes.at(d).set.at(name);
    if (from.size() != n * sizeof *values)
        abort();
    memcpy(values, from.data(), from.size());
}

static descriptor part(descriptor d, cudnnBackendAttributeName_t name)
{
    descriptor other;
    read_values(d, name, &other);
    return other;
}

static tensor tensor_of(descriptor d)
{
    tensor t;
    read_values(d, CUDNN_ATTR_TENSOR_DATA_TYPE, &t.type);
    read_values(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, &t.number);
    read_values(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, &t.alignment);
    read_values(d, CUDNN_ATTR_TENSOR_DIMENSIONS, t.sizes, 4);
    read_values(d, CUDNN_ATTR_TENSOR_STRIDES, t.strides, 4);
    return t;
}

static void read_operation(descriptor d, convolution *c)
{
#define OPERATION(kind, in, filter, out)                                                           \
    do {                                                                                           \
        c->x = tensor_of(part(d, CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_##in));                 \
        c->w = tensor_of(part(d, CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_##filter));             \
        c->y = tensor_of(part(d, CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_##out));                \
        read_values(d, CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_ALPHA, &c->alpha);                \
        read_values(d, CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_BETA, &c->beta);                  \
        how = part(d, CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_CONV_DESC);                        \
    } while (0)
    descriptor how;
    c->pass = notes.at(d).type;
    if (c->pass == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
        OPERATION(FORWARD, X, W, Y);
    else if (c->pass == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR)
        OPERATION(BWD_DATA, DX, W, DY);
    else
        OPERATION(BWD_FILTER, X, DW, DY);
    read_values(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c->pad, 2);
    read_values(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c->stride, 2);
}

static plan read_plan(descriptor d)
{
    const descriptor engine =
        part(part(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG), CUDNN_ATTR_ENGINECFG_ENGINE);
    cudnnBackendNumericalNote_t list[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t n = 0;
    plan p = {};
    const descriptor graph = part(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    read_operation(part(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS), &p.c);
    p.executable = notes.at(graph).set.count(CUDNN_ATTR_OPERATIONGRAPH_HANDLE) &&
                   notes.at(d).set.count(CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                 CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &n,
                                 list))
        abort();
    for (int64_t i = 0; i < n; i++) {
        p.c.tf32 |= list[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
        p.c.unordered |= list[i] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    }
    if (cudnnBackendGetAttribute(d, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                 &n, &p.work))
        abort();
    return p;
}

WRAPPED(cudnnStatus_t, cudnnBackendCreateDescriptor, cudnnBackendDescriptorType_t type,
        descriptor *d)
{
    const cudnnStatus_t rc = __real_cudnnBackendCreateDescriptor(type, d);
    if (!rc)
        notes[*d] = {type, {}};
    return rc;
}

WRAPPED(cudnnStatus_t, cudnnBackendDestroyDescriptor, descriptor d)
{
    notes.erase(d);
    plans.erase(d);
    return __real_cudnnBackendDestroyDescriptor(d);
}

/* The description replaces the handle's device, which the library does not know. */
WRAPPED(cudnnStatus_t, cudnnBackendSetAttribute, descriptor d, cudnnBackendAttributeName_t name,
        cudnnBackendAttributeType_t type, int64_t n, const void *values)
{
    if (name == CUDNN_ATTR_DEVICEPROP_HANDLE)
        return __real_cudnnBackendSetAttribute(
            d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
            (int64_t)strlen(emulated_description()), emulated_description());
    const unsigned char *from = (const unsigned char *)values;
    notes[d].set[name].assign(from, from + (size_t)n * size_of(type));
    if (type == CUDNN_TYPE_HANDLE)
        return CUDNN_STATUS_SUCCESS;
    return __real_cudnnBackendSetAttribute(d, name, type, n, values);
}

WRAPPED(cudnnStatus_t, cudnnBackendFinalize, descriptor d)
{
    const cudnnBackendDescriptorType_t type = notes.at(d).type;
    if (type == CUDNN_BACKEND_TENSOR_DESCRIPTOR && fails("describe"))
        return CUDNN_STATUS_BAD_PARAM;
    if (type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR && fails("algorithm"))
        return CUDNN_STATUS_NOT_SUPPORTED;
    const cudnnStatus_t rc = __real_cudnnBackendFinalize(d);
    if (!rc && type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        plans[d] = read_plan(d);
    return rc;
}

WRAPPED(void, cudnnGetLastErrorString, char *text, size_t size)
{
    if (refused)
        snprintf(text, size, "Reason:\nthe emulated one");
    else
        __real_cudnnGetLastErrorString(text, size);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *h)
{
    *h = new cudnnContext{};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t h)
{
    delete h;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t s)
{
    h->stream = s;
    return CUDNN_STATUS_SUCCESS;
}

/* The scratch memory is filled with NaN. */
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t h, descriptor d, descriptor pack)
{
    const plan p = plans.at(d);
    const tensor tensors[] = {p.c.x, p.c.w, p.c.y};
    int64_t numbers[3];
    void *pointers[3], *data[3] = {}, *work;
    if (!p.executable)
        return CUDNN_STATUS_BAD_PARAM;
    read_values(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers, 3);
    read_values(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers, 3);
    read_values(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &work);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < 3; i++)
            if (numbers[i] == tensors[t].number)
                data[t] = pointers[i];
        if (!emulated_holds(data[t], tensors[t].bytes()) ||
            (uintptr_t)data[t] % (size_t)tensors[t].alignment)
            return CUDNN_STATUS_BAD_PARAM;
    }
    if (p.work && !emulated_holds(work, (size_t)p.work))
        return CUDNN_STATUS_BAD_PARAM;
    if (fails("run"))
        return CUDNN_STATUS_EXECUTION_FAILED;
    void *x = data[0], *w = data[1], *y = data[2];
    emulated_do_on(h->stream, [=] {
        memset(work, 0x7f, (size_t)p.work);
        emulate_convolution(p.c, x, w, y);
    });
    return CUDNN_STATUS_SUCCESS;
}

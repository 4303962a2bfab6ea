/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated device: launches, memory, and the part of the CUDA runtime that the backend
 * calls. */
#include "tests/emulation/device.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

/* ---- memory ---- */

struct region {
    unsigned char *pages;
    size_t bytes; /* without the guard page at its end */
};
static std::map<void *, region> regions;
static int depth;

/* Copies from host memory that the device has not made yet: the runtime may read pageable memory
 * late. */
struct late_copy {
    void *to;
    const void *from;
    size_t bytes;
};
static std::vector<late_copy> late;

static void protect(int how)
{
    static const bool guarded = getenv("MC_EMULATION_GUARD") != NULL;
    if (!guarded)
        return;
    for (const auto &r : regions)
        if (mprotect(r.second.pages, r.second.bytes, how))
            abort();
}

void emulated_begin()
{
    if (depth++ > 0)
        return;
    protect(PROT_READ | PROT_WRITE);
    for (const late_copy &c : late)
        memcpy(c.to, c.from, c.bytes);
    late.clear();
}

void emulated_end()
{
    if (--depth == 0)
        protect(PROT_NONE);
}

/* $MC_EMULATION_MEMORY bytes, or more than the largest devices have. */
static size_t device_memory()
{
    const char *limit = getenv("MC_EMULATION_MEMORY");
    return limit ? strtoull(limit, NULL, 10) : (size_t)1 << 40;
}

static size_t allocated()
{
    size_t sum = 0;
    for (const auto &r : regions)
        sum += r.second.bytes;
    return sum;
}

/* Filled with NaN, and placed at the end of its pages. */
cudaError_t cudaMalloc(void **out, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (bytes + 63) / 64 * 64;
    if (emulated_captures())
        return emulated_refuse();
    const size_t all = (used + page - 1) / page * page;
    if (bytes > (size_t)1 << 40 || all > device_memory() - allocated())
        return cudaErrorMemoryAllocation;
    void *p = mmap(NULL, all + page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED || mprotect((unsigned char *)p + all, page, PROT_NONE))
        return cudaErrorMemoryAllocation;
    unsigned char *data = (unsigned char *)p + all - used;
    regions[data] = {(unsigned char *)p, all};
    emulated_begin();
    if (all < (size_t)64 << 20) /* filling larger ones takes long */
        memset(data, 0x7f, used);
    emulated_end();
    *out = data;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    if (emulated_captures())
        return emulated_refuse();
    if (!p)
        return cudaSuccess;
    const auto r = regions.find(p);
    if (r == regions.end())
        return cudaErrorInvalidValue;
    cudaStreamSynchronize(NULL);
    munmap(r->second.pages, r->second.bytes + (size_t)sysconf(_SC_PAGESIZE));
    regions.erase(r);
    return cudaSuccess;
}

bool emulated_holds(const void *p, size_t bytes)
{
    for (const auto &r : regions) {
        const unsigned char *from = (const unsigned char *)r.first, *at = (const unsigned char *)p;
        const unsigned char *end = r.second.pages + r.second.bytes;
        if (at >= from && at <= end)
            return bytes <= (size_t)(end - at);
    }
    return false;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t)
{
    const bool from = kind != cudaMemcpyHostToDevice, to = kind != cudaMemcpyDeviceToHost;
    if (emulated_captures() && kind != cudaMemcpyDeviceToDevice)
        return emulated_refuse();
    if (bytes && (emulated_holds(src, bytes) != from || emulated_holds(dst, bytes) != to))
        return cudaErrorInvalidValue;
    if (kind == cudaMemcpyHostToDevice) {
        late.push_back({dst, src, bytes});
        return cudaSuccess;
    }
    emulated_do([=] { memcpy(dst, src, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t)
{
    if (emulated_captures() && emulated_fails("work"))
        return emulated_refuse();
    if (bytes && !emulated_holds(p, bytes))
        return cudaErrorInvalidValue;
    emulated_do([=] { memset(p, value, bytes); });
    return cudaSuccess;
}

/* ---- launches ---- */

static unsigned width()
{
    const char *text = getenv("MC_EMULATION_THREADS");
    const int n = text ? atoi(text) : 128;

    if (n < 1 || n > 128 || (n & (n - 1)) != 0) {
        fprintf(stderr, "emulation: blocks of '%s' threads\n", text);
        abort();
    }
    return (unsigned)n;
}
extern const unsigned emulated_width;
const unsigned emulated_width = width();

struct emulated_place {
    unsigned x;
};
struct emulated_place emulated_thread, emulated_block, emulated_blocks, emulated_threads;

/* A fiber is created once and waits between blocks. It switches by jumps: swapcontext would ask the
 * system for the signal mask each time. */
enum { MAX_FIBERS = 1024, STACK = 64 << 10 };
static struct fiber {
    jmp_buf at;
    int made, ended;
} fibers[MAX_FIBERS];
static jmp_buf home;
static unsigned current;
static const std::function<void()> *running;

static int backwards()
{
    const char *order = getenv("MC_EMULATION_ORDER");
    return order && !strcmp(order, "backwards");
}

/* Leaves the fiber for run_block, until that resumes it. */
static void leave(fiber *f)
{
    if (!_setjmp(f->at))
        _longjmp(home, 1);
}

static void run_fiber()
{
    for (;;) {
        (*running)();
        fibers[current].ended = 1;
        leave(&fibers[current]);
    }
}

void emulate_barrier()
{
    const unsigned me = current;
    leave(&fibers[me]);
    current = me;
    emulated_thread.x = me;
}

static void resume(fiber *f)
{
    static unsigned char *stacks;
    static ucontext_t context;

    if (_setjmp(home))
        return;
    if (f->made)
        _longjmp(f->at, 1);
    if (!stacks)
        stacks = (unsigned char *)mmap(NULL, (size_t)MAX_FIBERS * STACK, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED || getcontext(&context))
        abort();
    context.uc_stack.ss_sp = stacks + (size_t)(f - fibers) * STACK;
    /* The fibers of a block use the tops of their stacks in turn. At multiples of STACK all tops
     * would share a few sets of the cache. */
    context.uc_stack.ss_size = STACK - (size_t)(f - fibers) % 64 * 192;
    makecontext(&context, run_fiber, 0);
    f->made = 1;
    setcontext(&context);
}

static void run_block(unsigned threads, int reverse)
{
    if (threads > MAX_FIBERS)
        abort();
    for (unsigned t = 0; t < threads; t++)
        fibers[t].ended = 0;
    for (unsigned ended = 0; ended < threads;) {
        ended = 0;
        for (unsigned i = 0; i < threads; i++) {
            const unsigned t = reverse ? threads - 1 - i : i;
            current = t;
            emulated_thread.x = t;
            resume(&fibers[t]);
            ended += (unsigned)fibers[t].ended;
        }
        if (ended && ended < threads) {
            fprintf(stderr, "emulation: %u of %u threads miss a barrier\n", ended, threads);
            abort();
        }
    }
}

static void run(size_t blocks, unsigned threads, int waits, const std::function<void()> &body)
{
    const int reverse = backwards();

    emulated_blocks.x = (unsigned)blocks;
    emulated_threads.x = threads;
    running = &body;
    for (size_t i = 0; i < blocks; i++) {
        emulated_block.x = (unsigned)(reverse ? blocks - 1 - i : i);
        if (waits)
            run_block(threads, reverse);
        for (unsigned t = 0; !waits && t < threads; t++) {
            emulated_thread.x = reverse ? threads - 1 - t : t;
            body();
        }
    }
}

void emulate_launch(cudaStream_t stream, size_t blocks, unsigned threads, int waits,
                    const std::function<void()> &body)
{
    if (!blocks || blocks > 0x7fffffff) {
        fprintf(stderr, "emulation: launch of %zu blocks\n", blocks);
        abort();
    }
    emulated_do_on(stream, [=] { run(blocks, threads, waits, body); });
}

/* ---- description ---- */

const char *emulated_description()
{
    static char text[1 << 14] =
#include "h100.inc"
        ;
    static const char *const other = getenv("MC_EMULATION_DEVICE");
    static bool read;
    if (!other || read)
        return text;
    FILE *f = fopen(other, "r");
    if (!f) {
        perror(other);
        abort();
    }
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    read = true;
    return text;
}

static int described(const char *name)
{
    const char *at = strstr(emulated_description(), name);
    return at ? atoi(at + strlen(name) + strlen("\":")) : 0;
}

/* ---- the rest of the runtime ---- */

struct CUevent_st {
    cudaStream_t stream; /* the stream that it was recorded on */
    size_t work_before;  /* amount of work before it */
};

cudaError_t cudaGetDeviceCount(int *n)
{
    *n = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    strcpy(p->name, "the host's emulation");
    p->major = described("deviceVer") / 100;
    p->minor = described("deviceVer") / 10 % 10;
    p->multiProcessorCount = described("multiProcessorCount");
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *all)
{
    *all = device_memory();
    *unused = *all - allocated();
    return cudaSuccess;
}

static char streams[16];

/* The first stream created is the main one, the others are side streams. */
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
    static size_t n;
    *s = (cudaStream_t)(void *)&streams[n++ % 2];
    return cudaSuccess;
}

/* Returns whether s is the side stream of a backend. */
static bool is_side(cudaStream_t s)
{
    return (char *)(void *)s == &streams[1];
}

/* Side work that waits for a join. */
static std::vector<std::function<void()>> waits;
static size_t forked; /* amount of main work that the side stream waits for */

void emulated_do_on(cudaStream_t s, const std::function<void()> &work)
{
    if (is_side(s) && forked != emulated_requests()) {
        fprintf(stderr, "emulated CUDA: the side stream waits for %zu of %zu works\n", forked,
                emulated_requests());
        abort();
    }
    if (is_side(s) && backwards()) {
        waits.push_back(work);
        return;
    }
    emulated_do(work);
    if (is_side(s)) /* its own work is not the main stream's */
        forked = emulated_requests();
}

bool emulated_waits()
{
    return !waits.empty();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t event, unsigned)
{
    if (is_side(s) == is_side((cudaStream_t)event->stream))
        return cudaErrorInvalidValue;
    if (is_side(s)) {
        forked = event->work_before;
        return cudaSuccess;
    }
    for (const auto &work : waits)
        emulated_do(work);
    waits.clear();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    if (emulated_captures())
        return emulated_refuse();
    emulated_begin();
    emulated_end();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new CUevent_st{};
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t s)
{
    *event = {s, emulated_requests()};
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 0;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr, int)
{
    *value = 0;
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t e)
{
    switch (e) {
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorStreamCaptureUnsupported:
        return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
        return "operation failed due to a previous error during capture";
    case cudaErrorIllegalState:
        return "the operation cannot be performed in the present state";
    default:
        return "an invalid argument";
    }
}

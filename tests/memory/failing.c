/* SPDX-License-Identifier: Apache-2.0
 *
 * A library to be preloaded, in which allocations fail as its environment asks. They are counted
 * apart: those of the program and of the C library that it calls, and those of all other libraries.
 * Whose an allocation is says the address that it returns to.
 *
 *   MC_FAIL_WHOSE=own, library  of which one fails; anything else: none does
 *   MC_FAIL_AT=N                which, from 1
 *   MC_FAIL_ON=1                and all behind it
 *   MC_FAIL_COUNT=FILE          16 bytes, which become the numbers of the program's and the others'
 *
 * Programs that the program starts are left alone. A test that is such a program asks by mc_failing
 * instead. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* glibc's own, by the names that it keeps for this */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

static struct range {
    uintptr_t from, to;
} own[2]; /* the program, the C library */
enum { OWN, LIBRARY, NONE };
static int active, whose = NONE, onwards;
static uint64_t at;
static _Atomic uint64_t nowhere[2], *count = nowhere;

static int note(struct dl_phdr_info *i, size_t size, void *n)
{
    const char *name = strrchr(i->dlpi_name, '/');
    const int which = !*(int *)n ? 0 : name && !strcmp(name, "/libc.so.6") ? 1 : -1;

    (void)size;
    ++*(int *)n;
    for (int k = 0; which >= 0 && k < i->dlpi_phnum; k++) {
        const ElfW(Phdr) *h = &i->dlpi_phdr[k];
        const uintptr_t from = i->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_LOAD && (h->p_flags & PF_X))
            own[which] = (struct range){from, from + h->p_memsz};
    }
    return 0;
}

static uint64_t number(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("MC_FAIL_WHOSE"), *file = getenv("MC_FAIL_COUNT");
    const int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
    int n = 0;

    if (fd >= 0) {
        void *p = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p != MAP_FAILED)
            count = p;
        count[OWN] = count[LIBRARY] = 0;
        close(fd);
    }
    whose = !name ? NONE : !strcmp(name, "own") ? OWN : !strcmp(name, "library") ? LIBRARY : NONE;
    at = number("MC_FAIL_AT");
    onwards = number("MC_FAIL_ON") != 0;
    unsetenv("LD_PRELOAD");
    dl_iterate_phdr(note, &n);
    active = 1;
}

/* From now on allocation n, from 1, of the program (library = 0) or of the others fails, and with
 * onwards all behind it; n = 0: none. Returns how many there were since the last call. */
uint64_t mc_failing(int library, uint64_t n, int on);
uint64_t mc_failing(int library, uint64_t n, int on)
{
    whose = library ? LIBRARY : OWN;
    at = n;
    onwards = on;
    return atomic_exchange(&count[whose], 0);
}

static int fails(const void *caller)
{
    const uintptr_t c = (uintptr_t)caller;
    const int ours = (c >= own[0].from && c < own[0].to) || (c >= own[1].from && c < own[1].to);
    const int of = ours ? OWN : LIBRARY;

    if (!active)
        return 0;
    const uint64_t n = atomic_fetch_add(&count[of], 1) + 1;
    if (of != whose || !at || (onwards ? n < at : n != at))
        return 0;
    errno = ENOMEM;
    return 1;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t n)
{
    return fails(CALLER) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails(CALLER) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails(CALLER) ? NULL : __libc_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes = 0;

    if (fails(CALLER) || __builtin_mul_overflow(n, size, &bytes))
        return NULL;
    return __libc_realloc(p, bytes);
}

void *memalign(size_t alignment, size_t n)
{
    return fails(CALLER) ? NULL : __libc_memalign(alignment, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return fails(CALLER) ? NULL : __libc_memalign(alignment, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    void *got = fails(CALLER) ? NULL : __libc_memalign(alignment, n);

    if (got)
        *p = got;
    return got ? 0 : ENOMEM;
}

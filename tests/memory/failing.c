/* SPDX-License-Identifier: Apache-2.0
 *
 * A preloaded library in which chosen allocations fail. It counts two sources of allocations: the
 * program with the C library that it calls, and all other libraries. The return address of a call
 * decides its source.
 *
 *   MC_FAIL_SOURCE=own, library  the source that fails; anything else: nothing fails
 *   MC_FAIL_AT=N                 the number of the failing allocation, from 1
 *   MC_FAIL_ON=1                 all later ones fail too
 *   MC_FAIL_COUNT=FILE           a file of 24 bytes: its first 16 become both sources' counts
 *
 * It does not affect child processes. A test that preloads this library calls mc_failing instead,
 * which can also make the program's own calls for input and output fail. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's functions, under the names that it provides for this */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

static struct range {
    uintptr_t from, to;
} own[2]; /* the program, the C library */
enum { OWN, LIBRARY, CALL, NONE };
static int active, source = NONE, onwards;
static uint64_t at;
static _Atomic uint64_t nowhere[NONE], *count = nowhere;

static int find_code(struct dl_phdr_info *i, size_t size, void *n)
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
    const char *name = getenv("MC_FAIL_SOURCE"), *file = getenv("MC_FAIL_COUNT");
    const int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
    int n = 0;

    if (fd >= 0) {
        void *p = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p != MAP_FAILED)
            count = p;
        count[OWN] = count[LIBRARY] = 0;
        close(fd);
    }
    source = !name ? NONE : !strcmp(name, "own") ? OWN : !strcmp(name, "library") ? LIBRARY : NONE;
    at = number("MC_FAIL_AT");
    onwards = number("MC_FAIL_ON") != 0;
    unsetenv("LD_PRELOAD");
    dl_iterate_phdr(find_code, &n);
    active = 1;
}

/* Makes call n fail, counted from 1, and with `on` all later ones; n = 0: nothing fails. The call is
 * an allocation of the program (from = 0) or of libraries (1), or one for input and output of the
 * program (2). Returns the number of such calls since the last mc_failing. */
uint64_t mc_failing(int from, uint64_t n, int on);
uint64_t mc_failing(int from, uint64_t n, int on)
{
    source = from;
    at = n;
    onwards = on;
    return atomic_exchange(&count[from], 0);
}

static int is_next(int from)
{
    const uint64_t n = atomic_fetch_add(&count[from], 1) + 1;

    return from == source && at && (onwards ? n >= at : n == at);
}

static int fails(const void *caller)
{
    const uintptr_t c = (uintptr_t)caller;
    const int is_own = (c >= own[0].from && c < own[0].to) || (c >= own[1].from && c < own[1].to);

    if (!active || !is_next(is_own ? OWN : LIBRARY))
        return 0;
    errno = ENOMEM;
    return 1;
}

/* Only calls of the program fail. A close that fails has closed the file, as in the kernel. */
static int call_fails(const void *caller)
{
    const uintptr_t c = (uintptr_t)caller;

    if (!active || c < own[0].from || c >= own[0].to || !is_next(CALL))
        return 0;
    errno = EIO;
    return 1;
}

/* The number of blocks that are allocated and not freed. */
static _Atomic int64_t held;

int64_t mc_held(void);
int64_t mc_held(void)
{
    return held;
}

static void *hold(void *p)
{
    held += p != NULL;
    return p;
}

#define CALLER __builtin_return_address(0)

void free(void *p)
{
    held -= p != NULL;
    __libc_free(p);
}

void *malloc(size_t n)
{
    return fails(CALLER) ? NULL : hold(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return fails(CALLER) ? NULL : hold(__libc_calloc(n, size));
}

/* Reallocates p, which stays valid on failure. n = 0 frees p. */
static void *move(void *p, size_t n)
{
    void *to = __libc_realloc(p, n);

    held += (to && !p) - (!to && p && !n);
    return to;
}

void *realloc(void *p, size_t n)
{
    return fails(CALLER) ? NULL : move(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes = 0;

    if (fails(CALLER) || __builtin_mul_overflow(n, size, &bytes))
        return NULL;
    return move(p, bytes);
}

void *memalign(size_t alignment, size_t n)
{
    return fails(CALLER) ? NULL : hold(__libc_memalign(alignment, n));
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return fails(CALLER) ? NULL : hold(__libc_memalign(alignment, n));
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    void *got = fails(CALLER) ? NULL : hold(__libc_memalign(alignment, n));

    if (got)
        *p = got;
    return got ? 0 : ENOMEM;
}

/* ---- system calls ---- */

int open(const char *path, int flags, ...)
{
    va_list more;

    va_start(more, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    va_end(more);
    return call_fails(CALLER) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int fd, void *to, size_t n)
{
    return call_fails(CALLER) ? -1 : syscall(SYS_read, fd, to, n);
}

ssize_t write(int fd, const void *from, size_t n)
{
    return call_fails(CALLER) ? -1 : syscall(SYS_write, fd, from, n);
}

int fsync(int fd)
{
    return call_fails(CALLER) ? -1 : (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    const int rc = (int)syscall(SYS_close, fd);

    return call_fails(CALLER) ? -1 : rc;
}

int rename(const char *from, const char *to)
{
    return call_fails(CALLER) ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int fstat(int fd, struct stat *st)
{
    return call_fails(CALLER) ? -1 : (int)syscall(SYS_fstat, fd, st);
}

int lstat(const char *path, struct stat *st)
{
    return call_fails(CALLER)
               ? -1
               : (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int stat(const char *path, struct stat *st)
{
    return call_fails(CALLER) ? -1 : (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int flock(int fd, int how)
{
    return call_fails(CALLER) ? -1 : (int)syscall(SYS_flock, fd, how);
}

int access(const char *path, int how)
{
    return call_fails(CALLER) ? -1 : (int)syscall(SYS_faccessat, AT_FDCWD, path, how);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a program in which a C++ library has thrown. C catches nothing: where no frame does,
 * the C++ runtime calls std::terminate's handler. The runtime's own prints two lines and aborts; it
 * is replaced by ours.
 *
 * The runtime is there only with a library that needs it, and has no interface for C. So its
 * functions are looked up by their names in the Itanium C++ ABI, which every C++ compiler of Linux
 * keeps; that ABI also says that a std::type_info is a pointer to functions and one to the type's
 * name. */
#include "tools/cli/thrown.h"

#include "formats/stream/output.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NULL_PAGE 4096u /* addresses of null pointers and their members are below */

struct type_info {
    const void *functions;
    const char *name;
};
typedef struct type_info *current_type(void);
typedef void handler(void);
typedef handler *set_terminate(handler *);

static void (*tell_user)(const char *text);
static current_type *thrown;

/* In any thread, while the others run: nothing is freed. */
static void end(const char *text)
{
    mc_stream_remove_temporaries();
    tell_user(text);
    _exit(1);
}

static void on_terminate(void)
{
    const struct type_info *type = thrown ? thrown() : NULL;
    char text[256] = "out of memory";

    if (!type || strcmp(type->name, "St9bad_alloc") != 0)
        snprintf(text, sizeof text, "a library failed: it threw %s", type ? type->name : "nothing");
    end(text);
}

/* oneDNN 2.6 uses the null pointer of an allocation that failed; malloc() set errno. */
static void on_segv(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (errno == ENOMEM && info->si_code == SEGV_MAPERR && (uintptr_t)info->si_addr < NULL_PAGE)
        end("out of memory");
    mc_stream_remove_temporaries();
    raise(sig); /* its action is the default again */
}

static void catch_segv(void)
{
    struct sigaction now, old;

    memset(&now, 0, sizeof now);
    now.sa_sigaction = on_segv;
    now.sa_flags = (int)SA_RESETHAND | SA_NODEFER | SA_SIGINFO;
    sigemptyset(&now.sa_mask);
    if (!sigaction(SIGSEGV, NULL, &old) && old.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &now, NULL);
}

void mc_catch_thrown(void (*tell)(const char *text))
{
    void *set = dlsym(RTLD_DEFAULT, "_ZSt13set_terminatePFvvE"); /* std::set_terminate */
    void *type = dlsym(RTLD_DEFAULT, "__cxa_current_exception_type");
    set_terminate *put = NULL;

    tell_user = tell;
    catch_segv();
    if (!set)
        return;
    /* ISO C converts no object's address to a function's */
    memcpy(&put, &set, sizeof put);
    memcpy(&thrown, &type, sizeof thrown);
    put(on_terminate);
}

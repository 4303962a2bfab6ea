/* SPDX-License-Identifier: Apache-2.0
 *
 * Exit after an uncaught C++ exception. C code catches none, so the C++ runtime calls the terminate
 * handler. Its default prints two lines and aborts; it is replaced here.
 *
 * The C++ runtime is loaded only with a library that needs it, and has no C interface. Its
 * functions are looked up by their names in the Itanium C++ ABI, which all C++ compilers on Linux
 * follow. There, a std::type_info is a pointer to functions and a pointer to the type's name. */
#include "tools/cli/exceptions.h"

#include "formats/stream/output.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NULL_PAGE 4096u /* null pointers and their members have addresses below this */

struct type_info {
    const void *functions;
    const char *name;
};
typedef struct type_info *current_type(void);
typedef void handler(void);
typedef handler *set_terminate(handler *);

static void (*print_message)(const char *text);
static current_type *exception_type;

/* Print a message and exit. It runs in any thread while the others continue, so it frees nothing. */
static void end(const char *text)
{
    mc_stream_remove_temporaries();
    print_message(text);
    _exit(1);
}

static void on_terminate(void)
{
    const struct type_info *type = exception_type ? exception_type() : NULL;
    char text[256] = "out of memory";

    if (!type || strcmp(type->name, "St9bad_alloc") != 0)
        snprintf(text, sizeof text, "a library failed: uncaught C++ exception %s",
                 type ? type->name : "(unknown)");
    end(text);
}

/* oneDNN 2.6 uses the null pointer of a failed allocation; malloc() has set errno. */
static void on_segv(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (errno == ENOMEM && info->si_code == SEGV_MAPERR && (uintptr_t)info->si_addr < NULL_PAGE)
        end("out of memory");
    mc_stream_remove_temporaries();
    raise(sig); /* SA_RESETHAND restored the default action */
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

void mc_catch_exceptions(void (*print)(const char *text))
{
    void *frame[1];
    void *set = dlsym(RTLD_DEFAULT, "_ZSt13set_terminatePFvvE"); /* std::set_terminate */
    void *type = dlsym(RTLD_DEFAULT, "__cxa_current_exception_type");
    set_terminate *put = NULL;

    (void)backtrace(frame, 1); /* glibc loads its unwinder while there is memory; later it aborts */
    print_message = print;
    catch_segv();
    if (!set)
        return;
    /* ISO C does not convert object pointers to function pointers */
    memcpy(&put, &set, sizeof put);
    memcpy(&exception_type, &type, sizeof exception_type);
    put(on_terminate);
}

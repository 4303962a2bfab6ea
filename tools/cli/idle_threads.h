/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes OpenMP's idle threads sleep after a short spin, unless the user sets OMP_WAIT_POLICY or
 * GOMP_SPINCOUNT. By default libgomp spins for milliseconds, which takes cores from working threads
 * on a busy machine. Without any spin an idle machine is slower.
 *
 * libgomp reads its environment in a constructor, before main. A function in .preinit_array runs
 * before all constructors, but libc's own constructor then sets `environ` to the kernel's array,
 * which has no room for one more variable. So GOMP_SPINCOUNT replaces PATH until main starts; no
 * library's constructor reads PATH. */
#ifndef MC_IDLE_THREADS_H
#define MC_IDLE_THREADS_H

/* Restores PATH, and with it the environment that the program was started with. Programs call it
 * first. */
void mc_restore_environment(void);

#endif

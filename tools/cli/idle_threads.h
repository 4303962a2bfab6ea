/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP's idle threads sleep after a short spin, unless the user sets OMP_WAIT_POLICY or
 * GOMP_SPINCOUNT. libgomp's default is to spin for milliseconds, which takes cores from the threads
 * that work on a machine with other work. Without any spin a quiet machine is slower.
 *
 * libgomp reads its environment in a constructor, before main. A function in .preinit_array runs
 * before all constructors, but libc's own constructor then sets `environ` to the array that the
 * kernel made. That array has no room for one more variable, so GOMP_SPINCOUNT takes the place of
 * PATH until main starts: no library's constructor reads PATH. */
#ifndef MC_IDLE_THREADS_H
#define MC_IDLE_THREADS_H

/* Puts PATH back: the environment is then the one that the program was started with. Programs call
 * it first. */
void mc_restore_environment(void);

#endif

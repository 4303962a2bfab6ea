/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated device. Its memory has MC_EMULATION_MEMORY bytes. Accesses past an allocation's end
 * fault. With MC_EMULATION_GUARD set, the host can access it only by copies, as a GPU's. Its stream
 * can be captured (capture.cc). */
#ifndef MC_EMULATED_DEVICE_H
#define MC_EMULATED_DEVICE_H

#include <cuda_runtime_api.h>

#include <functional>

/* The device's description, as cuDNN's JSON: tests/gpu/h100.json, or the file
 * MC_EMULATION_DEVICE. */
const char *emulated_description();
/* Returns whether [p, p + bytes) is in one allocation. */
bool emulated_holds(const void *p, size_t bytes);
/* The device computes from begin to end; at other times its memory is closed. */
void emulated_begin();
void emulated_end();

/* Runs work, or, during a capture, stores it for cudaGraphLaunch; it holds its data by value. With
 * MC_EMULATION_IDLE set it never runs: such programs only count requests. */
void emulated_do(const std::function<void()> &work);
size_t emulated_requests(); /* number of calls */
/* The same on a stream. Side work runs at once or, with MC_EMULATION_ORDER=backwards, only when
 * it is waited for. Aborts if the side stream does not wait for all earlier work of the main
 * stream. */
void emulated_do_on(cudaStream_t s, const std::function<void()> &work);
bool emulated_waits(); /* side work is still waiting */
bool emulated_captures();
/* A call that is invalid in a capture spoils it, and fails. */
cudaError_t emulated_refuse();
/* Returns whether MC_EMULATION_CAPTURE names this call to fail: begin, work (cudaMemsetAsync in a
 * capture), end, instantiate, longer (instantiating a graph longer than an earlier one), upload. */
bool emulated_fails(const char *call);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated device. Its memory, MC_EMULATION_MEMORY bytes of it: beyond an allocation's end lies
 * nothing, and with MC_EMULATION_GUARD set the host's programs cannot touch it but by copies, as a
 * GPU's. Its stream, which may be captured (capture.cc). */
#ifndef MC_EMULATED_DEVICE_H
#define MC_EMULATED_DEVICE_H

#include <cuda_runtime_api.h>

#include <functional>

/* What device it is, in cuDNN's words: tests/gpu/h200.json, or the file MC_EMULATION_DEVICE. */
const char *emulated_description();
/* Do [p, p + bytes) lie in one allocation? */
bool emulated_holds(const void *p, size_t bytes);
/* The device computes from begin to end; in between its memory is closed. */
void emulated_begin();
void emulated_end();

/* Now; or, while a stream is captured, kept for cudaGraphLaunch: it holds all that it needs by
 * value. Never where MC_EMULATION_IDLE is set, for who counts what a device is asked to do. */
void emulated_do(const std::function<void()> &work);
size_t emulated_asked(); /* how often */
/* The same. What runs beside the other work runs at once or, with MC_EMULATION_ORDER=backwards, not
 * before that is waited for; it aborts where the stream beside does not wait for all that arrived
 * before on the other. */
void emulated_do_on(cudaStream_t s, const std::function<void()> &work);
bool emulated_waits(); /* something does that nobody has waited for */
bool emulated_captures();
/* What has no place in a capture spoils it, and fails. */
cudaError_t emulated_refuse();
/* Is this to fail, by MC_EMULATION_CAPTURE: begin, work (cudaMemsetAsync in a capture), end,
 * instantiate, longer (a graph than another that was instantiated), upload. */
bool emulated_fails(const char *what);

#endif

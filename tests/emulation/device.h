/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated device's memory, MC_EMULATION_MEMORY bytes of it: beyond an allocation's end lies
 * nothing, and with MC_EMULATION_GUARD set the host's programs cannot touch it but by copies, as a
 * GPU's. */
#ifndef MC_EMULATED_DEVICE_H
#define MC_EMULATED_DEVICE_H

/* The device computes from begin to end; in between its memory is closed. */
void emulated_begin();
void emulated_end();

#endif

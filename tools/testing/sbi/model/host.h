/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the host's C library that the model uses. */
#ifndef SBI_MODEL_HOST_H
#define SBI_MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>

void host_write(const char *text, size_t length);
/* Does not return. */
void host_exit(int status);
/* Maps memory at ADDRESS, where the program expects a device. */
bool host_map(unsigned long address, size_t size);
/* Begin and end of the program's memory. */
unsigned long host_image_begin(void);
unsigned long host_image_end(void);

#endif

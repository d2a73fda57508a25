/* SPDX-License-Identifier: BSD-2-Clause */
/* What the model needs of the host's C library. */
#ifndef SBI_MODEL_HOST_H
#define SBI_MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>

void host_write(const char *text, size_t length);
/* Does not return. */
void host_exit(int status);
/* Memory at ADDRESS, where the program expects a device. */
bool host_map(unsigned long address, size_t size);
/* Where the program's own memory begins and ends. */
unsigned long host_image_begin(void);
unsigned long host_image_end(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The local PMU overflow event of the Supervisor Software Events extension. */
#ifndef SBI_CONFORMANCE_SSE_H
#define SBI_CONFORMANCE_SSE_H

#include "sbi.h"

/* Registers and enables the event. Its handler calls ACTION if that is not NULL. */
bool sse_begin(void (*action)(void));
void sse_end(void);

#endif

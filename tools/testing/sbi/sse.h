/* SPDX-License-Identifier: BSD-2-Clause */
/* The local PMU overflow event of the Supervisor Software Events extension. */
#ifndef SBI_CONFORMANCE_SSE_H
#define SBI_CONFORMANCE_SSE_H

#include "sbi.h"

/* Takes the event from now on, and has its handler call ACTION, which may be NULL. */
bool sse_begin(void (*action)(void));
void sse_end(void);

#endif

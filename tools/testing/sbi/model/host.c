// SPDX-License-Identifier: BSD-2-Clause
/* Only this file includes headers of the C library, which conflict with sbi.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "host.h"

/* Symbols of the linker. */
extern char __executable_start[], end[];

void host_write(const char *text, size_t length)
{
	fwrite(text, 1, length, stdout);
}

void host_exit(int status)
{
	exit(fflush(stdout) ? EXIT_FAILURE : status);
}

bool host_map(unsigned long address, size_t size)
{
	void *at = mmap((void *)address, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return at == (void *)address;
}

unsigned long host_image_begin(void)
{
	return (unsigned long)__executable_start;
}

unsigned long host_image_end(void)
{
	return (unsigned long)end;
}

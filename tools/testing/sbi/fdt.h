/* SPDX-License-Identifier: BSD-2-Clause */
/* Properties that are read from the flattened devicetree. */
#ifndef SBI_CONFORMANCE_FDT_H
#define SBI_CONFORMANCE_FDT_H

#include "sbi.h"

struct machine {
	const char *bootargs;	/* "" if there are none */
	const char *initrd;	/* known failures, and the selected case if any */
	const char *initrd_end;
	bool smcntrpmf;
	bool smepmp;
	bool ssctr;
	u64 harts;
	const char *firmware;	/* its name, for messages */
};

extern struct machine machine;

void fdt_parse(const void *fdt);
/* The number after NAME= in the boot arguments, or OTHERWISE. */
u64 bootarg(const char *name, u64 otherwise);
bool bootarg_has(const char *word);

size_t str_length(const char *s);
/* Does S begin with PREFIX? */
bool str_begins(const char *s, const char *prefix);
bool str_equal(const char *a, const char *b);

#endif

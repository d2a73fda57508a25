/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of the kernel, and how many NMIs there were. */
#ifndef RISCV_PMU_TEST_SYMBOL_H
#define RISCV_PMU_TEST_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

struct symbol {
	uint64_t begin, end;
};

/*
 * Finds a function; it ends where the next one begins. If there is no such function, is_in() is
 * false for every address.
 */
bool find_symbol(const char *name, struct symbol *symbol);
bool is_in(uint64_t ip, const struct symbol *symbol);

/* "nmis" of all harts, or "nmis_deferred": those that had to wait */
long count_nmis(const char *name);

#endif

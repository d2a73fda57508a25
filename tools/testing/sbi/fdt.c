// SPDX-License-Identifier: BSD-2-Clause
#include "fdt.h"

#define FDT_BEGIN_NODE	1
#define FDT_END_NODE	2
#define FDT_PROP	3
#define FDT_NOP		4

struct machine machine = { .bootargs = "", .firmware = "this firmware" };

struct fdt_header {
	u32 magic, totalsize, off_dt_struct, off_dt_strings;
};

struct property {
	const char *name;
	const u8 *value;
	u32 size;
};

static u32 be32(const void *at)
{
	const u8 *b = at;

	return (u32)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

static u64 cells(const struct property *prop)
{
	return prop->size == 4 ? be32(prop->value) :
	       (u64)be32(prop->value) << 32 | be32(prop->value + 4);
}

size_t str_length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

bool str_begins(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return false;
	return true;
}

bool str_equal(const char *a, const char *b)
{
	return str_begins(a, b) && !a[str_length(b)];
}

static bool list_has(const struct property *prop, const char *word)
{
	u32 at = 0;

	while (at < prop->size) {
		if (str_equal((const char *)prop->value + at, word))
			return true;
		at += str_length((const char *)prop->value + at) + 1;
	}
	return false;
}

/* The path is not checked, because none of these names occurs in two places. */
static void take_property(const struct property *prop)
{
	if (str_equal(prop->name, "bootargs")) {
		machine.bootargs = (const char *)prop->value;
	} else if (str_equal(prop->name, "linux,initrd-start")) {
		machine.initrd = (const char *)(ulong)cells(prop);
	} else if (str_equal(prop->name, "linux,initrd-end")) {
		machine.initrd_end = (const char *)(ulong)cells(prop);
	} else if (str_equal(prop->name, "riscv,isa-extensions")) {
		machine.smcntrpmf = list_has(prop, "smcntrpmf");
		machine.smepmp = list_has(prop, "smepmp");
		machine.ssctr = list_has(prop, "ssctr");
		machine.harts++;
	}
}

static const u8 *aligned(const u8 *at)
{
	return (const u8 *)(((ulong)at + 3) & ~3UL);
}

void fdt_parse(const void *fdt)
{
	const struct fdt_header *header = fdt;
	const u8 *at = (const u8 *)fdt + be32(&header->off_dt_struct);
	const char *strings = (const char *)fdt + be32(&header->off_dt_strings);

	for (;;) {
		u32 token = be32(at);
		struct property prop;

		at += 4;
		switch (token) {
		case FDT_BEGIN_NODE:
			at = aligned(at + str_length((const char *)at) + 1);
			break;
		case FDT_PROP:
			prop.size = be32(at);
			prop.name = strings + be32(at + 4);
			prop.value = at + 8;
			take_property(&prop);
			at = aligned(at + 8 + prop.size);
			break;
		case FDT_END_NODE:
		case FDT_NOP:
			break;
		default:
			return;
		}
	}
}

static const char *bootarg_find(const char *name)
{
	const char *at = machine.bootargs;

	for (;;) {
		while (*at == ' ')
			at++;
		if (!*at)
			return NULL;
		if (str_begins(at, name))
			return at + str_length(name);
		while (*at && *at != ' ')
			at++;
	}
}

bool bootarg_has(const char *word)
{
	const char *after = bootarg_find(word);

	return after && (!*after || *after == ' ');
}

u64 bootarg(const char *name, u64 otherwise)
{
	const char *at = bootarg_find(name);
	u64 n = 0;

	if (!at || *at++ != '=')
		return otherwise;
	for (; *at >= '0' && *at <= '9'; at++)
		n = n * 10 + (*at - '0');
	return n;
}

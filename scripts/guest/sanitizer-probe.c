// SPDX-License-Identifier: GPL-2.0
/*
 * sanitizer-probe DEFECT: make a mistake that ASan, LeakSanitizer or UBSan has to report.
 */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE	10

static char array[SIZE];

/* The compiler must neither know the object nor leave out an access to it. */
static char *hide(char *object)
{
	__asm__ volatile("" : "+r" (object) : : "memory");
	return object;
}

static void overflow_heap(void)
{
	char *object = hide(malloc(SIZE));

	object[SIZE] = 1;
	free(hide(object));
}

static void use_freed(void)
{
	char *object = hide(malloc(SIZE));

	free(object);
	hide(object)[0] = 1;
}

static void overflow_stack(void)
{
	char object[SIZE];

	hide(object)[SIZE] = 1;
}

static void overflow_global(void)
{
	hide(array)[SIZE] = 1;
}

/* Several, because a register or the stack may still have the address of the last one. */
static void leak(void)
{
	for (int i = 0; i < 10; i++)
		hide(malloc(SIZE))[0] = 1;
}

static void overflow_int(void)
{
	int number = INT_MAX;

	__asm__ volatile("" : "+r" (number));
	number++;
	__asm__ volatile("" : : "r" (number));
}

static const struct {
	const char *name;
	void (*make)(void);
} defects[] = {
	{ "heap-buffer-overflow", overflow_heap },
	{ "heap-use-after-free", use_freed },
	{ "stack-buffer-overflow", overflow_stack },
	{ "global-buffer-overflow", overflow_global },
	{ "leak", leak },
	{ "signed-integer-overflow", overflow_int },
};

#define DEFECTS	(sizeof(defects) / sizeof(*defects))

int main(int argc, char **argv)
{
	for (size_t i = 0; i < DEFECTS; i++) {
		if (argc == 2 && !strcmp(argv[1], defects[i].name)) {
			defects[i].make();
			return 0;
		}
	}
	fprintf(stderr, "usage: sanitizer-probe DEFECT, which is one of");
	for (size_t i = 0; i < DEFECTS; i++)
		fprintf(stderr, " %s", defects[i].name);
	fprintf(stderr, "\n");
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
/* A minimal JSON writer for the output of rvpmu. */

#include <stdio.h>

#include "rvpmu.h"

static int depth;
static bool first = true;

static void put_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			/* File names may have any bytes: treat them as Latin-1. */
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void put_key(const char *key)
{
	if (!first)
		putchar(',');
	if (depth)
		printf("\n%*s", 2 * depth, "");
	first = false;
	if (!key)
		return;

	put_string(key);
	printf(": ");
}

void json_open(const char *key, char bracket)
{
	if (!json)
		return;

	put_key(key);
	putchar(bracket);
	depth++;
	first = true;
}

void json_close(char bracket)
{
	if (!json)
		return;

	depth--;
	if (!first)
		printf("\n%*s", 2 * depth, "");
	putchar(bracket);
	first = false;
}

void json_text(const char *key, const char *value)
{
	if (!json)
		return;

	put_key(key);
	put_string(value);
}

void json_number(const char *key, long long value)
{
	if (!json)
		return;

	put_key(key);
	printf("%lld", value);
}

void json_end(void)
{
	if (json)
		putchar('\n');
}

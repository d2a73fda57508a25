// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>

#include "pmu.h"
#include "tap.h"

#define LINE_MAX	1024

static char line[LINE_MAX];
static size_t line_used;

/* The console is the firmware's; where it has none, nothing is said. */
static void line_flush(void)
{
	size_t done = 0;

	while (done < line_used) {
		struct sbiret ret = sbi_call(SBI_EXT_DBCN, 0, line_used - done,
					     (u64)line + done, 0);

		if (ret.error)
			break;
		done += ret.value;
	}
	line_used = 0;
}

static void put(char c)
{
	line[line_used++] = c;
	if (c == '\n' || line_used == LINE_MAX)
		line_flush();
}

static void put_string(const char *s)
{
	while (*s)
		put(*s++);
}

static void put_number(u64 n, unsigned int base)
{
	char digits[24];
	int i = 0;

	do {
		digits[i++] = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	while (i)
		put(digits[--i]);
}

static void put_signed(long n)
{
	if (n < 0)
		put('-');
	put_number(n < 0 ? -(u64)n : (u64)n, 10);
}

static void vprint(const char *format, va_list args)
{
	for (; *format; format++) {
		if (*format != '%') {
			put(*format);
			continue;
		}
		switch (*++format) {
		case 's':
			put_string(va_arg(args, const char *));
			break;
		case 'c':
			put(va_arg(args, int));
			break;
		case 'd':
			put_signed(va_arg(args, long));
			break;
		case 'u':
			put_number(va_arg(args, u64), 10);
			break;
		case 'x':
			put_string("0x");
			put_number(va_arg(args, u64), 16);
			break;
		}
	}
}

void print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprint(format, args);
	va_end(args);
}

void power_off(bool good)
{
	line_flush();
	/* Shutdown; no reason, or a failure of the system. */
	sbi_call(SBI_EXT_SRST, 0, 0, !good, 0);
	for (;;)
		asm volatile("wfi");
}

void bail_out(const char *format, ...)
{
	va_list args;

	put_string("Bail out! ");
	va_start(args, format);
	vprint(format, args);
	va_end(args);
	put('\n');
	power_off(false);
}

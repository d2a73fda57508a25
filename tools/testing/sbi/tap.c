// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>

#include "fdt.h"
#include "pmu.h"
#include "tap.h"

#define LINE_MAX	1024

static char line[LINE_MAX];
static size_t line_used;

/* Without a console of the firmware, nothing is printed. */
static void line_flush(void)
{
	size_t done = 0;

	while (done < line_used) {
		struct sbiret ret = sbi_call(SBI_EXT_DBCN, DBCN_WRITE, line_used - done,
					     (ulong)line + done, 0);

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

static void put_number(u64 n, u32 base)
{
	char digits[24];
	int i = 0;

	do {
		digits[i++] = "0123456789abcdef"[divide(&n, base)];
	} while (n);
	while (i)
		put(digits[--i]);
}

static void put_signed(long long n)
{
	if (n < 0)
		put('-');
	put_number(n < 0 ? -(u64)n : (u64)n, 10);
}

static void put_integer(char how, long long n)
{
	if (how == 'd') {
		put_signed(n);
	} else if (how == 'u') {
		put_number(n, 10);
	} else {
		put_string("0x");
		put_number(n, 16);
	}
}

static void vprint(const char *format, va_list args)
{
	for (; *format; format++) {
		if (*format != '%') {
			put(*format);
			continue;
		}
		format++;
		if (*format == '#')
			format++;
		if (*format == 's') {
			put_string(va_arg(args, const char *));
		} else if (*format == 'c') {
			put(va_arg(args, int));
		} else if (str_begins(format, "ll")) {
			format += 2;
			put_integer(*format, va_arg(args, long long));
		} else {
			format++;
			put_integer(*format, *format == 'd' ? va_arg(args, long) :
				    (long long)va_arg(args, ulong));
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
	/* Shutdown, with reason "none" or "system failure". */
	sbi_call(SBI_EXT_SRST, 0, 0, !good, 0);
	for (;;)
		wait_for_interrupt();
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

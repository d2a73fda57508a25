// SPDX-License-Identifier: GPL-2.0
/*
 * A minimal JSON writer for the output of rvpmu. Each command prints one document, which
 * rvpmu.schema.json describes.
 */

#define _GNU_SOURCE
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rvpmu.h"

/* The document is written to @target when it is complete. */
static FILE *out, *target;
static char *document;
static size_t size;
static int depth;
static bool first = true;

/* Errors are at the end of the document. */
static char **errors;
static size_t nr_errors;

/* --- characters --- */

/* Length of a character by its first byte; 0 if no character begins so. */
static size_t first_byte_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Length of the UTF-8 character at @text; 0 if it is none. */
static size_t utf8_length(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t len = first_byte_length(*c);

	for (size_t i = 1; i < len; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and numbers above 0x10ffff */
	if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
	    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
		return 0;
	return len;
}

/* Control characters, also those of ISO 6429 with two bytes, could change the terminal. */
static bool is_control(const char *text)
{
	unsigned char c = *text;

	return c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)text[1] < 0xa0);
}

/* A terminal without UTF-8 also takes the bytes 0x80 to 0x9f for control characters. */
static bool is_control_byte(const char *text)
{
	return utf8_length(text) ? is_control(text) : (*text & 0xe0) == 0x80;
}

/* The next control character, or the end. */
static char *find_control(char *text)
{
	while (*text && !is_control_byte(text))
		text += utf8_length(text) ? utf8_length(text) : 1;
	return text;
}

bool has_control(const char *text)
{
	return *find_control((char *)text);
}

void drop_controls(char *text)
{
	for (text = find_control(text); *text; text = find_control(text)) {
		if (utf8_length(text) == 2)
			*text++ = '?';
		*text++ = '?';
	}
}

void make_printable(const char *text, char printable[TEXT_SIZE])
{
	size_t used = 0;

	while (*text && used + sizeof("\\xff") < TEXT_SIZE) {
		size_t len = utf8_length(text);

		if (len && !is_control(text) && *text != '\\') {
			memcpy(printable + used, text, len);
			used += len;
			text += len;
		} else {
			used += sprintf(printable + used, "\\x%02x", (unsigned char)*text++);
		}
	}
	printable[used] = '\0';
}

/* --- the document --- */

static void put_string(const char *text)
{
	fputc('"', out);
	while (*text) {
		size_t len = utf8_length(text);

		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (!len)
			/* File names may have any bytes; JSON has characters only. */
			fprintf(out, "\\ufffd");
		else if (is_control(text))
			fprintf(out, "\\u%04x", len == 2 ? (unsigned char)text[1] : *text);
		else
			fwrite(text, len, 1, out);
		text += len ? len : 1;
	}
	fputc('"', out);
}

static void put_key(const char *key)
{
	if (!first)
		fputc(',', out);
	if (depth)
		fprintf(out, "\n%*s", 2 * depth, "");
	first = false;
	if (!key)
		return;

	put_string(key);
	fprintf(out, ": ");
}

void json_open(const char *key, char bracket)
{
	if (!json)
		return;

	put_key(key);
	fputc(bracket, out);
	depth++;
	first = true;
}

void json_close(char bracket)
{
	if (!json)
		return;

	depth--;
	if (!first)
		fprintf(out, "\n%*s", 2 * depth, "");
	fputc(bracket, out);
	first = false;
}

void json_text(const char *key, const char *value)
{
	if (!json)
		return;

	put_key(key);
	put_string(value);
}

void json_true(const char *key)
{
	if (!json)
		return;

	put_key(key);
	fputs("true", out);
}

void json_number(const char *key, long long value)
{
	if (!json)
		return;

	put_key(key);
	fprintf(out, "%lld", value);
}

/* Is it text in UTF-8 without control characters? */
static bool is_text(const char *text)
{
	while (*text) {
		size_t len = utf8_length(text);

		if (!len || is_control(text))
			return false;
		text += len;
	}
	return true;
}

bool json_object(const char *line)
{
#define STRING	"\"([^\"\\\\]|\\\\[\"\\\\/bfnrt])*\""
#define FIELD	STRING " *: *(" STRING "|-?(0|[1-9][0-9]*)(\\.[0-9]+)?)"
	static regex_t regex;
	static bool compiled;

	if (!compiled && regcomp(&regex, "^\\{" FIELD "( *, *" FIELD ")*}$",
				 REG_EXTENDED | REG_NOSUB))
		return false;
	compiled = true;
	if (!is_text(line) || regexec(&regex, line, 0, NULL, 0))
		return false;
	put_key(NULL);
	fputs(line, out);
	return true;
}

void report_error(const char *format, ...)
{
	char **more, *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!json)
		fprintf(stderr, "rvpmu: %s\n", text ? text : "out of memory");
	more = json && text ? realloc(errors, (nr_errors + 1) * sizeof(*errors)) : NULL;
	if (!more) {
		free(text);
		return;
	}
	errors = more;
	errors[nr_errors++] = text;
}

bool json_begin(const char *command)
{
	if (!json)
		return true;

	target = stdout;
	out = open_memstream(&document, &size);
	if (!out)
		return false;
	json_open(NULL, '{');
	json_number("schema", JSON_SCHEMA);
	json_text("version", RVPMU_VERSION);
	if (command)
		json_text("command", command);
	return true;
}

bool json_redirect(const char *path)
{
	FILE *file = fopen(path, "we");

	if (file)
		target = file;
	return file;
}

bool json_stream(void)
{
	bool ok;

	if (!out || out == target)
		return true;
	ok = !fclose(out);
	out = target;
	return ok && fwrite(document, size, 1, target) == 1 && json_flush();
}

bool json_flush(void)
{
	return !fflush(target);
}

bool json_end(int status)
{
	/* The help has no document. */
	if (!out)
		return true;

	json_open("errors", '[');
	for (size_t i = 0; i < nr_errors; i++)
		json_text(NULL, errors[i]);
	json_close(']');
	json_number("status", status);
	json_close('}');
	fputc('\n', out);
	if (out == target)
		return json_flush() && !ferror(target);
	return !fclose(out) && fwrite(document, size, 1, target) == 1 && !fflush(target);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A program that a profile makes faster: it decodes a stream of messages, as a server does.
 *
 * autofdo [ROUNDS]
 *
 * Without a profile, the compiler does not know that nearly all messages are of the kind DATA and nearly
 * all words are plain: it calls decode_word(), which is large, for each word.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MESSAGES	1024
#define WORDS		8

enum kind { OPEN, CLOSE, DATA, PING, KINDS };
enum tag { PLAIN, NEGATIVE, SWAPPED, REPEATED, MIXED, INDEX, TAGS };

struct message {
	enum kind kind;
	uint32_t words[WORDS];
};

struct state {
	uint32_t sum;
	uint32_t last;
	uint32_t open;
	uint32_t errors;
	uint32_t table[16];
};

typedef void (*handler)(struct state *state, const struct message *message);

static struct message messages[MESSAGES];

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static uint32_t mix(uint32_t value)
{
	for (int i = 0; i < 5; i++)
		value = (value ^ value >> 13) * 0x5bd1e995;
	return value;
}

/* The highest bits of a word are its tag. */
static uint32_t decode_word(struct state *state, uint32_t word)
{
	uint32_t value = word & 0xfffffff;

	switch (word >> 28) {
	case PLAIN:
		return value;
	case NEGATIVE:
		return -value;
	case SWAPPED:
		return __builtin_bswap32(value) ^ value;
	case REPEATED:
		state->last = mix(state->last + value);
		return state->last;
	case MIXED:
		return mix(value) ^ mix(state->sum);
	case INDEX:
		state->table[value % 16] += mix(value);
		return state->table[value / 16 % 16];
	default:
		state->errors++;
		return 0;
	}
}

static void handle_open(struct state *state, const struct message *message)
{
	state->open++;
	state->last = decode_word(state, message->words[0]);
}

static void handle_close(struct state *state, const struct message *message)
{
	if (!state->open)
		state->errors++;
	else
		state->open--;
	state->last = decode_word(state, message->words[1]);
}

static void handle_data(struct state *state, const struct message *message)
{
	for (int i = 0; i < WORDS; i++)
		state->sum += decode_word(state, message->words[i]);
}

static void handle_ping(struct state *state, const struct message *message)
{
	state->sum ^= decode_word(state, message->words[2]) + state->last;
}

/* The records say which of these is called. */
static handler handlers[KINDS] = {
	[OPEN] = handle_open, [CLOSE] = handle_close, [DATA] = handle_data, [PING] = handle_ping,
};

/* Some words are not plain, and some messages have no data: the branches for these are rare. */
static void fill_messages(void)
{
	uint32_t seed = 1;

	for (int i = 0; i < MESSAGES; i++) {
		uint32_t kind = next_random(&seed) % 128;

		messages[i].kind = kind < KINDS ? kind : DATA;
		for (int word = 0; word < WORDS; word++) {
			uint32_t tag = next_random(&seed) % 64 ? PLAIN : next_random(&seed) % (TAGS + 1);

			messages[i].words[word] = tag << 28 | next_random(&seed);
		}
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 300;
	struct state state = { 0 };

	fill_messages();
	while (rounds-- > 0)
		for (int i = 0; i < MESSAGES; i++)
			handlers[messages[i].kind](&state, &messages[i]);
	printf("%08x %u\n", state.sum, state.errors);
	return 0;
}

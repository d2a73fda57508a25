// SPDX-License-Identifier: GPL-2.0
/*
 * A workload to profile: three functions with about 1/2, 1/3 and 1/6 of the
 * instructions.
 *
 * workload [ROUNDS]
 *
 * workload-fp is the same program with -DFRAMES and frame pointers, so that
 * Linux can walk its call chains.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS	4096

/*
 * The compiler saves ra only in functions that call others. In a leaf function,
 * the unwinder would use another value instead of ra.
 */
static inline void save_ra(void)
{
#ifdef FRAMES
	asm volatile("" ::: "ra");
#endif
}

static uint32_t words[WORDS];

static __attribute__((noipa)) uint32_t hash_words(uint32_t seed)
{
	uint32_t hash = seed;

	save_ra();
	for (int pass = 0; pass < 24; pass++)
		for (int i = 0; i < WORDS; i++)
			hash = (hash ^ words[i]) * 16777619u;
	return hash;
}

static __attribute__((noipa)) void shuffle_words(uint32_t seed)
{
	save_ra();
	for (int i = WORDS - 1; i > 0; i--) {
		uint32_t other, tmp;

		seed = seed * 1664525u + 1013904223u;
		other = (uint64_t)seed * (i + 1) >> 32;
		tmp = words[i];
		words[i] = words[other];
		words[other] = tmp;
	}
}

static __attribute__((noipa)) void sift_words(int from, int count)
{
	save_ra();
	for (int child; (child = 2 * from + 1) < count; from = child) {
		uint32_t tmp = words[from];

		if (child + 1 < count && words[child + 1] > words[child])
			child++;
		if (tmp >= words[child])
			return;
		words[from] = words[child];
		words[child] = tmp;
	}
}

static __attribute__((noipa)) void sort_words(void)
{
	for (int i = WORDS / 2; i--; )
		sift_words(i, WORDS);
	for (int i = WORDS; --i > 0; ) {
		uint32_t tmp = words[0];

		words[0] = words[i];
		words[i] = tmp;
		sift_words(0, i);
	}
}

static __attribute__((noipa)) uint32_t run_round(uint32_t seed)
{
	uint32_t hash;

	shuffle_words(seed);
	hash = hash_words(seed);
	sort_words();
	return hash;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	uint32_t hash = 2166136261u;

	for (int i = 0; i < WORDS; i++)
		words[i] = i;
	while (rounds-- > 0)
		hash = run_round(hash);
	printf("%08x\n", hash);
	return 0;
}

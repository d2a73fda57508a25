// SPDX-License-Identifier: GPL-2.0
/* The random numbers of a worker: each worker has a state of its own. */

/* xorshift64* */
static uint64_t chance(struct worker *w)
{
	w->state ^= w->state >> 12;
	w->state ^= w->state << 25;
	w->state ^= w->state >> 27;
	return w->state * 0x2545f4914f6cdd1dULL;
}

static uint64_t below(struct worker *w, uint64_t limit)
{
	return (chance(w) >> 16) % limit;
}

static bool one_in(struct worker *w, unsigned int n)
{
	return !below(w, n);
}

/* Zero, one, edges, and anything. */
static uint64_t odd_number(struct worker *w)
{
	switch (below(w, 8)) {
	case 0: return 0;
	case 1: return 1;
	case 2: return -1;
	case 3: return 1ULL << below(w, 64);
	case 4: return (1ULL << below(w, 64)) - 1;
	case 5: return below(w, 1000);
	case 6: return below(w, 10000000);
	default: return chance(w);
	}
}

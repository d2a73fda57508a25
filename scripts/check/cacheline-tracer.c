// SPDX-License-Identifier: GPL-2.0
/*
 * cacheline-tracer: a QEMU plugin that reports the cache lines that a range of
 * guest code writes on one hart and accesses on another.
 *
 * Arguments, the addresses in hexadecimal:
 *   begin=ADDR end=ADDR	the code, as virtual addresses
 *   mark=ADDR			a function; each call of it starts or ends the trace
 *   out=FILE			file for the report, written when QEMU exits
 *
 * It writes "hart N ACCESSES" for each hart that ran the code, and "shared LINE
 * HARTS WRITERS PC" for each line that at least one hart wrote and at least two
 * accessed: two masks of harts, and the pc of the last write.
 *
 * The declarations are those of QEMU's plugin interface, version 4; Debian has
 * no package with its header.
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MAX_HARTS	64
/* bytes of a cache line */
#define LINE_SIZE	64
#define MAX_LINES	(1 << 16)

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef uint64_t qemu_plugin_id_t;
typedef void tb_trans_fn(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void exec_fn(unsigned int hart, void *arg);
typedef void mem_fn(unsigned int hart, uint32_t info, uint64_t addr, void *arg);
typedef void exit_fn(qemu_plugin_id_t id, void *arg);

enum { CB_NO_REGS = 0, MEM_RW = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_fn *fn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_fn *fn,
					    int flags, void *arg);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_fn *fn, int flags,
				      int rw, void *arg);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_fn *fn, void *arg);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
bool qemu_plugin_mem_is_store(uint32_t info);

int qemu_plugin_version = 4;

struct line {
	uint64_t	addr;
	uint64_t	harts;
	uint64_t	writers;
	uint64_t	pc;
};

static uint64_t begin, end, mark;
static char out_name[4096];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct line lines[MAX_LINES];
static uint64_t accesses[MAX_HARTS];
static bool tracing, full;

/* Returns the entry of a line, or a free one; the kernel never uses address 0. */
static struct line *find_line(uint64_t addr)
{
	size_t at = (addr * 0x9e3779b97f4a7c15ULL) >> 48;

	for (size_t i = 0; i < MAX_LINES; i++) {
		struct line *line = &lines[(at + i) % MAX_LINES];

		if (!line->addr || line->addr == addr)
			return line;
	}

	return NULL;
}

static void note_access(unsigned int hart, uint32_t info, uint64_t addr, void *pc)
{
	struct line *line;

	if (!__atomic_load_n(&tracing, __ATOMIC_RELAXED) || hart >= MAX_HARTS)
		return;

	pthread_mutex_lock(&lock);
	accesses[hart]++;
	line = find_line(addr & -LINE_SIZE);
	if (!line) {
		full = true;
	} else {
		line->addr = addr & -LINE_SIZE;
		line->harts |= 1ULL << hart;
		if (qemu_plugin_mem_is_store(info)) {
			line->writers |= 1ULL << hart;
			line->pc = (uintptr_t)pc;
		}
	}
	pthread_mutex_unlock(&lock);
}

static void note_mark(unsigned int hart, void *arg)
{
	__atomic_xor_fetch((unsigned char *)&tracing, 1, __ATOMIC_RELAXED);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);

		if (pc == mark)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, note_mark, CB_NO_REGS, NULL);
		if (pc >= begin && pc < end)
			qemu_plugin_register_vcpu_mem_cb(insn, note_access, CB_NO_REGS, MEM_RW,
							 (void *)(uintptr_t)pc);
	}
}

static void report(qemu_plugin_id_t id, void *arg)
{
	FILE *out = fopen(out_name, "w");

	if (!out) {
		perror(out_name);
		return;
	}

	for (int hart = 0; hart < MAX_HARTS; hart++) {
		if (accesses[hart])
			fprintf(out, "hart %d %" PRIu64 "\n", hart, accesses[hart]);
	}
	for (size_t i = 0; i < MAX_LINES; i++) {
		const struct line *line = &lines[i];

		if (line->writers && line->harts & (line->harts - 1))
			fprintf(out, "shared %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
				line->addr, line->harts, line->writers, line->pc);
	}
	fprintf(out, "%s\n", full ? "full" : "end");
	fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (sscanf(argv[i], "begin=%" SCNx64, &begin) != 1 &&
		    sscanf(argv[i], "end=%" SCNx64, &end) != 1 &&
		    sscanf(argv[i], "mark=%" SCNx64, &mark) != 1 &&
		    sscanf(argv[i], "out=%4095[^\n]", out_name) != 1) {
			fprintf(stderr, "cacheline-tracer: unknown option %s\n", argv[i]);
			return -1;
		}
	}
	if (!begin || !end || !mark || !*out_name) {
		fprintf(stderr, "cacheline-tracer: begin, end, mark and out must be given\n");
		return -1;
	}

	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* While a probe of the task's own steps over an instruction elsewhere, a branch waits. */

#define TRACING	"/sys/kernel/tracing"

static volatile long strayed;

static void on_probed(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	strayed += page->pc < (uintptr_t)__executable_start || page->pc >= (uintptr_t)etext;
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return done;
}

/* Its code begins with the file. */
static long offset_in_file(const char *code)
{
	return code - __executable_start;
}

static bool probe(const char *code)
{
	char path[256], line[300];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0)
		return false;
	path[length] = 0;
	snprintf(line, sizeof(line), "p:ebb %s:0x%lx\n", path, offset_in_file(code));
	mount("tracefs", TRACING, "tracefs", 0, NULL);
	return write_text(TRACING "/uprobe_events", line) &&
	       write_text(TRACING "/events/uprobes/ebb/enable", "1");
}

static void unprobe(void)
{
	write_text(TRACING "/events/uprobes/ebb/enable", "0");
	write_text(TRACING "/uprobe_events", "-:ebb\n");
}

/* No multiple of the loop's instructions, with the one that ends a step: 2 or 3. */
#define PROBED_PERIOD	257
#define PROBED_N	40000

/* Without -icount a branch may follow each step, which takes the debug kernel a millisecond. */
#define PROBED_N_INEXACT	2000

TEST_F(ebb, a_probed_instruction_is_stepped_first)
{
	int fd = open_ebb(&self->attr, PROBED_PERIOD);

	ASSERT_LE(0, fd);
	if (geteuid() || !probe(pmu_loop_begin))
		SKIP(close(fd); return, "needs root, and uprobes in tracefs");

	strayed = 0;
	ebb_handler(on_probed, NULL);
	EXPECT_EQ(0, pmu_run(fd, 0, pmu_loop, self->exact ? PROBED_N : PROBED_N_INEXACT));
	unprobe();
	if (self->exact) {
		EXPECT_LE(PROBED_N / PROBED_PERIOD, branches);
		/* An instruction, and the one that ends the step. */
		EXPECT_LE(PROBED_N + PMU_WINDOW_INSNS, pmu_read(fd));
	}
	EXPECT_EQ(0, strayed);
	close(fd);
}

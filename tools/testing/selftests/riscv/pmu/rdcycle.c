// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.perf_user_access=2: cycle and instret run and can be read on every hart, whatever events
 * do. Without it, or without a PMU, they cannot, whatever the firmware has permitted, and the
 * kernel's log says why a program that reads them was killed.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../../kselftest_harness.h"
#include "lib/task.h"
#include "lib/user.h"

#define CYCLE	0
#define TIME	1
#define INSTRET	2
/* printk's default limit: so many messages in so many s */
#define LIMIT	10
#define SECONDS	5

FIXTURE(rdcycle) {
	cpu_set_t cpus;
	long access;
	int fd;
};

FIXTURE_SETUP(rdcycle)
{
	self->fd = -1;
	self->access = pmu_read_number(ACCESS);
	if (self->access < 0)
		SKIP(return, "no kernel.perf_user_access (CONFIG_RISCV_PMU_USER_ACCESS)");
	sched_getaffinity(0, sizeof(self->cpus), &self->cpus);
}

FIXTURE_TEARDOWN(rdcycle)
{
	if (self->fd >= 0)
		close(self->fd);
	sched_setaffinity(0, sizeof(self->cpus), &self->cpus);
	pmu_write_number(ACCESS, self->access);
}

/* --- sysctl kernel.perf_user_access=2 --- */

static int64_t count_loop(unsigned int ctr, long instructions)
{
	uint64_t before = riscv_pmu_read_csr(ctr);

	pmu_loop(instructions);
	return riscv_pmu_read_csr(ctr) - before;
}

/*
 * What the counter counts of @instructions, the code around them subtracted, at least: interrupts
 * add to it. A window takes 0.1 ms under -icount, so most are between two ticks of the kernel.
 */
static int64_t count_least(unsigned int ctr, long instructions)
{
	int64_t whole = INT64_MAX, around = INT64_MAX, count;

	for (int i = 0; i < 20; i++) {
		count = count_loop(ctr, instructions);
		whole = count < whole ? count : whole;
		count = count_loop(ctr, 0);
		around = count < around ? count : around;
	}

	return whole - around;
}

#define LOOP	100000L

/* Under -icount with one hart, an instruction is a cycle. No band: nothing else is counted. */
#define EXPECT_RUN()								\
do {										\
	for (unsigned int ctr = CYCLE; ctr <= INSTRET; ctr += INSTRET) {	\
		ASSERT_FALSE(traps(ctr));					\
		if (pmu_is_exact()) {						\
			EXPECT_EQ(LOOP, count_least(ctr, LOOP));		\
		} else {							\
			EXPECT_LE(pmu_least(LOOP), count_loop(ctr, LOOP));	\
		}								\
	}									\
} while (0)

TEST_F(rdcycle, counters_run_without_an_event_and_are_stopped_afterwards)
{
	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	EXPECT_RUN();
	/* The driver stops what no event has used for a second. */
	sleep(3);
	EXPECT_RUN();
	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	EXPECT_TRUE(traps(CYCLE));
	EXPECT_TRUE(traps(INSTRET));
	EXPECT_GE(0, pmu_ctrs_left());
	EXPECT_GE(0, pmu_events_left());
}

TEST_F(rdcycle, counters_run_while_and_after_events_use_them)
{
	static const uint64_t ids[] = { PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS };

	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	for (int i = 0; i < 2; i++) {
		struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, ids[i]);

		/* As perf opens it: without guests, if the hart can exclude them. */
		attr.exclude_guest = 1;
		attr.config2 = 1 << 2 * i;
		self->fd = pmu_open(&attr);
		if (self->fd == -EINVAL) {
			attr.exclude_guest = 0;
			self->fd = pmu_open(&attr);
		}
		ASSERT_LE(0, self->fd);
		EXPECT_LE(pmu_least(N), pmu_count(self->fd, pmu_loop, N));
		ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0);
		EXPECT_RUN();
		close(self->fd);
		self->fd = -1;
		usleep(10000);
		EXPECT_RUN();
	}
}

/* An event of this hart that excludes user mode takes instret, until everybody may read it. */
TEST_F(rdcycle, counters_count_user_mode_whatever_events_exclude)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_user = 1;
	attr.config2 = 1 << INSTRET;
	attr.disabled = 0;
	ASSERT_EQ(0, pin_to(0));
	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	self->fd = pmu_open_on(&attr, -1, 0, -1);
	if (self->fd == -EOPNOTSUPP)
		SKIP(return, "cycle and instret have no filters (no Smcntrpmf)");

	ASSERT_LE(0, self->fd);
	usleep(1000);
	EXPECT_LT(0, pmu_read(self->fd));
	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	EXPECT_RUN();
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	usleep(10000);
	EXPECT_EQ(0, pmu_read(self->fd));
	ASSERT_TRUE(pmu_write_number(ACCESS, 0));
	usleep(10000);
	EXPECT_LT(0, pmu_read(self->fd));
	close(self->fd);
	self->fd = -1;
	/* Its filter is still in the counter. */
	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	EXPECT_RUN();
}

TEST_F(rdcycle, counters_run_after_idle)
{
	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	for (int i = 0; i < 10; i++) {
		usleep(20000);
		EXPECT_RUN();
	}
}

TEST_F(rdcycle, counters_run_on_each_hart_and_after_it_was_offline)
{
	if (!can_go_down(1))
		SKIP(return, "no CPU 1 that can go down");

	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	move_to(1);
	EXPECT_RUN();
	ASSERT_TRUE(take_down(1));
	EXPECT_RUN();
	ASSERT_TRUE(bring_up(1));
	move_to(1);
	EXPECT_RUN();
	/* It comes up when nobody may read them, and again. */
	ASSERT_TRUE(take_down(1));
	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	ASSERT_TRUE(bring_up(1));
	move_to(1);
	EXPECT_TRUE(traps(CYCLE));
	EXPECT_GE(0, pmu_events_left());
	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	EXPECT_RUN();
}

/* --- the log --- */

/* How many records that have come since the descriptor was opened have all three texts. */
static int count_records(int fd, const char *name, const char *csr, const char *cure)
{
	char record[8192];
	ssize_t length;
	int nr = 0;

	while ((length = read(fd, record, sizeof(record) - 1)) > 0) {
		record[length] = '\0';
		nr += strstr(record, name) && strstr(record, csr) && strstr(record, cure);
	}

	return nr;
}

/* Whether a child of that name that reads a counter is killed by SIGILL. */
static bool is_killed(const char *name, unsigned int ctr)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_NAME, name);
		signal(SIGILL, SIG_DFL);
		riscv_pmu_read_csr(ctr);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGILL;
}

static int open_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	lseek(fd, 0, SEEK_END);
	return fd;
}

TEST_F(rdcycle, the_log_says_once_why_a_program_was_killed)
{
	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	self->fd = open_log();
	ASSERT_LE(0, self->fd);
	/* A program that handles the signal only tries. */
	EXPECT_TRUE(traps(CYCLE));
	EXPECT_EQ(0, count_records(self->fd, "killed", "CSR", ""));
	EXPECT_TRUE(is_killed("of-cycle", CYCLE));
	EXPECT_EQ(1, count_records(self->fd, "of-cycle[", "CSR 0xc00 (cycle)",
				   "kernel.perf_user_access=2"));
	EXPECT_TRUE(is_killed("of-instret", INSTRET));
	EXPECT_EQ(1, count_records(self->fd, "of-instret[", "CSR 0xc02 (instret)",
				   "riscv_pmu_read.h"));
	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	EXPECT_TRUE(is_killed("of-hpm", 3));
	EXPECT_EQ(1, count_records(self->fd, "of-hpm[", "CSR 0xc03 (hpmcounter)",
				   "change it to use rdtime"));
}

TEST_F(rdcycle, the_log_has_few_lines_of_many_killed_programs)
{
	double start = now();

	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	self->fd = open_log();
	ASSERT_LE(0, self->fd);
	for (int i = 0; i < 3 * LIMIT; i++)
		EXPECT_TRUE(is_killed("of-many", CYCLE));
	/* A first interval that began before, the last one that has not ended, those in between. */
	EXPECT_GE(LIMIT * (2 + (int)((now() - start) / SECONDS)),
		  count_records(self->fd, "of-many[", "CSR", "killed"));
}

/* --- no PMU --- */

/* OpenSBI 1.6 starts each hart with cycle and instret readable by users. */
TEST(without_a_pmu_only_the_time_can_be_read)
{
	int fd;

	if (pmu_read_number(ACCESS) >= 0)
		SKIP(return, "there is a PMU, and kernel.perf_user_access");

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		if (can_go_down(cpu)) {
			ASSERT_TRUE(take_down(cpu));
			ASSERT_TRUE(bring_up(cpu));
		}
		move_to(cpu);
		EXPECT_TRUE(traps(CYCLE));
		EXPECT_FALSE(traps(TIME));
		EXPECT_TRUE(traps(INSTRET));
	}

	/* There is no sysctl that the log could advise to set. */
	fd = open_log();
	ASSERT_LE(0, fd);
	EXPECT_TRUE(is_killed("of-none", CYCLE));
	EXPECT_EQ(1, count_records(fd, "of-none[", "CSR 0xc00 (cycle)",
				   "): change it to use rdtime"));
	close(fd);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN

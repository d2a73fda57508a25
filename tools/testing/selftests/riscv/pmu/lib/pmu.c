// SPDX-License-Identifier: GPL-2.0
/* Opens events, and counts a window of known instructions. */

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmu.h"

struct perf_event_attr pmu_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.size		= sizeof(struct perf_event_attr),
		.type		= type,
		.config		= config,
		.disabled	= 1,
	};
}

struct perf_event_attr pmu_attr_user(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = pmu_attr(type, config);

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

struct perf_event_attr pmu_attr_best(uint32_t type, uint64_t config)
{
	return pmu_can_filter() ? pmu_attr_user(type, config) : pmu_attr(type, config);
}

int pmu_open_on(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader)
{
	long fd = syscall(__NR_perf_event_open, attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int pmu_open(const struct perf_event_attr *attr)
{
	return pmu_open_on(attr, 0, -1, -1);
}

int pmu_try(const struct perf_event_attr *attr)
{
	int fd = pmu_open(attr);

	if (fd < 0)
		return fd;

	close(fd);
	return 0;
}

int64_t pmu_read(int fd)
{
	int64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : -1;
}

long pmu_run(int fd, unsigned long flags, pmu_body *body, long arg)
{
	const struct pmu_call on = { __NR_ioctl, { fd, PERF_EVENT_IOC_ENABLE, flags } };
	const struct pmu_call off = { __NR_ioctl, { fd, PERF_EVENT_IOC_DISABLE, flags } };

	return pmu_window(&on, body, arg, &off);
}

long pmu_run_all(pmu_body *body, long arg)
{
	const struct pmu_call on = { __NR_prctl, { PR_TASK_PERF_EVENTS_ENABLE } };
	const struct pmu_call off = { __NR_prctl, { PR_TASK_PERF_EVENTS_DISABLE } };

	return pmu_window(&on, body, arg, &off);
}

int64_t pmu_count(int fd, pmu_body *body, long arg)
{
	if (ioctl(fd, PERF_EVENT_IOC_RESET, 0) || pmu_run(fd, 0, body, arg))
		return -1;

	return pmu_read(fd);
}

int64_t pmu_count_net(int fd, pmu_body *body, long arg)
{
	int64_t empty;

	/* The first run causes the page faults of the code. */
	pmu_count(fd, body, 0);
	empty = pmu_count(fd, body, 0);
	return pmu_count(fd, body, arg) - empty;
}

pid_t pmu_spawn(pmu_body *body, long arg)
{
	pid_t pid = fork();

	if (!pid) {
		body(arg);
		_exit(0);
	}
	return pid;
}

void pmu_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void skip_instruction(int sig, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	user->uc_mcontext.__gregs[REG_PC] += 4;
}

/* An instruction of zeroes only is illegal (Unprivileged ISA, 1.5). */
void pmu_illegal_loop(long times)
{
	struct sigaction act = { .sa_sigaction = skip_instruction, .sa_flags = SA_SIGINFO };

	sigaction(SIGILL, &act, NULL);
	while (times--)
		asm volatile(".4byte 0");
}

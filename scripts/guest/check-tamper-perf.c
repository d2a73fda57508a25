// SPDX-License-Identifier: GPL-2.0
/*
 * check-tamper-perf ERRNO|ungrouped|disabled|unmapped CMD [ARG...]: run CMD, whose perf_event_open(2)
 * fails with ERRNO, as it does in a container; fails for each member of a group; opens sampling events
 * that never count; or opens each generic event but cycles and instructions, and no counter can count
 * it, as with an old release of mainline's driver and firmware without a map. The guest's kernel has no
 * seccomp, so this is a tracer. It does not trace the processes that CMD starts.
 */

#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* As the kernel's struct user_regs_struct: pc, x1 to x31 */
#define A0	10
#define A7	17

static unsigned long regs[32];

static void transfer_regs(int request, pid_t pid)
{
	struct iovec vec = { regs, sizeof(regs) };

	if (ptrace(request, pid, NT_PRSTATUS, &vec)) {
		perror("ptrace");
		exit(125);
	}
}

/* Sets perf_event_attr.disabled, if there is a sample_period. */
static void disable(pid_t pid, unsigned long attr)
{
	unsigned long period = attr + offsetof(struct perf_event_attr, sample_period);
	/* The bit fields follow read_format; disabled is the first. */
	unsigned long bits = attr + offsetof(struct perf_event_attr, read_format) + 8;

	if (ptrace(PTRACE_PEEKDATA, pid, period, 0))
		ptrace(PTRACE_POKEDATA, pid, bits, ptrace(PTRACE_PEEKDATA, pid, bits, 0) | 1);
}

/* Turns a generic event into a raw one that the firmware does not know; mainline's driver opens it. */
static void unmap(pid_t pid, unsigned long attr)
{
	unsigned long config = attr + offsetof(struct perf_event_attr, config);
	/* type and size */
	unsigned long head = ptrace(PTRACE_PEEKDATA, pid, attr, 0);
	unsigned int type = head;

	if (type == PERF_TYPE_HW_CACHE ||
	    (type == PERF_TYPE_HARDWARE && ptrace(PTRACE_PEEKDATA, pid, config, 0) > 1)) {
		ptrace(PTRACE_POKEDATA, pid, attr, (head & ~0xffffffffUL) | PERF_TYPE_RAW);
		ptrace(PTRACE_POKEDATA, pid, config, 0xabcde);
	}
}

/*
 * At the entry of a system call, number -1 skips it; the result is set at its exit.
 * @how: the errno, or what to do with the event instead
 */
static void tamper(pid_t pid, const char *how)
{
	bool members = !strcmp(how, "ungrouped");
	int err = members ? EINVAL : atoi(how);
	struct __ptrace_syscall_info info;
	static bool refused;

	ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info);
	transfer_regs(PTRACE_GETREGSET, pid);
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		/* The group's leader, or -1 */
		refused = err && info.entry.nr == __NR_perf_event_open &&
			  (!members || (int)info.entry.args[3] >= 0);
		if (refused)
			regs[A7] = -1;
		else if (!err && info.entry.nr == __NR_perf_event_open)
			/* Not A0, which has the result already. */
			(strcmp(how, "unmapped") ? disable : unmap)(pid, info.entry.args[0]);
	} else if (refused) {
		regs[A0] = -err;
	}
	if (refused)
		transfer_regs(PTRACE_SETREGSET, pid);
}

int main(int argc, char **argv)
{
	int status, signal = 0;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: check-tamper-perf ERRNO|ungrouped|disabled|unmapped CMD [ARG...]\n");
		return 2;
	}
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	/* The first stop is the SIGTRAP of execve(). */
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	while (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		ptrace(PTRACE_SYSCALL, pid, 0, signal);
		if (waitpid(pid, &status, 0) != pid)
			return 125;
		signal = WIFSTOPPED(status) && WSTOPSIG(status) != (SIGTRAP | 0x80) ?
			 WSTOPSIG(status) : 0;
		if (WIFSTOPPED(status) && !signal)
			tamper(pid, argv[1]);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

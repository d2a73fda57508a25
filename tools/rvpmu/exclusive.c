// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu exclusive -- CMD: on each hart, a pinned and exclusive event (see
 * perf_event_open(2)) keeps all others off the counters while CMD runs. The kernel
 * closes the events when this process exits or is killed.
 */

#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rvpmu.h"

#define MAX_HARTS	1024
#define PATH_SIZE	512

/* --- processes with open events --- */

static bool holds_events(const char *pid)
{
	char path[PATH_SIZE], target[PATH_SIZE];
	struct dirent *entry;
	bool holds = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.32s/fd", pid);
	dir = opendir(path);
	while (dir && !holds && (entry = readdir(dir))) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%.32s/fd/%.32s", pid, entry->d_name);
		len = readlink(path, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		holds = strstr(target, "[perf_event]");
	}
	if (dir)
		closedir(dir);
	return holds;
}

static void name_holders(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_SIZE], name[TEXT_SIZE];

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    atol(entry->d_name) == (long)getpid() || !holds_events(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.32s/comm", entry->d_name);
		read_line(path, name);
		fprintf(stderr, "rvpmu: process %s (%s) has events open\n", entry->d_name, name);
	}
	if (dir)
		closedir(dir);
}

/* --- the reservation --- */

/* Returns 0, or an exit status after it has printed the reason. */
static int reserve(int hart)
{
	struct perf_event_attr attr = make_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	uint64_t count;
	int fd;

	attr.pinned = 1;
	attr.exclusive = 1;
	fd = open_event(&attr, -1, hart, -1);
	if (fd == -EACCES || fd == -EPERM) {
		fprintf(stderr, "rvpmu: no permission: needs kernel.perf_event_paranoid of 0 or less, or CAP_PERFMON\n");
		return EXIT_MISSING;
	}
	/* The hart does not exist, or is offline. */
	if (fd == -ENODEV || fd == -EINVAL)
		return EXIT_OK;
	if (fd < 0) {
		fprintf(stderr, "rvpmu: hart %d: %s\n", hart, strerror(-fd));
		return EXIT_MISSING;
	}
	/* A pinned event that cannot be scheduled is in error state: read() returns 0. */
	if (read(fd, &count, sizeof(count)) != sizeof(count)) {
		fprintf(stderr, "rvpmu: another process has reserved hart %d; end it and try again\n", hart);
		name_holders();
		return EXIT_DEGRADED;
	}
	return EXIT_OK;
}

static int run(char **argv)
{
	sighandler_t interrupt, quit;
	int status = 0;
	pid_t pid;

	/* The command decides how to handle these; rvpmu ends after it. */
	interrupt = signal(SIGINT, SIG_IGN);
	quit = signal(SIGQUIT, SIG_IGN);
	/* If SIGCHLD is ignored, waitpid() returns no exit status. */
	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid < 0) {
		perror("rvpmu: fork");
		return EXIT_MISSING;
	}
	if (!pid) {
		signal(SIGINT, interrupt);
		signal(SIGQUIT, quit);
		execvp(argv[0], argv);
		fprintf(stderr, "rvpmu: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno == EINTR)
			continue;
		perror("rvpmu: waitpid");
		return EXIT_MISSING;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cmd_exclusive(int argc, char **argv)
{
	long harts = sysconf(_SC_NPROCESSORS_CONF);
	int status;

	if (argc > 1 && !strcmp(argv[1], "--")) {
		argc--;
		argv++;
	}
	if (argc < 2) {
		fprintf(stderr, "rvpmu: no command given; usage: rvpmu exclusive -- CMD\n");
		return EXIT_USAGE;
	}
	for (int hart = 0; hart < harts && hart < MAX_HARTS; hart++) {
		status = reserve(hart);
		if (status)
			return status;
	}
	return run(argv + 1);
}

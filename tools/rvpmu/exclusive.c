// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu exclusive -- CMD: on each hart, a pinned and exclusive event (see
 * perf_event_open(2)) keeps all others off the counters while CMD runs. The kernel
 * closes the events when this process exits or is killed.
 *
 * It fails closed: CMD runs only while the counters of each online hart are reserved. A hart
 * that goes offline loses its event for good, and one that comes online has none; the events of
 * others may be counted there before rvpmu could reserve it again, so CMD is stopped.
 */

#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rvpmu.h"

#define PATH_SIZE	512
#define LOOK_MS		1000
#define GRACE_MS	5000
/* The wait before each look, so that the running time grows even with a timebase of 1 MHz. */
#define MIN_LOOK_US	1000

/* Marks a process that holds the counters: a link of this name in its /proc/PID/fd. */
#define MARK		"rvpmu-exclusive"

#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"

struct hart {
	long number;
	int fd;
	uint64_t running;	/* nanoseconds that the event was on the PMU, at the last look */
};

static struct {
	char online[TEXT_SIZE];	/* the harts, as a list of ranges */
	struct hart *harts;
	size_t nr;
	int uevents;		/* socket of the kernel's messages about devices, or -errno */
} hold;

/* --- other holders --- */

static bool has_mark(const char *pid)
{
	char path[PATH_SIZE], target[PATH_SIZE];
	struct dirent *entry;
	bool has = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.32s/fd", pid);
	dir = opendir(path);
	while (dir && !has && (entry = readdir(dir))) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%.32s/fd/%.32s", pid, entry->d_name);
		len = readlink(path, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		has = !strncmp(target, "/memfd:" MARK " ", strlen("/memfd:" MARK " "));
	}
	if (dir)
		closedir(dir);
	return has;
}

/*
 * The kernel does not tell which process an event that holds a hart belongs to, and most
 * processes with events hold none: name those only that are known to.
 */
static bool name_holders(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_SIZE], raw[TEXT_SIZE], name[TEXT_SIZE];

		if (!isdigit((unsigned char)entry->d_name[0]) || !has_mark(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.32s/comm", entry->d_name);
		read_line(path, raw);
		/* Its owner has chosen the name, and may be another user. */
		make_printable(raw, name);
		report_error("process %s (%s) runs rvpmu exclusive: end it and try again",
			     entry->d_name, name);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * A kernel with CONFIG_RISCV_PMU_NMI_WATCHDOG has a pinned event on each hart. Another kind of
 * detector has the same sysctl, but no event, so this is a possible holder only.
 */
static bool has_watchdog(void)
{
	long on;

	return read_number(WATCHDOG, &on) && on == 1;
}

static void explain_reserved(long hart)
{
	bool watchdog = has_watchdog();

	report_error("a pinned event of %s holds the counters of hart %ld", watchdog ?
		     "the kernel's NMI watchdog or of another process" : "another process", hart);
	if (name_holders())
		return;
	if (watchdog)
		report_error("the kernel's NMI watchdog is on: run sysctl kernel.nmi_watchdog=0 and try again");
	report_error("%s", geteuid() ?
		     "run rvpmu exclusive as root to see which process of another user holds the counters" :
		     "no other rvpmu exclusive runs: end the perf that was started with pinned events (perf stat -e EVENT:D) and try again");
}

/* --- the reservation --- */

/* One descriptor for each hart may be more than the soft limit. */
static void raise_file_limit(struct rlimit *before)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, before);
	limit = *before;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * Whether the event has run since the last look. It has not if it is in error state, was disabled,
 * or was removed with its hart; if that happened after the last look, the next look finds it.
 */
static bool is_held(struct hart *hart)
{
	struct {
		uint64_t count;
		uint64_t enabled;
		uint64_t running;
	} now;
	bool held = read(hart->fd, &now, sizeof(now)) == sizeof(now) &&
		    now.running > hart->running;

	if (held)
		hart->running = now.running;
	return held;
}

static bool reserve(struct hart *hart)
{
	struct perf_event_attr attr = make_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	attr.pinned = 1;
	attr.exclusive = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	hart->fd = open_event(&attr, -1, hart->number, -1);
	if (hart->fd == -EACCES || hart->fd == -EPERM)
		report_error("no permission to reserve the counters of hart %ld: run as root, or with CAP_PERFMON, or set sysctl kernel.perf_event_paranoid=0; in a container, allow perf_event_open, too",
			     hart->number);
	else if (hart->fd == -EMFILE)
		report_error("hart %ld: too many open files: rvpmu needs one file descriptor for each hart; raise ulimit -Hn",
			     hart->number);
	else if (hart->fd == -ENFILE)
		report_error("the system's limit of open files is reached: raise sysctl fs.file-max");
	else if (hart->fd < 0)
		report_error("the counters of hart %ld cannot be reserved: %s; rvpmu doctor checks the PMU",
			     hart->number, strerror(-hart->fd));
	else if (!is_held(hart))
		explain_reserved(hart->number);
	else
		return true;
	return false;
}

static bool read_online(char list[TEXT_SIZE])
{
	/* sysfs cuts a list that is longer than a page, and a cut list hides harts. */
	return read_line(ONLINE, list) && strlen(list) < TEXT_SIZE - 1;
}

/* Returns how the list of online harts has changed, or NULL. */
static const char *online_changed(void)
{
	static char why[2 * TEXT_SIZE + 64];
	char online[TEXT_SIZE];

	if (read_online(online) && !strcmp(online, hold.online))
		return NULL;
	snprintf(why, sizeof(why), "the online harts changed from %s to %s", hold.online, online);
	return why;
}

/* Looks at each event, too: a hart may have gone and come back. Returns what happened, or NULL. */
static const char *reservation_lost(void)
{
	static char why[TEXT_SIZE];

	usleep(MIN_LOOK_US);
	for (size_t i = 0; i < hold.nr; i++) {
		if (is_held(&hold.harts[i]))
			continue;
		snprintf(why, sizeof(why), "hart %ld went offline, or its event stopped",
			 hold.harts[i].number);
		return why;
	}
	return online_changed();
}

static bool reserve_all(void)
{
	const char *why;

	if (!read_online(hold.online)) {
		report_error("%s cannot be read, so the harts are unknown: mount sysfs (mount -t sysfs sysfs /sys)",
			     ONLINE);
		return false;
	}
	for (long hart = next_in_list(hold.online, 0); hart >= 0;
	     hart = next_in_list(hold.online, hart + 1)) {
		hold.harts = realloc(hold.harts, (hold.nr + 1) * sizeof(*hold.harts));
		if (!hold.harts) {
			report_error("out of memory for %zu harts", hold.nr + 1);
			return false;
		}
		hold.harts[hold.nr] = (struct hart){ .number = hart };
		if (!reserve(&hold.harts[hold.nr++]))
			return false;
	}
	if (!hold.nr) {
		report_error("%s names no hart: '%s'", ONLINE, hold.online);
		return false;
	}
	/* A hart may have come or gone meanwhile. */
	why = reservation_lost();
	if (why)
		report_error("%s: try again while no hart goes online or offline and the machine is not suspended", why);
	return !why;
}

/* --- harts that come and go --- */

/*
 * The kernel announces harts that go online or offline. Not everywhere: a container gets no
 * messages, nor are there any at suspend; reservation_lost() notices these later.
 */
static int open_uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || !bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	close(fd);
	return -1;
}

/* "online@/devices/system/cpu/cpu1"; returns the number of the hart in @text, or NULL. */
static const char *parse_uevent(const char *text)
{
	const char *path = strchr(text, '@');
	size_t len = strlen("@/devices/system/cpu/cpu");

	if (strncmp(text, "online@", 7) && strncmp(text, "offline@", 8))
		return NULL;
	return strncmp(path, "@/devices/system/cpu/cpu", len) ? NULL : path + len;
}

/* Reads all messages. Returns why the reservation is lost, or NULL. */
static const char *read_uevents(void)
{
	static char why[TEXT_SIZE];
	const char *found = NULL;
	char text[TEXT_SIZE];
	ssize_t len;

	while ((len = recv(hold.uevents, text, sizeof(text) - 1, 0)) > 0) {
		text[len] = '\0';
		if (found || !parse_uevent(text))
			continue;
		snprintf(why, sizeof(why), "hart %.32s went %s", parse_uevent(text),
			 *text == 'o' && text[1] == 'n' ? "online" : "offline");
		found = why;
	}
	/* ENOBUFS: there were too many messages. */
	return found || errno == EAGAIN ? found : reservation_lost();
}

/* --- CMD --- */

struct child {
	pid_t pid;
	bool ended;
	int status;		/* of waitpid() */
	const char *lost;	/* why CMD was stopped, or NULL */
	int64_t deadline;	/* of the SIGKILL, in milliseconds, or 0 */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void fill_signal_mask(sigset_t *mask)
{
	static const int handled[] = {
		SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD,
	};

	sigemptyset(mask);
	for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++)
		sigaddset(mask, handled[i]);
}

void hold_signals(struct inherited *inherited)
{
	sigset_t mask;

	/* If SIGCHLD is ignored, waitpid() returns no exit status. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, &inherited->child);
	fill_signal_mask(&mask);
	sigprocmask(SIG_BLOCK, &mask, &inherited->mask);
}

void become_child(const struct inherited *inherited, pid_t parent)
{
	/* If rvpmu is killed, nobody can stop the child but the kernel. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have been killed before that call. */
	if (getppid() != parent)
		_exit(EXIT_OWN_ERROR);
	sigaction(SIGCHLD, &inherited->child, NULL);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

/* Writes errno to @failure if CMD cannot be run. */
static void __attribute__((noreturn))
exec_command(char **argv, const struct inherited *inherited, pid_t parent, int failure)
{
	int err;

	become_child(inherited, parent);
	setrlimit(RLIMIT_NOFILE, &inherited->files);
	execvp(argv[0], argv);
	err = errno;
	if (write(failure, &err, sizeof(err)) != sizeof(err))
		_exit(EXIT_OWN_ERROR);
	_exit(err == ENOENT ? EXIT_NO_COMMAND : EXIT_NO_EXEC);
}

static bool start(struct child *child, char **argv, const struct inherited *inherited)
{
	int failure[2], err;
	pid_t parent = getpid();

	if (pipe2(failure, O_CLOEXEC)) {
		report_error("pipe: %s", strerror(errno));
		return false;
	}
	child->pid = fork();
	if (!child->pid)
		exec_command(argv, inherited, parent, failure[1]);
	if (child->pid < 0)
		report_error("fork: %s", strerror(errno));
	close(failure[1]);
	/* Returns 0 once CMD is executed. */
	if (child->pid > 0 && read(failure[0], &err, sizeof(err)) == sizeof(err))
		report_error("%s: %s", argv[0], strerror(err));
	close(failure[0]);
	return child->pid > 0;
}

static void stop(struct child *child, const char *why)
{
	child->lost = why;
	child->deadline = now_ms() + GRACE_MS;
	kill(child->pid, SIGTERM);
	kill(child->pid, SIGCONT);
}

/* The terminal sends its signals to CMD, too, unless CMD has left the process group of rvpmu. */
static bool terminal_has_sent(const struct child *child, const struct signalfd_siginfo *info)
{
	return info->ssi_code == SI_KERNEL && getpgid(child->pid) == getpgrp();
}

static void handle_signal(struct child *child, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo != SIGCHLD && !terminal_has_sent(child, info))
		kill(child->pid, info->ssi_signo);
	if (info->ssi_signo == SIGCHLD)
		child->ended = waitpid(child->pid, &child->status, WNOHANG) == child->pid;
}

/* The reservation lasts until CMD has ended. */
static void watch(struct child *child, int signals)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN }, { .fd = hold.uevents, .events = POLLIN },
	};
	int64_t next_look = now_ms() + LOOK_MS;
	struct signalfd_siginfo info;
	const char *why;

	while (!child->ended) {
		int64_t rest = next_look - now_ms();
		int ready = poll(fds, 2, rest > 0 ? rest : 0);

		if (ready > 0 && fds[0].revents &&
		    read(signals, &info, sizeof(info)) == sizeof(info))
			handle_signal(child, &info);
		/* CMD's exit is noticed by SIGCHLD only, so its number is not used again before. */
		if (child->ended)
			break;
		why = ready > 0 && fds[1].revents ? read_uevents() : NULL;
		/* Signals and uevents may come more often than once in LOOK_MS. */
		if (now_ms() >= next_look) {
			next_look = now_ms() + LOOK_MS;
			if (!why && !child->lost)
				why = reservation_lost();
		}
		if (why) {
			stop(child, why);
			/* Later uevents would replace the reason. */
			fds[1].fd = -1;
		}
		if (child->lost && now_ms() > child->deadline)
			kill(child->pid, SIGKILL);
	}
}

static int run(char **argv, struct inherited *inherited)
{
	struct child child = {};
	const char *why;
	sigset_t mask;
	int signals;

	hold_signals(inherited);
	fill_signal_mask(&mask);
	signals = signalfd(-1, &mask, SFD_CLOEXEC);
	if (signals < 0) {
		report_error("signalfd: %s", strerror(errno));
		return EXIT_OWN_ERROR;
	}
	if (!start(&child, argv, inherited))
		return EXIT_OWN_ERROR;
	watch(&child, signals);

	/*
	 * A hart may have gone and come back between two looks, which stops its event. Look twice:
	 * the first look finds the running time since the last one, even if the event has stopped.
	 */
	why = child.lost ? child.lost : hold.uevents >= 0 ? read_uevents() : NULL;
	for (int look = 0; look < 2 && !why; look++)
		why = reservation_lost();
	if (why) {
		report_error(child.lost ?
			     "%s while %s ran, so the reservation was lost; rvpmu stopped %s: run it again while no hart goes online or offline and the machine is not suspended" :
			     "%s while %s ran, so the reservation was lost, but %s ended before rvpmu stopped it: run it again while no hart goes online or offline and the machine is not suspended",
			     why, argv[0], argv[0]);
		return EXIT_OWN_ERROR;
	}
	return WIFEXITED(child.status) ? WEXITSTATUS(child.status) : 128 + WTERMSIG(child.status);
}

/* --- the command line --- */

static const char *output;
static bool quiet;

const struct option exclusive_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	COMMON_OPTIONS
};

void exclusive_set(int option, const char *value)
{
	if (option == 'o')
		output = value;
	else
		quiet = true;
}

int cmd_exclusive(int argc, char **argv)
{
	struct inherited inherited = {};

	if (json && !output) {
		report_error("the standard output is that of the command: --json needs --output FILE");
		return EXIT_OWN_ERROR;
	}
	if (json && !json_redirect(output)) {
		report_error("%s: %s", output, strerror(errno));
		return EXIT_OWN_ERROR;
	}
	raise_file_limit(&inherited.files);
	hold.uevents = open_uevents();
	if (!reserve_all())
		return EXIT_OWN_ERROR;
	memfd_create(MARK, MFD_CLOEXEC);
	json_text("harts", hold.online);
	if (!json && !quiet)
		fprintf(stderr, "rvpmu: holds the hardware counters of harts %s\n", hold.online);
	return run(argv, &inherited);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu stat -g GROUP -- CMD: runs perf stat with the metrics of groups, or with their events if
 * this perf does not know the metrics. Only JSON is converted, to one document that grows while perf
 * counts; text and CSV are perf's.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rvpmu.h"

/* --- the command line --- */

static struct {
	const char *groups;
	const char *interval;
	const char *separator;
	const char *output;
	const char *pid;
	const char *cpus;
	bool all;
} ask;

const struct option stat_options[] = {
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "csv", no_argument, NULL, 'c' },
	{ "field-separator", required_argument, NULL, 'x' },
	{ "group", required_argument, NULL, 'g' },
	{ "interval-print", required_argument, NULL, 'I' },
	{ "output", required_argument, NULL, 'o' },
	{ "pid", required_argument, NULL, 'p' },
	COMMON_OPTIONS
};

void stat_set(int option, const char *value)
{
	switch (option) {
	case 'a':
		ask.all = true;
		break;
	case 'C':
		ask.cpus = value;
		break;
	case 'c':
		ask.separator = ",";
		break;
	case 'g':
		ask.groups = value;
		break;
	case 'I':
		ask.interval = value;
		break;
	case 'o':
		ask.output = value;
		break;
	case 'p':
		ask.pid = value;
		break;
	case 'x':
		ask.separator = value;
		break;
	}
}

/* Only digits and the characters of a list; perf checks the rest. */
static bool check_list(const char *option, const char *value, const char *allowed)
{
	if (!value || (*value && strspn(value, allowed) == strlen(value) &&
		       *value >= '0' && *value <= '9'))
		return true;
	report_error("option %s: '%s' is not a list of numbers such as 1,2", option, value);
	return false;
}

static bool check_interval(void)
{
	char *end;
	long ms;

	if (!ask.interval)
		return true;
	errno = 0;
	ms = strtol(ask.interval, &end, 10);
	if (!errno && end != ask.interval && !*end && ms > 0 && ms <= INT_MAX)
		return true;
	report_error("option -I: '%s' is not a number of milliseconds above 0, such as 100",
		     ask.interval);
	return false;
}

static bool check_arguments(int argc)
{
	if (!ask.groups) {
		report_error("option -g is missing: give a group that rvpmu groups lists, such as -g ipc");
		return false;
	}
	if (!!ask.all + !!ask.pid + !!ask.cpus > 1) {
		report_error("options -a, -p and -C exclude each other: give one of them");
		return false;
	}
	if (!argc && !ask.all && !ask.pid && !ask.cpus) {
		report_error("a command is missing: give one, or -a, -p PID or -C CPUS");
		return false;
	}
	if (ask.separator && !*ask.separator) {
		report_error("option -x: the separator is empty: give one such as -x ';'");
		return false;
	}
	if (json && ask.separator) {
		report_error("options --json and -x (--csv) exclude each other: give one of them");
		return false;
	}
	if (json && !ask.output) {
		report_error("the standard output is that of the command: --json needs -o FILE");
		return false;
	}
	return check_interval() && check_list("-p", ask.pid, "0123456789,") &&
	       check_list("-C", ask.cpus, "0123456789,-");
}

/* --- programs --- */

/* Returns false and sets errno if @path is not a program. */
static bool is_program(const char *path)
{
	struct stat status;

	if (stat(path, &status) || access(path, X_OK))
		return false;
	errno = EACCES;
	return S_ISREG(status.st_mode);
}

/* Searches PATH as execvp(3) does. */
static bool find_program(const char *name, char path[TEXT_SIZE])
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, TEXT_SIZE, "%s", name);
		return is_program(path);
	}
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; *dirs; dirs += *dirs == ':') {
		int len = strcspn(dirs, ":");

		snprintf(path, TEXT_SIZE, "%.*s/%.200s", len ? len : 1, len ? dirs : ".", name);
		dirs += len;
		if (is_program(path))
			return true;
	}
	errno = ENOENT;
	return false;
}

/* The perf with our metrics goes before that of the distribution. */
static bool find_perf(char path[TEXT_SIZE])
{
	const char *chosen = getenv("PERF");

	if (chosen && *chosen ? find_program(chosen, path) :
	    find_program("perf-riscv-pmu", path) || find_program("perf", path))
		return true;
	if (chosen && *chosen)
		report_error("PERF=%s: %s: set PERF to a perf, or unset it", chosen,
			     strerror(errno));
	else
		report_error("perf is not installed: install linux-perf (Debian) or perf (Fedora), or perf-riscv-pmu, which make deb of riscv-pmu builds and which has more metrics; or set PERF to its path");
	return false;
}

/*
 * Starts perf. If @out is a descriptor, that is its output, and its messages are dropped.
 * @inherited is NULL, or that of hold_signals().
 */
static pid_t start(const char *perf, char *const argv[], int out, const struct inherited *inherited)
{
	pid_t parent = getpid(), pid = fork();
	int null;

	if (pid < 0)
		report_error("fork: %s; end other processes, or raise ulimit -u", strerror(errno));
	if (pid)
		return pid;
	if (out >= 0) {
		null = open("/dev/null", O_WRONLY);
		dup2(out, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	if (inherited)
		become_child(inherited, parent);
	execv(perf, argv);
	_exit(EXIT_NO_EXEC);
}

/* --- perf's metrics --- */

/* The metrics that this perf has for this core, with a space before and after each. */
static void read_metrics(const char *perf, char known[TEXT_SIZE])
{
	char *argv[] = { (char *)perf, "list", "--raw-dump", "metric", NULL };
	size_t used = 1;
	int ends[2];
	ssize_t len;
	pid_t pid;

	strcpy(known, " ");
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = start(perf, argv, ends[1], NULL);
	close(ends[1]);
	while (used < TEXT_SIZE - 2 &&
	       (len = read(ends[0], known + used, TEXT_SIZE - 2 - used)) > 0)
		used += len;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	strcpy(known + used, " ");
	for (char *c = known; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
}

static bool knows_metrics(const char *known, const char *metrics)
{
	char names[TEXT_SIZE], word[NAME_SIZE + 2], *name, *save;

	strcpy(names, metrics);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		snprintf(word, sizeof(word), " %.100s ", name);
		if (!strstr(known, word))
			return false;
	}
	return *metrics;
}

/* --- the arguments of perf --- */

static struct {
	char **list;
	size_t nr;
} arguments;

static bool add(const char *argument)
{
	char **more = realloc(arguments.list, (arguments.nr + 2) * sizeof(*more));
	char *copy = strdup(argument);

	if (!more || !copy) {
		report_error("out of memory");
		return false;
	}
	arguments.list = more;
	more[arguments.nr++] = copy;
	more[arguments.nr] = NULL;
	return true;
}

static bool add_option(const char *option, const char *value)
{
	return !value || (add(option) && add(value));
}

/* In CSV on stderr, a note would look like a row. In JSON, "perf" shows -e instead of -M. */
static void note_events_only(const char *perf, const struct group *group)
{
	if (json || (ask.separator && !ask.output))
		return;
	if (asked_pmu())
		fprintf(stderr, "rvpmu: perf cannot compute metrics of one PMU, so only the events of the group '%s' are counted on %s\n",
			group->name, asked_pmu()->name);
	else
		fprintf(stderr, "rvpmu: %s has no metrics of the group '%s', so it counts the events only; perf-riscv-pmu, which make deb of riscv-pmu builds, has them\n",
			perf, group->name);
}

static bool add_groups(const char *perf)
{
	char known[TEXT_SIZE], names[TEXT_SIZE], *name, *save;
	struct group group;

	if (strlen(ask.groups) >= sizeof(names) || strspn(ask.groups, ",") == strlen(ask.groups)) {
		report_error("option -g: give names that rvpmu groups lists, such as -g ipc,dtlb");
		return false;
	}
	read_metrics(perf, known);
	strcpy(names, ask.groups);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		if (!find_group(name, &group))
			return false;
		if (group.err) {
			report_missing(&group);
			return false;
		}
		if (!asked_pmu() && knows_metrics(known, group.metrics)) {
			if (!add_option("-M", group.metrics))
				return false;
			continue;
		}
		if (*group.metrics)
			note_events_only(perf, &group);
		if (!add_option("-e", group.terms))
			return false;
	}
	return true;
}

/*
 * Opens the file for perf's output or, for JSON, a pipe that rvpmu reads from log[0]. perf inherits
 * log[1]: with -o instead, it would write a line that is no CSV.
 */
static bool add_log(int log[2])
{
	char number[16];

	log[0] = -1;
	log[1] = -1;
	if (!ask.output)
		return true;
	if (!json)
		log[1] = open(ask.output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	else if (!pipe2(log, O_CLOEXEC))
		fcntl(log[1], F_SETFD, 0);
	if (log[1] < 0) {
		report_error("%s: %s: give -o another file", ask.output, strerror(errno));
		return false;
	}
	if (json)
		fcntl(log[0], F_SETFL, O_NONBLOCK);
	snprintf(number, sizeof(number), "%d", log[1]);
	return add("--log-fd") && add(number);
}

/* The file is opened, and loses its content, only if perf can be run. */
static bool make_arguments(const char *perf, int argc, char **argv, int log[2])
{
	if (!add(perf) || !add("stat") || (ask.all && !add("-a")) ||
	    !add_option("-p", ask.pid) || !add_option("-C", ask.cpus) ||
	    !add_option("-I", ask.interval) || !add_option("-x", ask.separator) ||
	    (json && !add("-j")) || !add_groups(perf) || !add_log(log) || (argc && !add("--")))
		return false;
	for (int i = 0; i < argc; i++) {
		if (!add(argv[i]))
			return false;
	}
	return true;
}

/*
 * perf prints numbers by the locale, but JSON has a decimal point, and a comma would split a field
 * of CSV. CMD inherits the environment, so its other categories stay as they are.
 */
static void set_decimal_point(void)
{
	static const char * const others[] = {
		"LANG", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_TIME",
	};
	const char *all = getenv("LC_ALL");

	for (size_t i = 0; all && *all && i < sizeof(others) / sizeof(*others); i++)
		setenv(others[i], all, true);
	unsetenv("LC_ALL");
	setenv("LC_NUMERIC", "C", true);
}

/* --- JSON --- */

static void print_arguments(void)
{
	json_open("perf", '[');
	for (size_t i = 0; i < arguments.nr; i++)
		json_text(NULL, arguments.list[i]);
	json_close(']');
}

/* Each line of perf's is an object. Returns whether it was a count. */
static bool print_count(char *line)
{
	char printable[TEXT_SIZE];

	line[strcspn(line, "\n")] = '\0';
	if (!*line || *line == '#')
		return false;
	if (json_object(line))
		return true;
	make_printable(line, printable);
	report_error("perf stat -j has printed a line that is no JSON object: '%s'; try another version of perf",
		     printable);
	return false;
}

/* What perf has printed so far reaches the file, so that each interval can be read as it ends. */
static size_t print_counts(FILE *log)
{
	static char *line;
	static size_t size, used;
	size_t nr = 0;
	int c;

	/* A line may be incomplete: the rest of it comes later. */
	while ((c = getc_unlocked(log)) != EOF) {
		if (used + 2 > size) {
			char *more = realloc(line, size + TEXT_SIZE);

			if (!more)
				break;
			line = more;
			size += TEXT_SIZE;
		}
		line[used++] = c;
		if (c != '\n')
			continue;
		line[used] = '\0';
		used = 0;
		nr += print_count(line);
	}
	clearerr(log);
	if (nr)
		json_flush();
	return nr;
}

/* Passes a signal on to perf, except SIGCHLD and those that the terminal has sent to perf, too. */
static void pass_signal(int signals, pid_t pid)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) == sizeof(info) && info.ssi_signo != SIGCHLD &&
	    info.ssi_code != SI_KERNEL)
		kill(pid, info.ssi_signo);
}

/* Until perf ends: CMD may leave processes behind that keep the pipe open. */
static int run_perf(pid_t pid, FILE *log, int signals, size_t *nr)
{
	struct pollfd ready[] = {
		{ .fd = fileno(log), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	pid_t ended;
	int status;

	while (!(ended = waitpid(pid, &status, WNOHANG))) {
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			break;
		*nr += print_counts(log);
		/* perf has closed the pipe, and will end. */
		if (ready[0].revents & POLLHUP)
			ready[0].fd = -1;
		if (ready[1].revents & POLLIN)
			pass_signal(signals, pid);
	}
	*nr += print_counts(log);
	if (ended <= 0)
		return EXIT_OWN_ERROR;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_for_json(const char *perf, const int log[2])
{
	FILE *file = fdopen(log[0], "r");
	struct inherited inherited;
	size_t nr = 0;
	sigset_t mask;
	int signals, status;
	pid_t pid;

	fill_signal_mask(&mask);
	hold_signals(&inherited);
	signals = signalfd(-1, &mask, SFD_CLOEXEC);
	if (!file || signals < 0) {
		report_error("signalfd: %s; raise ulimit -n", strerror(errno));
		return EXIT_OWN_ERROR;
	}
	pid = start(perf, arguments.list, -1, &inherited);
	if (pid < 0)
		return EXIT_OWN_ERROR;
	close(log[1]);
	print_arguments();
	json_open("counts", '[');
	json_stream();
	status = run_perf(pid, file, signals, &nr);
	json_close(']');
	if (nr)
		return status;
	report_error("perf stat printed no counts and ended with status %d: see its message on stderr, and correct what it names",
		     status);
	return EXIT_OWN_ERROR;
}

/* --- the command --- */

static int check_command(const char *name)
{
	char path[TEXT_SIZE];

	if (find_program(name, path))
		return 0;
	report_error("cannot execute %s: %s; give a command that is in PATH, or its path", name,
		     strerror(errno));
	return errno == ENOENT ? EXIT_NO_COMMAND : EXIT_NO_EXEC;
}

/* Errors are in the document, too. */
static bool open_document(void)
{
	if (!json || json_redirect(ask.output))
		return true;
	report_error("%s: %s: give -o another file", ask.output, strerror(errno));
	return false;
}

int cmd_stat(int argc, char **argv)
{
	char perf[TEXT_SIZE];
	int log[2], status;

	if (!check_arguments(argc) || !open_document())
		return EXIT_OWN_ERROR;
	status = argc ? check_command(argv[0]) : 0;
	if (status)
		return status;
	if (!check_sysfs() || !find_perf(perf) || !make_arguments(perf, argc, argv, log))
		return EXIT_OWN_ERROR;
	if (json || !ask.separator || ask.output)
		note_no_tables();
	if (json || ask.separator)
		set_decimal_point();
	if (json)
		return run_for_json(perf, log);
	execv(perf, arguments.list);
	report_error("%s: %s; set PERF to a perf", perf, strerror(errno));
	return EXIT_OWN_ERROR;
}

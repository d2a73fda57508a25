// SPDX-License-Identifier: GPL-2.0
/* rvpmu: lists, explains and tests the PMUs of a RISC-V machine. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rvpmu.h"

bool json;

static const struct option common_options[] = { COMMON_OPTIONS };

static const struct command {
	const char *name;
	const char *args;
	const char *help;
	int (*run)(int argc, char **argv);	/* without the command's name and its options */
	int min_args, max_args;
	const struct option *options;		/* NULL: the common ones only */
	const char *letters;			/* of the options, for getopt_long() */
	void (*set)(int option, const char *value);
	int own_error;				/* 0, or the status of all errors of rvpmu itself */
	bool riscv;				/* it is for RISC-V machines only */
} commands[] = {
	{
		.name = "list", .args = " [PMU]", .run = cmd_list, .max_args = 1,
		.help = "list PMUs, their events, encodings and counters",
	}, {
		.name = "caps", .args = "", .run = cmd_caps,
		.help = "print the capabilities of each PMU",
	}, {
		.name = "doctor", .args = " [--dts [--core NAME] | --prometheus]", .run = cmd_doctor,
		.riscv = true,
		.options = doctor_options, .set = doctor_set,
		.help = "check what works, what does not, why, and what helps",
	}, {
		.name = "test", .args = "", .run = cmd_test, .riscv = true,
		.help = "count, sample, record branches and read on each hart",
	}, {
		.name = "man", .args = " EVENT", .run = cmd_man, .min_args = 1, .max_args = 1,
		.help = "explain an event, and print the perf command for it",
	}, {
		.name = "groups", .args = " [GROUP]", .run = cmd_groups, .max_args = 1,
		.riscv = true,
		.help = "list groups of events, and whether this machine has them",
	}, {
		.name = "stat",
		.args = " -g GROUP[,GROUP...] [-I MS] [-x SEP | --csv | --json] [-o FILE] [-a | -p PID | -C CPUS] [--] [CMD [ARG...]]",
		.run = cmd_stat, .max_args = INT_MAX, .riscv = true,
		.options = stat_options, .letters = "+:aC:g:hI:jo:p:x:", .set = stat_set,
		.own_error = EXIT_OWN_ERROR,
		.help = "count groups of events with perf stat",
	}, {
		.name = "exclusive", .args = " [--quiet] [--output FILE] [--] CMD [ARG...]",
		.run = cmd_exclusive, .min_args = 1, .max_args = INT_MAX,
		/* "+": CMD has options of its own. */
		.options = exclusive_options, .letters = "+:hjo:q", .set = exclusive_set,
		.own_error = EXIT_OWN_ERROR,
		.help = "run CMD while no other events are counted",
	},
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(*commands))

static void print_usage(FILE *out)
{
	fprintf(out, "usage: rvpmu [--json] COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\n  -h, --help     print this, or after a COMMAND its usage\n"
		     "  -V, --version  print the version\n"
		     "  -j, --json     print one JSON document\n"
		     "\nExit status: 0 all is well, 1 something is degraded or failed, 2 something is\n"
		     "missing, 64 the command line is invalid. See rvpmu(1).\n");
}

static void print_command_usage(const struct command *command)
{
	printf("usage: rvpmu [--json] %s%s\n\nrvpmu %s: %s. See rvpmu(1).\n", command->name,
	       command->args, command->name, command->help);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

/* The exit status for an error of rvpmu itself. @command may be NULL. */
static int error_status(const struct command *command, int status)
{
	return command && command->own_error ? command->own_error : status;
}

/* Returns @status, or an error's if the output was not written: a closed pipe, a full disk. */
static int finish(const struct command *command, int status)
{
	if (json_end(status) && !fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "rvpmu: the output was not written: %s\n", strerror(errno));
	return status ? status : error_status(command, EXIT_DEGRADED);
}

/* Without a command, the usage of all follows. */
static int refuse(const struct command *command, const char *why, const char *what)
{
	int status = error_status(command, EXIT_USAGE);

	if (!json_begin(command ? command->name : NULL))
		return status;
	if (command)
		report_error("%s%s; usage: rvpmu %s%s", why, what, command->name, command->args);
	else
		report_error("%s%s", why, what);
	if (!command && !json)
		print_usage(stderr);
	return finish(command, status);
}

/* Parses a command's options. Returns false if it is not to run: *status says how that ends. */
static bool parse(const struct command *command, int argc, char **argv, int *status)
{
	const struct option *options = command->options ? command->options : common_options;
	int option;

	/* 0 makes getopt_long() of glibc and musl start again, for the command's own options. */
	optind = 0;
	while ((option = getopt_long(argc, argv, command->letters ? command->letters : ":hj",
				     options, NULL)) != -1) {
		if (option == 'h') {
			print_command_usage(command);
			*status = finish(command, EXIT_OK);
			return false;
		}
		if (option == '?' || option == ':') {
			*status = refuse(command, option == '?' ? "unknown option: " :
					 "this option needs a value: ", argv[optind - 1]);
			return false;
		}
		if (option == 'j')
			json = true;
		else
			command->set(option, optarg);
	}
	if (argc - optind >= command->min_args && argc - optind <= command->max_args)
		return true;

	*status = argc - optind < command->min_args ?
		  refuse(command, "an argument is missing", "") :
		  refuse(command, "too many arguments: ", argv[optind + command->max_args]);
	return false;
}

static bool is_riscv(struct utsname *machine)
{
	return !uname(machine) && !strncmp(machine->machine, "riscv", 5);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct utsname machine;
	int status;

	if (!parse(command, argc, argv, &status))
		return status;
	if (!json_begin(command->name)) {
		report_error("out of memory");
		return error_status(command, EXIT_MISSING);
	}
	if (command->riscv && !doctor_knows_core() && !is_riscv(&machine)) {
		report_error("this machine is not RISC-V but %s, and rvpmu %s is for RISC-V only; rvpmu list, caps, man and doctor --dts --core NAME work on any",
			     machine.machine, command->name);
		return finish(command, error_status(command, EXIT_MISSING));
	}
	return finish(command, command->run(argc - optind, argv + optind));
}

/*
 * If stdin, stdout or stderr is closed, open /dev/null in its place, so that no other file gets its
 * number. It is opened for the opposite direction, so that reads and writes fail as with a closed
 * file, and the programs that rvpmu runs do not get it.
 */
static void fill_standard_files(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", modes[fd] | O_CLOEXEC);
	}
}

int main(int argc, char **argv)
{
	const struct option options[] = {
		{ "version", no_argument, NULL, 'V' }, COMMON_OPTIONS
	};
	const struct command *command;
	int option;

	fill_standard_files();
	/* refuse() has the messages. */
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+hjV", options, NULL)) != -1) {
		if (option == 'j') {
			json = true;
		} else if (option == 'h') {
			print_usage(stdout);
			return finish(NULL, EXIT_OK);
		} else if (option == 'V') {
			if (!json)
				printf("rvpmu %s\n", RVPMU_VERSION);
			return json_begin(NULL) ? finish(NULL, EXIT_OK) : EXIT_MISSING;
		} else {
			return refuse(NULL, "unknown option: ", argv[optind - 1]);
		}
	}
	if (optind == argc)
		return refuse(NULL, "no command given", "");
	if (!strcmp(argv[optind], "help")) {
		print_usage(stdout);
		return finish(NULL, EXIT_OK);
	}
	command = find_command(argv[optind]);
	if (!command)
		return refuse(NULL, "unknown command: ", argv[optind]);
	return run(command, argc - optind, argv + optind);
}

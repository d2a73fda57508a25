// SPDX-License-Identifier: GPL-2.0
/* rvpmu: lists, explains and tests the PMUs of a RISC-V machine. */

#include <stdio.h>
#include <string.h>

#include "rvpmu.h"

bool json;

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "list", cmd_list, "list PMUs, their events, encodings and counters" },
	{ "caps", cmd_caps, "print the capabilities of each PMU" },
	{ "doctor", cmd_doctor, "check what works, what does not, why, and what helps" },
	{ "test", cmd_test, "count, sample, record branches and read on each hart" },
	{ "man", cmd_man, "EVENT: explain it, and print the perf command for it" },
	{ "exclusive", cmd_exclusive, "-- CMD: run CMD while no other events are counted" },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(*commands))

static void usage(FILE *out)
{
	fprintf(out, "usage: rvpmu [--json] COMMAND [ARGUMENT]\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\nExit status: 0 all is well, 1 something is degraded or failed, 2 something is\n"
		     "missing, 64 the command line is invalid. See rvpmu(1).\n");
}

int main(int argc, char **argv)
{
	int status;

	if (argc > 1 && !strcmp(argv[1], "--json")) {
		json = true;
		argv++;
		argc--;
	}
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
		usage(stdout);
		return EXIT_OK;
	}
	for (size_t i = 0; argc > 1 && i < NR_COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (json && (commands[i].run == cmd_man || commands[i].run == cmd_exclusive)) {
			fprintf(stderr, "rvpmu: --json is for list, caps, doctor and test only\n");
			return EXIT_USAGE;
		}
		status = commands[i].run(argc - 1, argv + 1);
		json_end();
		/* For instance a closed pipe or a full disk. */
		if (fflush(stdout) || ferror(stdout)) {
			perror("rvpmu: standard output");
			return EXIT_DEGRADED;
		}
		return status;
	}

	if (argc > 1)
		fprintf(stderr, "rvpmu: unknown command '%s'\n", argv[1]);
	usage(stderr);
	return EXIT_USAGE;
}

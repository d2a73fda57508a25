// SPDX-License-Identifier: GPL-2.0
/* The examples of tools/ebb do what they say. */

static bool run_example(const char *name, const char *arg, char text[PMU_TEXT])
{
	char path[256], command[300];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	FILE *out;

	if (length < 0)
		return false;
	path[length] = 0;
	*strrchr(path, '/') = 0;
	snprintf(command, sizeof(command), "%s/%s %s", path, name, arg);
	out = popen(command, "r");
	if (!out)
		return false;
	length = fread(text, 1, PMU_TEXT - 1, out);
	text[length] = 0;
	return !pclose(out);
}

/* Of 100 million instructions a sample for each 100 000. */
TEST_F(ebb, hot_loop_finds_the_hot_loop)
{
	char text[PMU_TEXT];

	ASSERT_TRUE(run_example("hot_loop", "100", text));
	TH_LOG("%s", text);
	if (!self->exact)
		return;
	EXPECT_NE(NULL, strstr(text, "parse     10 %\nsearch    60 %\nprint     30 %\n"));
	EXPECT_NE(NULL, strstr(text, "1000 samples"));
}

TEST_F(ebb, walk_goes_another_way)
{
	char text[PMU_TEXT];

	if (pmu_is_icount())
		SKIP(return, "an overflow of a TLB event ends QEMU with -icount");
	ASSERT_TRUE(run_example("walk", "10", text));
	TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(text, "by columns: too many TLB misses"));
	EXPECT_NE(NULL, strstr(text, "by rows: fast enough"));
}

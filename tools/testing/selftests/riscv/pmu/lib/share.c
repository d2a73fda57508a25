// SPDX-License-Identifier: GPL-2.0
/* Children that count or sample beside their parent. */

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "share.h"

void *share_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

pid_t spawn(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

bool wait_stopped(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
}

bool wait_ended(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid && !status;
}

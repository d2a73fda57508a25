// SPDX-License-Identifier: GPL-2.0
/*
 * Leaves Linux by kexec, for a "kernel" of two instructions that waits for ever:
 * whoever looks at the machine from outside then sees what Linux has left behind.
 */

#include <errno.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the machine's memory, beyond all that Linux needs at the moment. */
#define ENTRY		0x90000000UL
#define TREE		0x92000000UL
#define PAGE		4096UL

/* wfi; j ENTRY */
static const uint32_t wait_for_ever[] = { 0x10500073, 0xffdff06f };
/* machine_kexec() takes no image without a devicetree. */
static char tree[256 * 1024];

static unsigned long in_pages(unsigned long size)
{
	return (size + PAGE - 1) & -PAGE;
}

static int fail(const char *what)
{
	fprintf(stderr, "kexec-guest: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(void)
{
	FILE *file = fopen("/sys/firmware/fdt", "r");
	size_t size;

	if (!file)
		return fail("/sys/firmware/fdt");
	size = fread(tree, 1, sizeof(tree), file);
	fclose(file);

	struct kexec_segment segments[] = {
		{ wait_for_ever, sizeof(wait_for_ever), (void *)ENTRY, PAGE },
		{ tree, size, (void *)TREE, in_pages(size) },
	};

	if (syscall(SYS_kexec_load, ENTRY, 2UL, segments, (long)KEXEC_ARCH_RISCV))
		return fail("kexec_load");
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, 0);
	return fail("reboot");
}

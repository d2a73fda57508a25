// SPDX-License-Identifier: GPL-2.0
/*
 * vmm MEMORY HARTS FILE@ADDRESS...: run a guest of KVM with MEMORY MiB at 0x80000000 and HARTS harts.
 * The first FILE is the kernel, the last one its devicetree (scripts/guest/boot --nested writes it).
 *
 * The guest's devices are those that the kernel has without a bus:
 *   hvc0    SBI's debug console: our standard output
 *   ttyS0   at 0x10000000: the guest's kernel log, which goes to our standard error line by line
 *   ttyS1   at 0x10001000: the exit status in decimal, which becomes ours when the guest powers off
 *
 * Timer, IPIs, fences, hart states, reset and PMU of the SBI are KVM's own.
 */

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RAM_BASE	0x80000000UL
#define UART_BASE	0x10000000UL
#define UART_SIZE	0x1000UL
#define MAX_HARTS	8

/* SBI: the debug console, version 2.0 chapter 12. */
#define SBI_DBCN	0x4442434eUL
#define DBCN_WRITE	0
#define DBCN_READ	1
#define DBCN_WRITE_BYTE	2
#define SBI_ERR_NOT_SUPPORTED	-2L
#define SBI_ERR_INVALID_PARAM	-3L
/* Linux 6.1, whose headers Debian's cross compiler has, does not name these. */
#define REG_SBI_EXT	((uint64_t)0x08 << 24)
#define SBI_EXT_DBCN	9

/* The registers of a 16550A. */
enum { UART_DATA, UART_IER, UART_IIR, UART_LCR, UART_MCR, UART_LSR, UART_MSR, UART_SCRATCH, UART_REGS };
#define LCR_DLAB	0x80
#define LSR_EMPTY	0x60
#define MSR_READY	0xb0
#define IIR_NONE	0xc1
#define FCR_ENABLE	0x01

struct uart {
	uint8_t regs[UART_REGS];
	void (*put)(char byte);
};

static char *ram;
static uint64_t ram_size;
static int vm;
static size_t run_size;
static int exit_status = 125;
/* Harts run in parallel, and the devices are shared. */
static pthread_mutex_t devices = PTHREAD_MUTEX_INITIALIZER;

/* --- devices --- */

/* Whole lines, so that they do not mix with those of the host's kernel on the same console. */
static void put_log(char byte)
{
	static char line[512];
	static size_t length;

	if (byte != '\r')
		line[length++] = byte;
	if (byte != '\n' && length < sizeof(line))
		return;
	if (write(STDERR_FILENO, line, length) < 0)
		warn("the guest's log is lost");
	length = 0;
}

static void put_status(char byte)
{
	static bool begun;

	if (byte < '0' || byte > '9')
		return;
	exit_status = (begun ? exit_status * 10 : 0) + byte - '0';
	begun = true;
}

static struct uart uarts[] = { { .put = put_log }, { .put = put_status } };

static uint8_t read_uart(const struct uart *uart, unsigned int reg)
{
	switch (reg) {
	case UART_DATA:
		return 0;
	case UART_IIR:
		return IIR_NONE;
	case UART_LSR:
		return LSR_EMPTY;
	case UART_MSR:
		return MSR_READY;
	default:
		return uart->regs[reg];
	}
}

static void write_uart(struct uart *uart, unsigned int reg, uint8_t value)
{
	bool divisor = uart->regs[UART_LCR] & LCR_DLAB;

	if (reg == UART_DATA && !divisor)
		uart->put(value);
	else if (reg != UART_IER || !divisor)
		uart->regs[reg] = value;
}

static void handle_mmio(struct kvm_run *run)
{
	uint64_t offset = run->mmio.phys_addr - UART_BASE;
	unsigned int reg = offset % UART_SIZE;
	struct uart *uart = &uarts[offset / UART_SIZE];

	if (offset / UART_SIZE >= sizeof(uarts) / sizeof(uarts[0]) || reg >= UART_REGS || run->mmio.len != 1)
		errx(125, "the guest accesses %u bytes at %#" PRIx64 ", where no device is", run->mmio.len,
		     (uint64_t)run->mmio.phys_addr);
	if (run->mmio.is_write)
		write_uart(uart, reg, run->mmio.data[0]);
	else
		run->mmio.data[0] = read_uart(uart, reg);
}

static long write_output(const char *bytes, size_t length, unsigned long *written)
{
	ssize_t done = write(STDOUT_FILENO, bytes, length);

	if (done < 0)
		err(125, "the guest's output is lost");
	*written = done;
	return 0;
}

static void handle_sbi(struct kvm_run *run)
{
	unsigned long *args = run->riscv_sbi.args, *value = &run->riscv_sbi.ret[1];
	long error = SBI_ERR_NOT_SUPPORTED;
	char byte = args[0];

	*value = 0;
	if (run->riscv_sbi.extension_id != SBI_DBCN) {
		run->riscv_sbi.ret[0] = error;
		return;
	}
	switch (run->riscv_sbi.function_id) {
	case DBCN_WRITE:
		/* Length, and the low and high half of the address. */
		if (args[2] || args[1] < RAM_BASE || args[1] - RAM_BASE > ram_size ||
		    args[0] > ram_size - (args[1] - RAM_BASE))
			error = SBI_ERR_INVALID_PARAM;
		else
			error = write_output(ram + (args[1] - RAM_BASE), args[0], value);
		break;
	case DBCN_WRITE_BYTE:
		error = write_output(&byte, 1, value);
		*value = 0;
		break;
	case DBCN_READ:
		/* There is never any input. */
		error = 0;
		break;
	}
	run->riscv_sbi.ret[0] = error;
}

/* --- harts --- */

static void set_register(int vcpu, uint64_t type, uint64_t index, unsigned long value)
{
	struct kvm_one_reg reg = {
		.id = KVM_REG_RISCV | KVM_REG_SIZE_U64 | type | index,
		.addr = (uintptr_t)&value,
	};

	if (ioctl(vcpu, KVM_SET_ONE_REG, &reg) < 0)
		err(125, "KVM does not set register %#" PRIx64, (uint64_t)reg.id);
}

static void end_guest(const struct kvm_run *run)
{
	if (run->exit_reason != KVM_EXIT_SYSTEM_EVENT)
		errx(125, "KVM ended a hart for the reason %u (linux/kvm.h, KVM_EXIT_...)", run->exit_reason);
	if (run->system_event.type != KVM_SYSTEM_EVENT_SHUTDOWN)
		errx(125, "the guest restarted itself (event %u)", run->system_event.type);
	fflush(NULL);
	_exit(exit_status);
}

/* Ends the process with the guest's status. */
static void *run_hart(void *arg)
{
	int vcpu = (intptr_t)arg;
	struct kvm_run *run = mmap(NULL, run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);

	if (run == MAP_FAILED)
		err(125, "cannot map the state of a hart");
	for (;;) {
		if (ioctl(vcpu, KVM_RUN, 0) < 0) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			err(125, "KVM_RUN");
		}
		pthread_mutex_lock(&devices);
		if (run->exit_reason == KVM_EXIT_MMIO)
			handle_mmio(run);
		else if (run->exit_reason == KVM_EXIT_RISCV_SBI)
			handle_sbi(run);
		else if (run->exit_reason != KVM_EXIT_INTR)
			end_guest(run);
		pthread_mutex_unlock(&devices);
	}
}

/* KVM stops all harts but the first, and the guest starts them by the SBI. */
static int create_hart(long id, uint64_t kernel, uint64_t tree)
{
	int vcpu = ioctl(vm, KVM_CREATE_VCPU, id);

	if (vcpu < 0)
		err(125, "cannot create hart %ld", id);
	set_register(vcpu, REG_SBI_EXT, SBI_EXT_DBCN, 1);
	if (id == 0) {
		set_register(vcpu, KVM_REG_RISCV_CORE, KVM_REG_RISCV_CORE_REG(regs.pc), kernel);
		set_register(vcpu, KVM_REG_RISCV_CORE, KVM_REG_RISCV_CORE_REG(regs.a0), id);
		set_register(vcpu, KVM_REG_RISCV_CORE, KVM_REG_RISCV_CORE_REG(regs.a1), tree);
	}
	return vcpu;
}

/* --- memory --- */

static void create_memory(uint64_t size)
{
	struct kvm_userspace_memory_region region = { .guest_phys_addr = RAM_BASE, .memory_size = size };

	ram_size = size;
	ram = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ram == MAP_FAILED)
		err(125, "cannot map %" PRIu64 " bytes", size);
	region.userspace_addr = (uintptr_t)ram;
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		err(125, "KVM refuses the guest's memory");
}

/* Returns the address in "FILE@ADDRESS", where FILE is loaded. */
static uint64_t load(char *argument)
{
	char *at = strrchr(argument, '@'), *end;
	struct stat info;
	uint64_t address;
	ssize_t done = 0;
	int fd;

	if (!at)
		errx(2, "'%s' is not FILE@ADDRESS", argument);
	*at = 0;
	address = strtoull(at + 1, &end, 16);
	fd = open(argument, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) < 0)
		err(2, "%s", argument);
	if (*end || address < RAM_BASE || address - RAM_BASE >= ram_size ||
	    (uint64_t)info.st_size > ram_size - (address - RAM_BASE))
		errx(2, "%s does not fit into the guest's memory at '%s'", argument, at + 1);
	for (off_t offset = 0; offset < info.st_size; offset += done) {
		done = pread(fd, ram + (address - RAM_BASE) + offset, info.st_size - offset, offset);
		if (done <= 0)
			err(125, "cannot read %s", argument);
	}
	close(fd);
	return address;
}

static long number(const char *text, long most, const char *what)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < 1 || value > most)
		errx(2, "%s: '%s' is not a number from 1 to %ld", what, text, most);
	return value;
}

int main(int argc, char **argv)
{
	int vcpus[MAX_HARTS], kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), size;
	uint64_t kernel = 0, tree = 0;
	long harts;

	if (argc < 5)
		errx(2, "usage: vmm MEMORY HARTS KERNEL@ADDRESS [FILE@ADDRESS...] DEVICETREE@ADDRESS");
	harts = number(argv[2], MAX_HARTS, "HARTS");
	if (kvm < 0)
		err(125, "no /dev/kvm: the hart needs the H extension, and the kernel CONFIG_KVM");
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (vm < 0 || size < 0)
		err(125, "cannot create a guest");
	run_size = size;
	create_memory(number(argv[1], 1 << 20, "MEMORY") << 20);
	for (int i = 3; i < argc; i++) {
		tree = load(argv[i]);
		if (i == 3)
			kernel = tree;
	}
	for (long id = 0; id < harts; id++)
		vcpus[id] = create_hart(id, kernel, tree);
	for (long id = 1; id < harts; id++) {
		pthread_t thread;

		errno = pthread_create(&thread, NULL, run_hart, (void *)(intptr_t)vcpus[id]);
		if (errno)
			err(125, "cannot start a hart");
	}
	run_hart((void *)(intptr_t)vcpus[0]);
	return 0;
}

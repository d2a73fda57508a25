# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What graft, ungraft and patches share: which files are ours, which of the
# kernel's are edited and how, and what a tree must look like to be touched.
#
# KDIR/.riscv-pmu-graft/ remembers a graft:
#   manifest   "SHA-256 PATH" of every file as graft left it
#   originals  the same of every file that graft edited or removed, as it was
#   orig/      those files themselves
#   dirs       the folders that graft made

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

STATE_NAME=.riscv-pmu-graft
TRAPS=arch/riscv/kernel/traps.c
ENTRY=arch/riscv/include/asm/entry-common.h
IOMMU=drivers/iommu/riscv/iommu.c
REPLACED_HEADER=include/linux/perf/riscv_pmu.h
REMOVED=(drivers/perf/riscv_pmu.c drivers/perf/riscv_pmu_legacy.c drivers/perf/riscv_pmu_sbi.c)
SELFTESTS=tools/testing/selftests/riscv
PERF_EVENTS=tools/perf/pmu-events/arch/riscv
# Folders of this repository that are a slice of the kernel's tree.
SLICE=(arch/riscv/include include drivers/perf/riscv tools/ebb tools/include/perf "$PERF_EVENTS/standard"
	"$SELFTESTS/pmu" Documentation)

# --- which files -------------------------------------------------------------

# Built files that lie about are not part of the slice: git knows which those are.
slice_files()
{
	local dir
	cd "$TOP"
	for dir in "${SLICE[@]}"; do
		[ -d "$dir" ] || continue
		if git rev-parse --git-dir >/dev/null 2>&1; then
			git ls-files -co --exclude-standard -- "$dir"
		else
			find "$dir" -type f ! -name '*.o' ! -name '*~'
		fi
	done | sort -u | while read -r file; do
		# Deleted, but not yet from git's index.
		[ ! -f "$file" ] || echo "$file"
	done
}

# The pristine form of KDIR's file.
original()
{
	if [ -e "$KDIR/$STATE_NAME/orig/$1" ]; then
		printf '%s' "$KDIR/$STATE_NAME/orig/$1"
	else
		printf '%s' "$KDIR/$1"
	fi
}

is_grafted()
{
	[ -f "$KDIR/$STATE_NAME/manifest" ]
}

in_list()
{
	[ -f "$2" ] && grep -q "^[0-9a-f]* $1\$" "$2"
}

# --- which trees -------------------------------------------------------------

refuse()
{
	die "$KDIR: $*; nothing was changed"
}

makefile_value()
{
	sed -n "s/^$1 = *//p" "$KDIR/Makefile" | head -n 1
}

require_version()
{
	local version patchlevel number
	version=$(makefile_value VERSION)
	patchlevel=$(makefile_value PATCHLEVEL)
	number=$((${version:-0} * 100 + ${patchlevel:-0}))
	if [ "$number" -lt 612 ] || [ "$number" -gt 702 ]; then
		refuse "this is Linux $version.$patchlevel, and the driver is for 6.12 to 7.2"
	fi
	# shellcheck disable=SC2034
	KERNEL_IS=$version.$patchlevel
}

require_once()
{
	local file=$1 pattern=$2 count
	count=$(grep -c -E "$pattern" "$(original "$file")") || true
	[ "$count" = 1 ] || refuse "$file has $count lines like '$pattern' where graft expects one"
}

require_kernel_tree()
{
	local file
	[ -d "$KDIR" ] || die "$KDIR is not a directory; give the kernel tree, as in make graft KDIR=../linux"
	for file in Kbuild Makefile arch/riscv/Kconfig drivers/perf/Kconfig; do
		[ -f "$KDIR/$file" ] || refuse "this is not a kernel source tree: it has no $file"
	done
	require_version
}

# Everything that the edits below rely on, looked at before the first of them.
require_known_tree()
{
	local file
	require_kernel_tree
	for file in "${REMOVED[@]}" "$REPLACED_HEADER" drivers/perf/Makefile; do
		[ -f "$(original "$file")" ] || refuse "$file is missing"
	done
	[ -f "$(original "$TRAPS")" ] || refuse "$TRAPS is missing"
	require_once "$TRAPS" '^[[:space:]]+handled = riscv_v_first_use_handler\(regs\);$'
	require_once "$TRAPS" '^void do_trap_ecall_u\(struct pt_regs \*regs\)$'
	[ -f "$(original "$ENTRY")" ] || refuse "$ENTRY is missing"
	require_once "$ENTRY" '^#define arch_exit_to_user_mode_prepare arch_exit_to_user_mode_prepare$'
	if grep -q arch_exit_to_user_mode_work "$(original "$ENTRY")"; then
		refuse "$ENTRY has an arch_exit_to_user_mode_work() of its own"
	fi
	for file in RISCV_PMU RISCV_PMU_LEGACY RISCV_PMU_SBI; do
		require_once drivers/perf/Kconfig "^config $file\$"
	done
	require_once drivers/perf/Makefile '^obj-\$\(CONFIG_RISCV_PMU\)[[:space:]]*\+=[[:space:]]*riscv_pmu\.o$'
	require_once drivers/perf/Makefile '^obj-\$\(CONFIG_RISCV_PMU_LEGACY\)[[:space:]]*\+=[[:space:]]*riscv_pmu_legacy\.o$'
	require_once drivers/perf/Makefile '^obj-\$\(CONFIG_RISCV_PMU_SBI\)[[:space:]]*\+=[[:space:]]*riscv_pmu_sbi\.o$'
	if has_iommu; then
		require_once "$IOMMU" '^int riscv_iommu_init\(struct riscv_iommu_device \*iommu\)$'
	fi
	if has_selftests; then
		[ -f "$(original "$SELFTESTS/Makefile")" ] || refuse "$SELFTESTS/Makefile is missing"
		require_once "$SELFTESTS/Makefile" '^RISCV_SUBTARGETS \?= .'
	fi
}

has_selftests()
{
	[ -f "$TOP/$SELFTESTS/pmu/Makefile" ]
}

require_driver()
{
	[ -f "$TOP/drivers/perf/riscv/Kconfig" ] ||
		die "drivers/perf/riscv is missing from this checkout: nothing to graft"
}

# --- the edits ---------------------------------------------------------------

edit_kconfig()
{
	awk '/^config (RISCV_PMU|RISCV_PMU_LEGACY|RISCV_PMU_SBI)$/ {
			if (!sourced++)
				print "source \"drivers/perf/riscv/Kconfig\"\n"
			inside = 1
			next
		}
		/^[^ \t]/ { inside = 0 }
		!inside' "$1"
}

edit_makefile()
{
	awk '/^obj-\$\(CONFIG_RISCV_PMU(_LEGACY|_SBI)?\)/ {
			if (!added++)
				print "obj-$(CONFIG_RISCV_PMU) += riscv/"
			next
		}
		{ print }' "$1"
}

# A read of a counter that its reader has just lost is no illegal instruction, and the
# return from a handler of event-based branches no system call.
edit_traps()
{
	awk '/^#include <linux\// { linux = 1 }
		/^$/ && linux && !added++ {
			print "#include <linux/perf/riscv_ebb.h>"
			print "#include <linux/perf/riscv_pmu.h>"
		}
		/^\t\thandled = riscv_v_first_use_handler\(regs\);$/ {
			print "\t\thandled = riscv_v_first_use_handler(regs) ||"
			print "\t\t\t  riscv_pmu_skip_user_read(regs);"
			next
		}
		/^void do_trap_ecall_u\(struct pt_regs \*regs\)$/ { ecall = 1 }
		ecall && /^\tif \(user_mode\(regs\)\) \{$/ {
			print
			getline
			print
			print "\n\t\tif (riscv_pmu_ebb_return(regs))\n\t\t\treturn;"
			ecall = 0
			next
		}
		{ print }' "$1"
}

# Who is about to go back to user mode may have an event-based branch to take.
edit_entry()
{
	awk '/^#include <asm\// && !added++ { print "#include <linux/perf/riscv_ebb.h>\n" }
		{ print }
		/^#define arch_exit_to_user_mode_prepare / {
			print "\n#define ARCH_EXIT_TO_USER_MODE_WORK _TIF_RISCV_EBB\n"
			print "static inline void arch_exit_to_user_mode_work(struct pt_regs *regs,"
			print "\t\t\t\t\t       unsigned long ti_work)\n{"
			print "\triscv_pmu_exit_to_user(regs, ti_work);\n}\n"
			print "#define arch_exit_to_user_mode_work arch_exit_to_user_mode_work"
		}' "$1"
}

# Linux 6.12 has no driver for these; before 6.15 there is no such call for auxiliary
# devices, and perf does not survive that a PMU with events goes.
has_iommu()
{
	[ -f "$(original "$IOMMU")" ] &&
		grep -q __devm_auxiliary_device_create "$KDIR/include/linux/auxiliary_bus.h"
}

# The performance monitor has a driver of its own. Vector 2 of icvec is PMIV.
edit_iommu()
{
	awk '/^#include <linux\// { linux = 1 }
		/^$/ && linux && !added++ { print "#include <linux/riscv_iommu_hpm.h>" }
		/^int riscv_iommu_init\(/ { inside = 1 }
		inside && /^\treturn 0;$/ {
			print "\triscv_iommu_hpm_add(iommu->dev, iommu->reg, iommu->caps,"
			print "\t\t\t    iommu->irqs[riscv_iommu_queue_vec(iommu, RISCV_IOMMU_INTR_PM)]);"
			inside = 0
		}
		{ print }' "$1"
}

edit_selftests()
{
	sed '/^RISCV_SUBTARGETS ?= ./{/\<pmu\>/!s/$/ pmu/}' "$1"
}

# The last line is for all harts that no other line names: perf takes the first that fits.
edit_perf_map()
{
	cat "$1"
	echo '0x[[:xdigit:]]+-0x[[:xdigit:]]+-0x[[:xdigit:]]+,v1,standard,core'
}

# Put entries at the end of the first list of an index.rst's toctree.
edit_toctree()
{
	local index=$1
	shift
	awk -v entries="$*" '
		function add(   n, i, e) {
			n = split(entries, e, " ")
			for (i = 1; i <= n; i++)
				print indent e[i]
			state = 3
		}
		/^\.\. toctree::/ && !state { state = 1 }
		state == 1 && /^[ \t]+[^: \t]/ { state = 2 }
		state == 2 && /^[ \t]*$/ { add() }
		state == 2 { match($0, /^[ \t]+/); indent = substr($0, 1, RLENGTH) }
		{ print }
		END { if (state == 2) add() }' "$index"
}

# "INDEX ENTRY" for every document of ours that an index of the kernel must name.
toctree_entries()
{
	local file dir
	while read -r file; do
		case $file in
		Documentation/*.rst) ;;
		*) continue ;;
		esac
		dir=${file%/*}
		if [ "${file##*/}" = index.rst ]; then
			file=$dir/index.rst
			dir=${dir%/*}
			file=${file#"$dir"/}
		else
			file=${file##*/}
		fi
		if [ -f "$(original "$dir/index.rst")" ] && [ ! -f "$TOP/$dir/index.rst" ]; then
			echo "$dir/index.rst ${file%.rst}"
		fi
	done
}

stage_toctrees()
{
	local stage=$1 index entries list
	list=$(slice_files | toctree_entries)
	cut -d' ' -f1 <<<"$list" | sort -u | while read -r index; do
		[ -n "$index" ] || continue
		mapfile -t entries < <(awk -v i="$index" '$1 == i { print $2 }' <<<"$list")
		mkdir -p "$stage/${index%/*}"
		edit_toctree "$(original "$index")" "${entries[@]}" >"$stage/$index"
	done
}

# All files as they shall be in a grafted tree, laid out under STAGE.
stage_slice()
{
	local stage=$1 file
	mkdir -p "$stage/drivers/perf"
	(cd "$TOP" && slice_files | cpio --quiet -pdm "$stage")
	chmod -R u+w "$stage"
	edit_kconfig "$(original drivers/perf/Kconfig)" >"$stage/drivers/perf/Kconfig"
	edit_makefile "$(original drivers/perf/Makefile)" >"$stage/drivers/perf/Makefile"
	mkdir -p "$stage/${TRAPS%/*}"
	edit_traps "$(original "$TRAPS")" >"$stage/$TRAPS"
	mkdir -p "$stage/${ENTRY%/*}"
	edit_entry "$(original "$ENTRY")" >"$stage/$ENTRY"
	if has_selftests; then
		edit_selftests "$(original "$SELFTESTS/Makefile")" >"$stage/$SELFTESTS/Makefile"
	fi
	if has_iommu; then
		mkdir -p "$stage/${IOMMU%/*}"
		edit_iommu "$(original "$IOMMU")" >"$stage/$IOMMU"
	fi
	if [ -f "$(original "$PERF_EVENTS/mapfile.csv")" ]; then
		edit_perf_map "$(original "$PERF_EVENTS/mapfile.csv")" >"$stage/$PERF_EVENTS/mapfile.csv"
	fi
	stage_toctrees "$stage"
}

staged_files()
{
	(cd "$1" && find . -type f -printf '%P\n' | sort)
}

is_edited()
{
	case $1 in
	drivers/perf/Kconfig | drivers/perf/Makefile | "$TRAPS" | "$ENTRY" | "$IOMMU" | "$REPLACED_HEADER") return 0 ;;
	"$SELFTESTS/Makefile" | "$PERF_EVENTS/mapfile.csv") return 0 ;;
	Documentation/*/index.rst) [ ! -f "$TOP/$1" ] ;;
	*) return 1 ;;
	esac
}

# "SHA-256 PATH" of the files whose paths are on stdin, in DIR, if they exist.
hash_files()
{
	(cd "$1" && xargs -r -d '\n' sha256sum 2>/dev/null | sed 's/  / /') || true
}

# Files of a grafted tree that are neither as graft left them nor as they were.
changed_since_graft()
{
	local state=$KDIR/$STATE_NAME path
	cut -d' ' -f2 "$state/manifest" | hash_files "$KDIR" |
		grep -vxF -f "$state/manifest" | grep -vxF -f "$state/originals" | cut -d' ' -f2
	for path in "${REMOVED[@]}"; do
		[ ! -e "$KDIR/$path" ] || [ ! -e "$state/orig/$path" ] || echo "$path"
	done
}

refuse_changed()
{
	local list
	list=$(changed_since_graft) || true
	if [ -n "$list" ]; then
		printf '%s\n' "$list" >&2
		refuse "these files were changed since the graft; save them, or use --force"
	fi
}

parse_kdir()
{
	KDIR=
	FORCE=
	QUIET=
	while [ $# -gt 0 ]; do
		case $1 in
		--force) FORCE=1 ;;
		--quiet) QUIET=1 ;;
		-*) usage_error "unknown option $1" ;;
		*) KDIR=$1 ;;
		esac
		shift
	done
	[ -n "$KDIR" ] || usage_error "which kernel tree? make $PROG KDIR=../linux"
	[ ! -d "$KDIR" ] || KDIR=$(cd "$KDIR" && pwd)
	: "$FORCE" "$QUIET"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2030,SC2031,SC2154
#
# Tests of scripts/kernel/graft and scripts/kernel/patches.

. "$BATS_TEST_DIRNAME/common.bash"

GRAFT=$TOP/scripts/kernel/graft
TREE=${BATS_TEST_TMPDIR:-}/tree
BEFORE=${BATS_TEST_TMPDIR:-}/before

# Copy the part of the kernel trees that graft uses: what it replaces, and what the patches change.
setup_file()
{
	local name TREE patched
	mapfile -t patched < <(sed -n 's|^+++ b/||p' "$TOP"/kernel/{common,[0-9]*}/*.patch | sort -u)
	for name in linux-mainline linux-mainline-next; do
		TREE=$BATS_FILE_TMPDIR/$name
		mkdir "$TREE"
		(cd "$BUILD/src/$name" && cp -a --parents Makefile MAINTAINERS \
			Documentation/devicetree/bindings/riscv/extensions.yaml "${patched[@]}" arch/riscv/include/asm \
			drivers/perf drivers/iommu/[r]iscv include/linux/perf include/uapi/linux \
			tools/testing/selftests/riscv tools/perf/pmu-events/arch/riscv \
			Documentation/arch/riscv Documentation/admin-guide/perf "$TREE" 2>/dev/null) || true
		# cp makes the folder of a file that the release does not have.
		find "$TREE" -type d -empty -delete
		snapshot >"$TREE.snapshot"
	done
}

teardown()
{
	rm -rf "$BATS_TEST_TMPDIR" "$TOP"/tools/ebb/made-by-graft-test*
}

snapshot()
{
	cd "$TREE"
	find . -type d -print -o -printf '%p %y %m %T@ %l\n' | sort
	find . -type f -print0 | sort -z | xargs -0 sha256sum
}

# make_tree [NAME]: copy an unmodified tree.
make_tree()
{
	rm -rf "$TREE"
	cp -a "$BATS_FILE_TMPDIR/${1:-linux-mainline}" "$TREE"
	cp "$BATS_FILE_TMPDIR/${1:-linux-mainline}.snapshot" "$BEFORE"
}

# tree_unchanged [PATTERN]: compare the tree with BEFORE, except lines with PATTERN.
tree_unchanged()
{
	diff <(grep -v -e "${1:-^$}" "$BEFORE") <(snapshot | grep -v -e "${1:-^$}")
}

refused_unchanged()
{
	snapshot >"$BEFORE"
	refuses 1 "$1.*nothing was changed" "$GRAFT" "$TREE"
	tree_unchanged
}

# spoiled PATTERN COMMAND...: check that graft refuses the tree after COMMAND has changed it.
spoiled()
{
	make_tree
	(cd "$TREE" && "${@:2}")
	refused_unchanged "$1"
}

# set_version TREE VERSION PATCHLEVEL
set_version()
{
	make_tree "$1"
	sed -i "s/^VERSION = .*/VERSION = $2/; s/^PATCHLEVEL = .*/PATCHLEVEL = $3/" "$TREE/Makefile"
}

# takes_series SERIES: check that graft applies this series and says so.
takes_series()
{
	run -0 "$GRAFT" "$TREE"
	says " patches of kernel/common and kernel/$1 are in $TREE"
}

# copy_project: as a release tarball, without git
copy_project()
{
	copy_scripts
	mkdir -p "$COPY/drivers/perf/riscv"
	cp -a "$TOP"/{kernel,arch,include,tools,Documentation,.gitignore} "$COPY/"
	cp "$TOP/drivers/perf/riscv_iommu_pmu.c" "$COPY/drivers/perf/"
}

@test "graft and ungraft restore every byte" {
	for name in linux-mainline linux-mainline-next; do
		make_tree $name
		run -0 "$GRAFT" "$TREE"
		run ! tree_unchanged
		[ ! -e "$TREE/drivers/perf/riscv_pmu_sbi.c" ]
		[ -e "$TREE/drivers/perf/riscv/Kconfig" ]
		run -0 "$GRAFT" --reverse "$TREE"
		tree_unchanged
	done
}

@test "a second graft changes nothing" {
	make_tree
	run -0 "$GRAFT" "$TREE"
	snapshot >"$BEFORE"
	run -0 "$GRAFT" "$TREE"
	tree_unchanged riscv-pmu-graft/
}

@test "graft updates stale files" {
	make_tree
	copy_project
	echo "/* older */" >"$COPY/drivers/perf/riscv/core.c"
	echo "/* gone */" >"$COPY/drivers/perf/riscv/gone.c"
	echo >>"$COPY/kernel/common/0001-perf-riscv-Build-drivers-perf-riscv.patch"
	run -0 "$COPY/scripts/kernel/graft" "$TREE"
	[ -e "$TREE/drivers/perf/riscv/gone.c" ]
	run -0 "$GRAFT" "$TREE"
	[ ! -e "$TREE/drivers/perf/riscv/gone.c" ]
	cmp "$TREE/drivers/perf/riscv/core.c" "$TOP/drivers/perf/riscv/core.c"
	run -0 "$GRAFT" --reverse "$TREE"
	tree_unchanged
}

@test "graft copies tracked files only" {
	make_tree
	touch "$TOP"/tools/ebb/made-by-graft-test.{o,so.1,c}
	run -0 "$GRAFT" "$TREE"
	says "not copied, because git does not track them (git add): .*tools/ebb/made-by-graft-test.c"
	[ -e "$TREE/tools/ebb/Makefile" ]
	[ -z "$(ls "$TREE"/tools/ebb/made-by-graft-test* 2>/dev/null)" ]
}

@test "scripts list the files of a clone that belongs to someone else" {
	local -x GIT_TEST_ASSUME_DIFFERENT_OWNER=1
	make_tree
	run -0 "$GRAFT" "$TREE"
	run ! grep -i -e dubious -e safe.directory <<<"$output"
	[ -e "$TREE/drivers/perf/riscv/core.c" ]
	run -0 "$TOP/scripts/check/style" whitespace
	[ "$output" = "ok whitespace" ]
}

@test "without git, graft copies nothing that was built" {
	make_tree
	copy_project
	make -s -C "$COPY/tools/ebb" CROSS_COMPILE="$CROSS_COMPILE" DESTDIR="$BATS_TEST_TMPDIR/installed" install
	[ -e "$COPY/tools/ebb/libriscv_ebb.so.1" ]
	[ -e "$COPY/tools/ebb/riscv_ebb.pc" ]
	run -0 "$COPY/scripts/kernel/graft" "$TREE"
	diff <(cd "$TOP" && git ls-files tools/ebb) <(cd "$TREE" && find tools/ebb -type f | LC_ALL=C sort)
}

# has_metrics TREE CORE OTHER: check that graft copies the metrics of CORE, and not those of OTHER.
has_metrics()
{
	make_tree "$1"
	run -0 "$GRAFT" "$TREE"
	[ -e "$TREE/tools/perf/pmu-events/arch/riscv/$2/metrics.json" ]
	[ ! -e "$TREE/tools/perf/pmu-events/arch/riscv/$3" ]
}

@test "graft copies metrics only where the events of the core are" {
	has_metrics linux-mainline sifive/u74 sifive/p650
	has_metrics linux-mainline-next sifive/p550 sifive/u74
}

@test "graft copies a list of events only where the release has none of the core" {
	local events=tools/perf/pmu-events/arch/riscv/sifive/p550
	make_tree linux-mainline
	run -0 "$GRAFT" "$TREE"
	run -0 "$GRAFT" "$TREE"
	[ -e "$TREE/$events/events.json" ]
	[ -f "$TREE/$events/firmware.json" ] && [ ! -L "$TREE/$events/firmware.json" ]
	make_tree linux-mainline-next
	run -0 "$GRAFT" "$TREE"
	[ ! -e "$TREE/$events/events.json" ]
	[ -e "$TREE/$events/memory.json" ]
}

@test "graft applies the nearest series" {
	set_version linux-mainline-next 7 0
	takes_series 7.2
	set_version linux-mainline-next 6 18
	takes_series 7.2
	set_version linux-mainline 6 17
	takes_series 6.12
	# 7.1 and later do not need these.
	grep -q -x 'Until: 7.0' "$TREE"/.riscv-pmu-graft/patches/00{12,46}-*
	make_tree linux-mainline-next
	takes_series 7.2
	run ! grep -q '^Until: ' "$TREE"/.riscv-pmu-graft/patches/*
}

# An earlier patch changes the line that 0022 needs, and 0024 builds upon 0022. 0028 is for other files.
@test "graft leaves out improvements that do not fit and says what is missing" {
	make_tree linux-mainline-next
	sed -i 's/Start the counters that have been configured/Start counters that are configured/' "$TREE/arch/riscv/kvm/vcpu_pmu.c"
	snapshot >"$BEFORE"
	run -0 "$GRAFT" "$TREE"
	says "these patches are left out, because they do not fit this Linux 7.2:" \
		"^kernel/7.2/0022-.*START-and-STOP.*patch: Without this patch, a guest does not learn of some failures" \
		"^kernel/7.2/0024-" "^kernel/7.2/0030-"
	run ! says "^kernel/7.2/002[018]"
	run ! grep -q kvm_pmc_start "$TREE/arch/riscv/kvm/vcpu_pmu.c"
	grep -q handling_guest_irqs "$TREE/arch/riscv/kvm/vcpu.c"
	# A second run says it, too.
	run -0 "$GRAFT" "$TREE"
	says "^kernel/7.2/0022-"
	run -0 "$GRAFT" --reverse "$TREE"
	tree_unchanged
}

@test "graft warns when it replaces a driver that was changed" {
	for name in linux-mainline linux-mainline-next; do
		make_tree $name
		run -0 --separate-stderr "$GRAFT" "$TREE"
		[ -z "$stderr" ]
	done
	make_tree
	echo "/* for a board */" >>"$TREE/drivers/perf/riscv_pmu_sbi.c"
	snapshot >"$BEFORE"
	run -0 "$GRAFT" "$TREE"
	says "riscv_pmu_sbi.c differs from those of the releases"
	run ! says "riscv_pmu.c differs"
	run -0 "$GRAFT" --reverse "$TREE"
	tree_unchanged
}

@test "make graft and ungraft take a folder of any name" {
	local dir="$BATS_TEST_TMPDIR/a \$tree of 'mine'"
	make_tree
	mv "$TREE" "$dir"
	run -0 make -s -C "$TOP" graft KDIR="$dir"
	[ -e "$dir/drivers/perf/riscv/core.c" ]
	# The command that it has printed works as it is.
	eval "run -0 make -s -C '$TOP' ungraft $(sed -n 's/.*make ungraft \(KDIR=.*\) removes them$/\1/p' <<<"$output")"
	mv "$dir" "$TREE"
	tree_unchanged
}

@test "graft refuses a folder that is not a kernel" {
	mkdir "$TREE"
	refuses 1 "not a kernel source tree; give one" "$GRAFT" "$TREE"
	[ -z "$(ls -A "$TREE")" ]
	refuses 1 "not a kernel source tree; give one" "$GRAFT" "$TREE/nowhere"
	refuses 2 "no kernel tree given; usage: make graft KDIR=" "$GRAFT"
	refuses 2 "no kernel tree given" "$GRAFT" ""
	refuses 2 "unknown option --nonsense" "$GRAFT" --nonsense "$TREE"
}

@test "graft refuses an old kernel" {
	set_version linux-mainline 5 12
	refused_unchanged "this is Linux 5.12, and the driver is for 6.12 to"
}

@test "graft names the patch and the hunk that do not apply" {
	spoiled "kernel/common/0001-.*drivers/perf/Kconfig Hunk #1 FAILED" sed -i '/^config RISCV_PMU_SBI/d' drivers/perf/Kconfig
	spoiled "see kernel/README.rst.*drivers/perf/Makefile Hunk #1 FAILED" sed -i '/pmu_legacy/p' drivers/perf/Makefile
	spoiled "0002-.*arch/riscv/kernel/traps.c Hunk #2 FAILED" sed -i '/v_first_use_handler/d' arch/riscv/kernel/traps.c
}

@test "graft refuses missing and conflicting files" {
	spoiled "riscv_pmu_sbi.c is missing" rm drivers/perf/riscv_pmu_sbi.c
	spoiled "exists already and is not from graft" install -D Makefile drivers/perf/riscv/core.c
	spoiled "has its own drivers/perf/riscv_iommu_pmu.c, .*git log -- drivers/perf/riscv_iommu_pmu.c" \
		touch drivers/perf/riscv_iommu_pmu.c
	spoiled "drivers/perf/riscv is not a folder" touch drivers/perf/riscv
	spoiled "by an older version" install -D Makefile .riscv-pmu-graft/manifest
}

@test "graft checks for its tools before it changes anything" {
	local tool
	make_tree
	for tool in cpio patch rsync; do
		refuses 1 "$tool is missing: run make setup" without "$tool" "$GRAFT" "$TREE"
	done
	tree_unchanged
}

@test "graft restores the tree after a failure" {
	make_tree
	echo 'echo "no such luck"; exit 11' | fake rsync
	run -11 env PATH="$BIN:$PATH" "$GRAFT" "$TREE"
	says "no such luck" "failed; restoring the tree"
	run ! says "disk"
	tree_unchanged
}

@test "graft restores the tree and reports a full disk" {
	need_small_disk
	make_tree
	mkdir "$BATS_TEST_TMPDIR/small"
	# shellcheck disable=SC2016
	run -0 on_small_disk 16m "$BATS_TEST_TMPDIR/small" bash -c 'cp -a "$2" "$1/tree"
		! cat /dev/zero >"$1/filler" || exit 99
		! "$3" "$1/tree" || exit 98
		rm "$1/filler" && cp -a "$1/tree" "$2.after"' bash "$BATS_TEST_TMPDIR/small" "$TREE" "$GRAFT"
	says "No space left on device" "failed; restoring the tree; the disk of .*tree is full .*: free some space, then"
	TREE=$TREE.after
	tree_unchanged
}

@test "ungraft keeps the user's changes" {
	make_tree
	refuses 1 "no graft" "$GRAFT" --reverse "$TREE"
	run -0 "$GRAFT" "$TREE"
	echo "/* mine */" >>"$TREE/drivers/perf/riscv/core.c"
	refuses 1 "save them, or use --force (make: FORCE=1): drivers/perf/riscv/core.c" "$GRAFT" --reverse "$TREE"
	refuses 1 "save them, or use --force (make: FORCE=1): drivers/perf/riscv/core.c" "$GRAFT" "$TREE"
	grep mine "$TREE/drivers/perf/riscv/core.c"
	run -0 "$GRAFT" --reverse --force "$TREE"
	tree_unchanged
}

# Unlike a grafted tree, the series has no code for older kernels; it adds an entry in MAINTAINERS and devicetree bindings.
@test "the series applies with git am and gives the grafted tree" {
	local git=(git -C "$TREE" -c user.name=test -c user.email=test@localhost)
	refuses 1 "is not Linux 7.2" "$TOP/scripts/kernel/patches" "$BATS_FILE_TMPDIR/linux-mainline"
	make_tree linux-mainline-next
	run -0 "$TOP/scripts/kernel/patches" "$TREE"
	cp -a "$BUILD/patches" "$BATS_TEST_TMPDIR/patches"
	grep -q '^sample/1 ' "$BUILD/patches/driver/0000-cover-letter.patch"
	# checkpatch wants the lines of a message to have at most 75 characters.
	run -0 awk 'FNR == 1 { body = 0 } !NF { body = 1 } /^---$/ { nextfile } body && length > 75 { print FILENAME, FNR }' \
		"$BUILD"/patches/*/*[1-9]-*.patch "$BUILD"/patches/*/*0-[!c]*.patch
	[ -z "$output" ]
	"${git[@]}" init -q
	"${git[@]}" add -A
	"${git[@]}" commit -q -m base
	find "$BUILD"/patches -name '*.patch' ! -name '0000-*' | sort | xargs "${git[@]}" am -q
	rm -rf "$TREE/.git"
	mv "$TREE" "$BATS_TEST_TMPDIR/patched"
	make_tree linux-mainline-next
	run -0 "$GRAFT" "$TREE"
	run -0 "$TOP/scripts/kernel/patches" "$TREE"
	diff -r "$BATS_TEST_TMPDIR/patches" "$BUILD/patches"
	run diff -rq -x .riscv-pmu-graft "$TREE" "$BATS_TEST_TMPDIR/patched"
	run grep -v -E '^Files .* and .*(drivers/perf/riscv/.*\.[ch]|include/linux/(perf/)?riscv_.*\.h|sysfs-bus-event_source-devices-riscv|MAINTAINERS|extensions.yaml) differ$' <<<"$output"
	[ -z "$output" ]
}

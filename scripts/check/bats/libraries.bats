#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2030,SC2031,SC2154
#
# Tests of what programs include and link: the library for event-based branches as a package
# installs it, the reader of events in C and C++, for 64 and 32 bits, and the description of sysfs; and of
# tools/prometheus/rvpmu-textfile.

. "$BATS_TEST_DIRNAME/common.bash"

GCC=${CROSS_COMPILE}gcc
HEADERS=$TOP/tools/include/perf

setup()
{
	DIR=$BATS_TEST_TMPDIR/lib
	mkdir -p "$DIR/out" "$DIR/usr/bin"
}

# install_library [VARIABLE...]: install it below DIR; pkg-config finds it there.
install_library()
{
	make -s -C "$TOP/tools/ebb" install CROSS_COMPILE="$CROSS_COMPILE" OUTPUT="$DIR/out" DESTDIR="$DIR" "$@"
	export PKG_CONFIG_SYSROOT_DIR=$DIR PKG_CONFIG_LIBDIR
	PKG_CONFIG_LIBDIR=$(dirname "$(find "$DIR" -name riscv_ebb.pc ! -path "$DIR/out/*")")
}

documented_program()
{
	awk '/^A complete program/ { inside = 1; next } inside && /^[^\t]/ { exit } inside { sub(/^\t/, ""); print }' \
		"$TOP/Documentation/arch/riscv/pmu-ebb.rst"
}

# Print a program of each function of the headers that C and C++ accept.
reader_program()
{
	cat <<-EOF
		#include "$HEADERS/riscv_pmu_region.h"
		static struct riscv_pmu_reader reader;
		static struct riscv_pmu_region region = RISCV_PMU_REGION(&reader, 1);
		uint64_t measure(struct perf_event_attr *attr);
		uint64_t measure(struct perf_event_attr *attr)
		{
			struct riscv_pmu_count count;
			uint64_t value = 0;
			if (riscv_pmu_reader_open(&reader, attr, -1))
				return 0;
			riscv_pmu_region_begin(&region);
			riscv_pmu_reader_read(&reader, &count);
			riscv_pmu_region_end(&region);
			riscv_pmu_region_count(&region, 0, &count);
			if (reader.page)
				riscv_pmu_read(reader.page, &value);
			riscv_pmu_reader_close(&reader);
			return riscv_pmu_scale(&count) + value;
		}
	EOF
}

# cxx FLAG...: the C++ compiler that there is; g++ of the host only checks the syntax.
cxx()
{
	if command -v "${CROSS_COMPILE}g++" >/dev/null; then
		"${CROSS_COMPILE}g++" "$@"
	elif command -v clang++ >/dev/null; then
		clang++ --target="${CROSS_COMPILE%-}" -isystem "/usr/${CROSS_COMPILE%-}/include" "$@"
	elif command -v g++ >/dev/null; then
		g++ -D__riscv -D__riscv_xlen=64 -fsyntax-only -isystem "/usr/${CROSS_COMPILE%-}/include" "$@"
	else
		skip "no C++ compiler: install g++-${CROSS_COMPILE%-}"
	fi
}

@test "the shared library exports its functions only, and has a soname" {
	install_library libdir=/usr/lib/here
	run -0 "${CROSS_COMPILE}nm" -D --defined-only "$DIR/usr/lib/here/libriscv_ebb.so"
	[ "$(awk '{ print $3 }' <<<"$output")" = "$(sed -n 's/^[a-z].*[ *]\(ebb_[a-z]*\)(.*;$/\1/p' "$TOP/tools/ebb/ebb.h" |
		grep -v ebb_handler_fn | sort)" ]
	run -0 "${CROSS_COMPILE}readelf" -d "$DIR/usr/lib/here/libriscv_ebb.so"
	says 'SONAME.*\[libriscv_ebb.so.1\]'
	run ! grep -q TEXTREL <<<"$output"
	[ "$(pkg-config --variable=libdir riscv_ebb)" = "$DIR/usr/lib/here" ]
}

# The program of the document, with all installed headers and the shared library.
@test "a program finds the shared library by pkg-config, and runs" {
	local flags
	install_library
	{
		printf '#include <%s>\n' linux/{riscv_ebb,riscv_pmu}.h perf/riscv_pmu_read.h perf/riscv_pmu_region.h
		documented_program
	} >"$DIR/program.c"
	read -r -a flags <<<"$(pkg-config --cflags --libs riscv_ebb)"
	"$GCC" -O2 -Wall -Wextra -Werror -Wno-unused-parameter -o "$DIR/usr/bin/program" "$DIR/program.c" "${flags[@]}"
	run -0 "${CROSS_COMPILE}readelf" -d "$DIR/usr/bin/program"
	says 'NEEDED.*libriscv_ebb.so.1'
	rm -rf "$DIR/out" "$DIR/usr/include"
	run -0 guest --icount --overlay "$DIR" program
	says '^[1-9][0-9]* overflows'
}

@test "the document's program works with the static library" {
	install_library
	documented_program >"$DIR/program.c"
	"$GCC" -O2 -Wall -static -I"$DIR/usr/include" -o "$DIR/usr/bin/program" "$DIR/program.c" -L"$DIR/usr/lib" -lriscv_ebb
	rm -rf "$DIR/out" "$DIR/usr/lib" "$DIR/usr/include"
	run -0 guest --icount --overlay "$DIR" program
	says '^[1-9][0-9]* overflows'
	run -1 guest --cpu base --overlay "$DIR" program
	says "ebb_open: No such file"
}

# Debian hardens its packages by CPPFLAGS.
@test "what is compiled for a package has the preprocessor's flags of the distribution" {
	local tool
	for tool in ebb rvpmu; do
		run -0 make -n -B -C "$TOP/tools/$tool" CROSS_COMPILE="$CROSS_COMPILE" OUTPUT="$DIR/out" CPPFLAGS=-DHARDENED
		says "^$GCC .*-DHARDENED .*\.c"
		run ! grep -v -e -DHARDENED <(grep "^$GCC " <<<"$output")
	done
}

@test "a C++ program can include ebb.h" {
	{
		echo '#include <ebb.h>'
		echo 'static void handle(volatile struct riscv_ebb_page *page, void *) { page->overflowed = page->overflowed; }'
		echo 'int start(struct perf_event_attr *attr);'
		echo 'int start(struct perf_event_attr *attr) { return ebb_open(attr, -1) < 0 ? -1 : ebb_handler(handle, nullptr); }'
	} >"$DIR/program.cc"
	run -0 cxx -std=c++17 -Wall -Wextra -Werror -I"$TOP/tools/ebb" -I"$TOP/include/uapi" -c -o "$DIR/out/program.o" "$DIR/program.cc"
	# Without extern "C", the linker would look for mangled names.
	[ ! -s "$DIR/out/program.o" ] || {
		run -0 "${CROSS_COMPILE}nm" -u "$DIR/out/program.o"
		says ' U ebb_open$'
	}
}

# The warnings that pedantic programs ask for.
PEDANTIC=(-O2 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror)

@test "C and C++ programs and shared objects can include the reader" {
	local standard
	reader_program >"$DIR/program.c"
	"$GCC" -std=gnu99 "${PEDANTIC[@]}" -c -o "$DIR/out/c.o" "$DIR/program.c"
	"$GCC" -std=gnu11 "${PEDANTIC[@]}" -fPIC -shared -Wl,-z,defs -o "$DIR/out/c.so" "$DIR/program.c"
	for standard in c++11 c++17 c++20; do
		run -0 cxx -x c++ "-std=$standard" "${PEDANTIC[@]}" -c -o "$DIR/out/cc.o" "$DIR/program.c"
	done
}

# With these standards, the C library declares what ISO C has, and no more.
@test "the reader names the option that it needs with -std=c99 and -std=c11" {
	local standard
	reader_program >"$DIR/program.c"
	for standard in c99 c11; do
		run ! "$GCC" "-std=$standard" -c -o "$DIR/out/c.o" "$DIR/program.c"
		says 'error: #error .*compile with -std=gnu11 or -D_DEFAULT_SOURCE'
		"$GCC" "-std=$standard" -D_DEFAULT_SOURCE -O2 -Wall -Wextra -Werror -c -o "$DIR/out/c.o" "$DIR/program.c"
	done
}

# A function that runs on may have been given to another thread (swapcontext(3)).
@test "the reader reads the thread pointer each time" {
	reader_program >"$DIR/program.c"
	cat >>"$DIR/program.c" <<-EOF
		void yield(void);
		uintptr_t yields(void);
		uintptr_t yields(void)
		{
			uintptr_t before = riscv_pmu_thread();
			yield();
			return before ^ riscv_pmu_thread();
		}
	EOF
	"$GCC" -O2 -Wall -Wextra -Werror -S -o "$DIR/out/c.s" "$DIR/program.c"
	run -0 awk '/^yields:/ { inside = 1 } inside && /,[ \t]*tp$/ { n++ } inside && /\.size/ { print n; exit }' "$DIR/out/c.s"
	[ "$output" = 2 ]
}

# On this core, the fixed counter of instructions has no interrupt (EOPNOTSUPP), and no other counter can
# hold the event (EINVAL).
@test "ebb_open() names the reason of the counter that can hold the event" {
	cat >"$DIR/program.c" <<-EOF
		#include <ebb.h>
		#include <stdio.h>
		int main(void)
		{
			struct perf_event_attr attr = { .size = sizeof(attr), .config = PERF_COUNT_HW_INSTRUCTIONS };
			ebb_open(&attr, -1);
			perror("ebb_open");
		}
	EOF
	"$GCC" -O2 -Wall -static -I"$TOP/tools/ebb" -I"$TOP/include/uapi" -o "$DIR/usr/bin/program" "$DIR/program.c" \
		"$TOP/tools/ebb/ebb.c" "$TOP/tools/ebb/entry.S"
	run -0 guest --icount --core p550 --overlay "$DIR" program
	says 'ebb_open: Operation not supported'
}

# Debian has no C library for riscv32: its headers are those of riscv64 with two empty files.
@test "the reader and the library compile for RV32 and for soft float" {
	local target
	mkdir -p "$DIR/include/gnu"
	touch "$DIR"/include/gnu/stubs-{ilp32,ilp32d,lp64}.h
	reader_program >"$DIR/program.c"
	for target in "rv32imac_zicsr ilp32" "rv32gc ilp32d" "rv64imac_zicsr lp64" "rv64gc lp64d"; do
		read -r -a target <<<"$target"
		# shellcheck disable=SC2054
		target=("-march=${target[0]}" "-mabi=${target[1]}" -I "$DIR/include" -I "$TOP/include/uapi")
		"$GCC" "${target[@]}" -O2 -Wall -Wextra -Werror -c -o "$DIR/out/reader.o" "$DIR/program.c"
		"$GCC" "${target[@]}" -O2 -Wall -Wextra -Werror -c -o "$DIR/out/entry.o" "$TOP/tools/ebb/entry.S"
		"$GCC" "${target[@]}" -O2 -Wall -Wextra -Wno-unused-parameter -Werror -c -o "$DIR/out/ebb.o" "$TOP/tools/ebb/ebb.c"
	done
}

@test "what programs include and link has licences that allow that" {
	local file
	for file in "$HEADERS"/*.h "$TOP"/tools/ebb/*.[chS]; do
		run -0 grep -c -F 'SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause' "$file"
	done
	for file in "$TOP"/include/uapi/linux/riscv_{ebb,pmu}.h; do
		grep -q -F 'GPL-2.0 WITH Linux-syscall-note' "$file"
	done
	for file in "$HEADERS/LICENSE" "$TOP/tools/ebb/LICENSE"; do
		grep -q -F 'LGPL-2.1 OR BSD-2-Clause' "$file"
	done
}

@test "debian/copyright has the licence of each file that names one" {
	cd "$TOP"
	git -c safe.directory="$TOP" grep -m 1 -o -E 'SPDX-License-Identifier: [^*>}]*[[:alnum:])]' >"$DIR/out/licences"
	run -0 python3 - "$DIR/out/licences" packaging/debian/copyright <<-'END'
		import fnmatch, re, sys
		paragraphs = [dict(re.findall(r"^(Files|License):((?:.|\n )*)", text, re.M)) for text in open(sys.argv[2]).read().split("\n\n")]
		for line in open(sys.argv[1]):
		    path, licence = re.match("(.*):SPDX-License-Identifier: (.*)", line).groups()
		    # The last paragraph that has the file counts.
		    said = [paragraph["License"] for paragraph in paragraphs if "Files" in paragraph and
		            any(fnmatch.fnmatchcase(path, pattern) for pattern in paragraph["Files"].split())][-1].strip()
		    spdx = re.sub("[()]|-only", "", licence).lower().replace("gpl-2.0", "gpl-2")
		    if said.lower().removesuffix(" exception") != spdx:
		        print(path, licence, "is", said)
	END
	[ -z "$output" ]
}

@test "each sysfs file is described with a date and a version" {
	local file=$TOP/Documentation/ABI/testing/sysfs-bus-event_source-devices-riscv tag
	for tag in Date KernelVersion Contact Description; do
		[ "$(grep -c "^$tag:" "$file")" = "$(grep -c '^What:' "$file")" ]
	done
}

@test "rvpmu-textfile writes only to a folder of its user" {
	local folder=$BATS_TEST_TMPDIR/node-exporter
	[ "$(id -u)" = 0 ] || skip "only root can give a folder to another user"
	fake rvpmu <<<'echo rvpmu_finding 1; exit 1'
	export PATH=$BIN:$PATH RUNTIME_DIRECTORY=$BATS_TEST_TMPDIR
	mkdir "$folder"
	run -0 "$TOP/tools/prometheus/rvpmu-textfile" "$folder"
	[ "$(cat "$folder/rvpmu.prom")" = "rvpmu_finding 1" ]
	# The exporter's user owns the folder above, and can put another one in the place of this.
	echo precious >"$BATS_TEST_TMPDIR/shadow"
	ln -s ../shadow "$folder/rvpmu.new"
	chown nobody "$folder"
	refuses 1 "node-exporter belongs to another user" "$TOP/tools/prometheus/rvpmu-textfile" "$folder"
	[ "$(cat "$BATS_TEST_TMPDIR/shadow")" = precious ]
}

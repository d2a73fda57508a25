#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154
#
# Tests of scripts/check/layers: would it notice a call to a higher layer?

. "$BATS_TEST_DIRNAME/common.bash"

# object NAME CODE: compile it as the driver's NAME.o.
object()
{
	echo "$2" | "${CROSS_COMPILE}gcc" -c -x c -o "$BATS_TEST_TMPDIR/$1.o" -
}

layers()
{
	run "$TOP/scripts/check/layers" "$BATS_TEST_TMPDIR"
}

setup()
{
	object core 'void apply(void); void core_add(void) { apply(); }'
	object apply 'void sched(void); void apply(void) { sched(); }'
	object sched 'void sched(void) { }'
}

@test "calls to lower layers are allowed" {
	layers
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "a call to a higher layer is found" {
	object apply 'void core_add(void); void apply(void) { core_add(); }'
	layers
	says 'apply.o calls core_add() of core.o, which is above it'
}

@test "a circle within a layer is found" {
	object sched 'void apply(void); void sched(void) { apply(); }'
	layers
	says 'sched.o calls apply() of apply.o, which is above it'
}

@test "a file without a layer is found" {
	object other 'int other;'
	layers
	says 'other.o: this file is not in the list'
}

@test "a folder without object files is an error" {
	rm "$BATS_TEST_TMPDIR"/*.o
	refuses 1 'has no object files' "$TOP/scripts/check/layers" "$BATS_TEST_TMPDIR"
}

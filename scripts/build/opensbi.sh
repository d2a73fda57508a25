# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Functions to unpack, patch and compile OpenSBI. $BUILD/dl has the tarballs opensbi, the release
# that opensbi/patches is for, and opensbi-old, as many boards have it (scripts/build/fetch).

# Our own source files, which are copied into OpenSBI's tree, are beside the patches.
OPENSBI_FILES=$TOP/opensbi
OPENSBI_PATCHES=("$TOP"/opensbi/patches/*.patch)
# The options that the patches add, which are off by default.
OPENSBI_FULL=$'CONFIG_SBI_PMU_SNAPSHOT=y\nCONFIG_SBI_PMU_BATCH_MAP_EVENTS=y'

# opensbi_extract SOURCE DIR
opensbi_extract()
{
	mkdir -p "$2"
	tar -xf "$BUILD/dl/$1.tar.gz" -C "$2" --strip-components=1 --no-same-owner
}

# opensbi_copy DIR: one of our files is a link to the kernel's header, which is shared.
opensbi_copy()
{
	cp -RL "$OPENSBI_FILES/include" "$OPENSBI_FILES/lib" "$1"
}

# opensbi_git_tree DIR: OpenSBI as released, as the commit with the tag "base". Links to our files are
# there, too, but not in git.
opensbi_git_tree()
{
	local git=(git -C "$1")
	"$TOP/scripts/build/fetch" opensbi || exit
	opensbi_extract opensbi "$1"
	"${git[@]}" -c core.autocrlf=false init -q
	"${git[@]}" config user.name "riscv-pmu developers"
	"${git[@]}" config user.email riscv-pmu@example.org
	"${git[@]}" config commit.gpgsign false
	"${git[@]}" config am.threeWay false
	"${git[@]}" add -A -f
	"${git[@]}" commit -q -m "OpenSBI $OPENSBI_SERIES as released"
	"${git[@]}" tag base
	cp -Rs "$OPENSBI_FILES/include" "$OPENSBI_FILES/lib" "$1"
	"${git[@]}" ls-files -o | sed 's:^:/:' >"$1/.git/info/exclude"
}

# opensbi_compile TREE OBJ [XLEN [CONFIG]]: CONFIG has lines for OpenSBI's defconfig. OpenSBI
# reads a defconfig from its own folder only, and resolves O= before it creates that folder.
opensbi_compile()
{
	local configs=$1/platform/generic/configs
	{ cat "$configs/defconfig"; echo "${4:-}"; } >"$configs/riscv_pmu_defconfig"
	mkdir -p "$2"
	make -C "$1" O="$2" PLATFORM=generic PLATFORM_DEFCONFIG=riscv_pmu_defconfig \
		PLATFORM_RISCV_XLEN="${3:-64}" CROSS_COMPILE="$CROSS_COMPILE" CC="$RISCV_CC" \
		FW_PIC=y -j"$JOBS"
}

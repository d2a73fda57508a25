# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Functions to find and compile the sources of OpenSBI. The sources "opensbi" and the
# newer "opensbi-next" are downloaded; "opensbi-src" is the tarball or folder that
# OPENSBI_SRC names.

OPENSBI_PATCHES=$TOP/opensbi/patches

# The series of OPENSBI_SRC, "1.9" for example.
opensbi_src_series()
{
	local series header=include/sbi/sbi_version.h
	[ -n "${OPENSBI_SRC:-}" ] || die "set OPENSBI_SRC to the source of an OpenSBI: a tarball or a folder"
	[ -e "$OPENSBI_SRC" ] || die "OPENSBI_SRC: $OPENSBI_SRC does not exist"
	series=$({ cat "$OPENSBI_SRC/$header" || tar -xOf "$OPENSBI_SRC" --wildcards "*/$header"; } 2>/dev/null |
		awk '/define OPENSBI_VERSION_MAJOR/ { major = $3 } /define OPENSBI_VERSION_MINOR/ { print major "." $3 }') || true
	[ -n "$series" ] || die "OPENSBI_SRC: $OPENSBI_SRC is not a source tree or tarball of OpenSBI"
	printf '%s' "$series"
}

# opensbi_use SOURCE: get it, or end with an error that says what to do. Sets SERIES to its series,
# and OPENSBI to its tarball or folder.
opensbi_use()
{
	OPENSBI=$BUILD/dl/$1.tar.gz
	case $1 in
	opensbi) SERIES=$OPENSBI_SERIES ;;
	opensbi-next) SERIES=$OPENSBI_NEXT_SERIES ;;
	opensbi-src)
		SERIES=$(opensbi_src_series) || exit
		OPENSBI=$OPENSBI_SRC
		return
		;;
	esac
	"$TOP/rig/build/fetch" "$1" || exit
}

# Print the name of the source of SERIES.
opensbi_of_series()
{
	case $1 in
	"$OPENSBI_SERIES") echo opensbi ;;
	"$OPENSBI_NEXT_SERIES") echo opensbi-next ;;
	*) echo opensbi-src ;;
	esac
}

# Print an identifier that changes when the source changes.
opensbi_identity()
{
	readlink -f "$OPENSBI"
	find -L "$OPENSBI" -name .git -prune -o -type f -printf '%P %s %T@\n' | sort | sha256sum
}

# opensbi_extract DIR
opensbi_extract()
{
	mkdir -p "$1"
	if [ -d "$OPENSBI" ]; then
		tar -c -C "$OPENSBI" --exclude-vcs --exclude=./build . | tar -x -C "$1"
	else
		tar -xf "$OPENSBI" -C "$1" --strip-components=1 --no-same-owner
	fi
}

# opensbi_git_tree SERIES DIR: OpenSBI as released, as the commit with the tag "base".
opensbi_git_tree()
{
	local git=(git -C "$2")
	opensbi_use "$(opensbi_of_series "$1")"
	[ "$SERIES" = "$1" ] || die "OPENSBI_SRC is OpenSBI $SERIES: set it to the source of OpenSBI $1"
	opensbi_extract "$2"
	"${git[@]}" -c core.autocrlf=false init -q
	"${git[@]}" config user.name "riscv-pmu developers"
	"${git[@]}" config user.email riscv-pmu@example.org
	"${git[@]}" config commit.gpgsign false
	"${git[@]}" config am.threeWay false
	"${git[@]}" add -A -f
	"${git[@]}" commit -q -m "OpenSBI $1 as released"
	"${git[@]}" tag base
}

# opensbi_compile TREE OBJ [XLEN [CONFIG]]: CONFIG is a line for OpenSBI's defconfig. OpenSBI
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

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Sources of OpenSBI: "opensbi" and the newer "opensbi-next" are downloaded; "opensbi-src"
# is the tarball or folder that OPENSBI_SRC names.

OPENSBI_PATCHES=$TOP/opensbi/patches

opensbi_src_version_header()
{
	if [ -d "$OPENSBI_SRC" ]; then
		cat "$OPENSBI_SRC/include/sbi/sbi_version.h"
	else
		tar -xOf "$OPENSBI_SRC" --wildcards '*/include/sbi/sbi_version.h'
	fi
}

# The series of OPENSBI_SRC, "1.9" for example.
opensbi_src_series()
{
	local series
	[ -n "${OPENSBI_SRC:-}" ] || die "set OPENSBI_SRC to the source of an OpenSBI: a tarball or a folder"
	[ -e "$OPENSBI_SRC" ] || die "OPENSBI_SRC: $OPENSBI_SRC is not there"
	series=$(opensbi_src_version_header 2>/dev/null |
		awk '/define OPENSBI_VERSION_MAJOR/ { major = $3 } /define OPENSBI_VERSION_MINOR/ { print major "." $3 }') || true
	[ -n "$series" ] || die "OPENSBI_SRC: $OPENSBI_SRC is no source of OpenSBI"
	printf '%s' "$series"
}

opensbi_series()
{
	case $1 in
	opensbi) printf '%s' "$OPENSBI_SERIES" ;;
	opensbi-next) printf '%s' "$OPENSBI_NEXT_SERIES" ;;
	opensbi-src) opensbi_src_series ;;
	esac
}

# The source that has SERIES.
opensbi_of_series()
{
	case $1 in
	"$OPENSBI_SERIES") echo opensbi ;;
	"$OPENSBI_NEXT_SERIES") echo opensbi-next ;;
	*) echo opensbi-src ;;
	esac
}

# Changes whenever the source does.
opensbi_identity()
{
	case $1 in
	opensbi-src)
		readlink -f "$OPENSBI_SRC"
		find -L "$OPENSBI_SRC" -name .git -prune -o -type f -printf '%P %s %T@\n' | sort | sha256sum
		;;
	*) readlink -f "$BUILD/dl/$1.tar.gz" ;;
	esac
}

# opensbi_extract SOURCE DIR
opensbi_extract()
{
	if [ "$1" = opensbi-src ] && [ -d "$OPENSBI_SRC" ]; then
		tar -c -C "$OPENSBI_SRC" --exclude-vcs --exclude=./build . | tar -x -C "$2"
	elif [ "$1" = opensbi-src ]; then
		tar -xf "$OPENSBI_SRC" -C "$2" --strip-components=1 --no-same-owner
	else
		tar -xzf "$BUILD/dl/$1.tar.gz" -C "$2" --strip-components=1 --no-same-owner
	fi
}

# opensbi_fetch SOURCE: make it available, or end with an error that says how.
opensbi_fetch()
{
	if [ "$1" = opensbi-src ]; then
		opensbi_src_series >/dev/null
	else
		"$TOP/rig/build/fetch" "$1"
	fi
}

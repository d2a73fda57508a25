# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of rvpmu(1).

# Omits names with special characters, because compgen -W expands its words.
_rvpmu_names()
{
	local name
	for name in "$@"; do
		name=${name##*/}
		[[ $name != *[!A-Za-z0-9_.-]* ]] && echo "$name"
	done
}

# Those of all PMUs, and PMU/EVENT/ if there are several PMUs of harts.
_rvpmu_events()
{
	local devices=$1 pmu name
	_rvpmu_names "$devices"/*/events/*
	[ -e "$devices/cpu_type1" ] || return 0
	for pmu in "$devices"/cpu*; do
		for name in $(_rvpmu_names "$pmu"/events/*); do
			echo "${pmu##*/}/$name/"
		done
	done
}

_rvpmu_groups()
{
	rvpmu groups 2>/dev/null | sed -n 's/^\([a-z0-9_][a-z0-9_/]*\) .*/\1/p'
}

_rvpmu()
{
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
	local devices=/sys/bus/event_source/devices index=1
	if [ "$command" = --json ] || [ "$command" = -j ]; then
		command=${COMP_WORDS[2]}
		index=2
	fi
	if [ "$COMP_CWORD" -le "$index" ]; then
		mapfile -t COMPREPLY < <(compgen -W "--json --help --version list caps doctor test man groups stat exclusive" -- "$word")
		return
	fi
	case $command in
	list)
		mapfile -t COMPREPLY < <(compgen -W "$(_rvpmu_names "$devices"/*)" -- "$word")
		;;
	man)
		mapfile -t COMPREPLY < <(compgen -W "$(_rvpmu_events "$devices")" -- "$word")
		;;
	groups)
		mapfile -t COMPREPLY < <(compgen -W "$(_rvpmu_groups)" -- "$word")
		;;
	stat)
		case ${COMP_WORDS[COMP_CWORD - 1]} in
		-g | --group) mapfile -t COMPREPLY < <(compgen -W "$(_rvpmu_groups)" -- "$word") ;;
		-o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
		*)
			mapfile -t COMPREPLY < <(compgen -c -W "--group --interval-print --csv --field-separator \
				--output --all-cpus --pid --cpu --json --help" -- "$word")
			;;
		esac
		;;
	doctor)
		mapfile -t COMPREPLY < <(compgen -W "--dts --core --json --help" -- "$word")
		;;
	exclusive)
		mapfile -t COMPREPLY < <(compgen -c -W "--quiet --output" -- "$word")
		;;
	esac
}
complete -F _rvpmu rvpmu

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

# The events of rvpmu list, also as PMU/EVENT/. Those in sysfs are not always all.
_rvpmu_events()
{
	rvpmu list 2>/dev/null | sed -n -E '
		/^[A-Za-z0-9_.-]+ \(type/ { s/ .*//; h; }
		/^  [A-Za-z0-9_.-]+ +config=/ { s/^ +([^ ]+).*/\1/p; G; s,(.*)\n(.*),\2/\1/,p; }'
}

_rvpmu_groups()
{
	rvpmu groups 2>/dev/null | sed -n 's/^\([a-z0-9_][a-z0-9_/]*\) .*/\1/p'
}

_rvpmu_cores()
{
	rvpmu doctor --dts --core none 2>&1 | sed -n 's/,//g; s/.*use one of //p'
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
		mapfile -t COMPREPLY < <(compgen -W "cycles branches page-faults context-switches $(_rvpmu_events) $(_rvpmu_groups)" -- "$word")
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
		case ${COMP_WORDS[COMP_CWORD - 1]} in
		--core) mapfile -t COMPREPLY < <(compgen -W "$(_rvpmu_cores)" -- "$word") ;;
		*) mapfile -t COMPREPLY < <(compgen -W "--dts --core --prometheus --json --help" -- "$word") ;;
		esac
		;;
	exclusive)
		mapfile -t COMPREPLY < <(compgen -c -W "--quiet --output" -- "$word")
		;;
	esac
}
complete -F _rvpmu rvpmu

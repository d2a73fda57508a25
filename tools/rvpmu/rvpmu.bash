# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of rvpmu(1).

_rvpmu()
{
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
	local devices=/sys/bus/event_source/devices index=1
	if [ "$command" = --json ]; then
		command=${COMP_WORDS[2]}
		index=2
	fi
	if [ "$COMP_CWORD" -le "$index" ]; then
		mapfile -t COMPREPLY < <(compgen -W "--json list caps doctor test man exclusive" -- "$word")
		return
	fi
	case $command in
	list)
		mapfile -t COMPREPLY < <(compgen -W "$(cd "$devices" 2>/dev/null && echo *)" -- "$word")
		;;
	man)
		mapfile -t COMPREPLY < <(compgen -W "$(cd "$devices" 2>/dev/null && printf '%s\n' */events/* | sed 's#.*/##')" -- "$word")
		;;
	exclusive)
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
		;;
	esac
}
complete -F _rvpmu rvpmu

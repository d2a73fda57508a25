# SPDX-License-Identifier: GPL-2.0
# perf's metrics.json, one field a line, as the C table that rvpmu man shows.

function value(   s) {
	s = $0
	sub(/^[^:]*: *"/, "", s)
	sub(/",? *$/, "", s)
	# A "-" of a name, as perf's expressions have it.
	gsub(/\\\\-/, "-", s)
	return s
}

BEGIN { print "#include \"rvpmu.h\"\nconst struct metric metrics[] = {" }
/"MetricName":/ { name = value() }
/"MetricExpr":/ { expr = value() }
/"BriefDescription":/ { text = value() }
/^ *}/ { printf "\t{ \"%s\", \"%s\", \"%s\" },\n", name, expr, text; nr++ }
END { printf "};\nconst unsigned int nr_metrics = %d;\n", nr }

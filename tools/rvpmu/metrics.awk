# SPDX-License-Identifier: GPL-2.0
# Converts perf's metrics.json, one field per line, to the C table for rvpmu man.

function value(   s) {
	s = $0
	sub(/^[^:]*: *"/, "", s)
	sub(/",? *$/, "", s)
	# perf's expressions escape a "-" in a name.
	gsub(/\\\\-/, "-", s)
	return s
}

BEGIN { print "#include \"rvpmu.h\"\nconst struct metric metrics[] = {" }
/"MetricName":/ { name = value() }
/"MetricExpr":/ { expr = value() }
/"BriefDescription":/ { text = value() }
/^ *}/ { printf "\t{ \"%s\", \"%s\", \"%s\" },\n", name, expr, text; nr++ }
END { printf "};\nconst unsigned int nr_metrics = %d;\n", nr }

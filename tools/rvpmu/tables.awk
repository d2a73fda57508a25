# SPDX-License-Identifier: GPL-2.0
# Converts perf's tables for RISC-V to C tables: metrics, events of cores, and the map of cores.
#
# The arguments are FOLDER/riscv-metrics.json, FOLDER/mapfile.csv and FOLDER/CORE/*.json, where
# FOLDER ends with "arch/riscv". Each line of a JSON file has at most one field. If several FOLDERs
# have a metric, an event or a row of the map, the first one is used.

function value(   s) {
	s = $0
	sub(/^[^:]*: *"/, "", s)
	sub(/",?[ \t\r]*$/, "", s)
	return s
}

# The names in an expression of perf, which escapes a "-" in a name; "1e3" is not a name.
function names_of(expr,   i, n, word, list, seen) {
	gsub(/\\\\-/, "\001", expr)
	n = split(expr, word, /[^A-Za-z0-9_.\001]+/)
	for (i = 1; i <= n; i++) {
		if (word[i] !~ /^[A-Za-z_]/ || word[i] in seen)
			continue
		seen[word[i]] = 1
		gsub(/\001/, "-", word[i])
		list = list (list ? "," : "") word[i]
	}
	return list
}

function is_new(kind, name) {
	return !((kind, core, tolower(name)) in known) && known[kind, core, tolower(name)] = 1
}

# A field of the metric, or that of the metric for all cores.
function field_of(name, key) {
	return key in field ? field[key] : common[name, key]
}

function add_metric(name,   expr, plain) {
	expr = plain = field_of(name, "MetricExpr")
	gsub(/\\\\-/, "-", plain)
	metrics = metrics sprintf("\t{ \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\" },\n", core, name, plain,
				  names_of(expr), field_of(name, "BriefDescription"), field_of(name, "MetricGroup"))
	nr_metrics++
}

function add_entry(   name, key) {
	name = "MetricName" in field ? field["MetricName"] : field["ArchStdEvent"]
	if (core == "" && "MetricName" in field && !(name in is_common)) {
		is_common[name] = 1
		for (key in field)
			common[name, key] = field[key]
	}
	if (("MetricName" in field || name in is_common) && is_new("metric", name))
		add_metric(name)
	if (core != "" && "EventCode" in field && is_new("event", field["EventName"])) {
		events = events sprintf("\t{ \"%s\", \"%s\", %s, \"%s\" },\n", core, tolower(field["EventName"]),
					field["EventCode"], field["BriefDescription"])
		nr_events++
	}
}

FNR == 1 {
	core = FILENAME
	sub(/.*arch\/riscv\//, "", core)
	sub(/\/?[^\/]*$/, "", core)
	split("", field)
}

# The last row, which matches all IDs, is omitted: it would hide the rows of the next map.
FILENAME ~ /mapfile\.csv$/ {
	split($0, column, ",")
	if (column[4] == "core" && $0 !~ /^(#|0x\[)/ && is_new("row", column[1])) {
		rows = rows sprintf("\t{ \"%s\", \"%s\" },\n", column[1], column[3])
		nr_rows++
	}
	next
}

/^[ \t]*"[A-Za-z]+" *:/ {
	key = $0
	sub(/^[ \t]*"/, "", key)
	sub(/".*/, "", key)
	field[key] = value()
}

/^[ \t]*}/ {
	add_entry()
	split("", field)
}

END {
	printf "#include \"rvpmu.h\"\n\n"
	printf "const struct metric metrics[] = {\n%s};\n\nconst unsigned int nr_metrics = %d;\n\n", metrics, nr_metrics
	printf "const struct vendor_event vendor_events[] = {\n%s};\n\nconst unsigned int nr_vendor_events = %d;\n\n",
	       events, nr_events
	printf "const struct core_row core_rows[] = {\n%s};\n\nconst unsigned int nr_core_rows = %d;\n", rows, nr_rows
}

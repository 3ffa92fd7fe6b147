"""The results as a table for a terminal, as Markdown, as JSON."""
import statistics

from machine import megabytes
from rows import FULL

NOTES = """Ratios are of medians. Seconds are those of the wall clock: of the whole process, but of DuckDB and ijson
without Python's start, and of raw SQLite only begin, bind, step and commit. Processor time and peak memory are those of
the whole process. What every row is, and how to repeat it: [README.md](README.md)."""


def table_rows(rows, results, runs):
    """The table of goals, a tuple of texts for each row."""
    lines = [("what", "measured", "goal", "stretch", "", "from")]
    for row in rows:
        value = row.value(results, runs)
        lines.append((row.title, row.text(value), row.mark(row.goal), row.mark(row.stretch),
                      row.verdict(results, runs), row.note(results, runs)))
    return lines


def run_rows(results, runs):
    """The table of runs, a tuple of texts for each run that was made."""
    lines = [("run", "seconds", "least to most", "processor", "peak memory", "result")]
    for name, run in runs.items():
        found = results.measurements.get(name, [])
        if name in results.skipped:
            lines.append((run.title, "–", "–", "–", "–", f"skipped: {results.skipped[name]}"))
        elif name in results.failures:
            lines.append((run.title, "–", "–", "–", "–", results.failures[name]))
        elif found:
            seconds = [measurement.seconds for measurement in found]
            lines.append((
                run.title, f"{statistics.median(seconds):.2f}", f"{min(seconds):.2f} to {max(seconds):.2f}",
                f"{results.median(name, 'processor'):.2f} s",
                f"{max(measurement.memory for measurement in found) / 1e6:,.0f} MB",
                f"right, {len(found)} of {len(found)}"))
    return lines


def columns(lines):
    """Lines with their columns under each other; figures are on the right."""
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    result = []
    for line in lines:
        cells = [text.rjust(width) if 1 <= at <= 3 else text.ljust(width)
                 for at, (text, width) in enumerate(zip(line, widths))]
        result.append("  ".join(cells).rstrip())
    return "\n".join(result)


def heading(options, runs):
    data = next(iter(runs.values())).data if runs else None
    sizes = {run.data.records: run.data.size() for run in runs.values()}
    text = "Records: " + ", ".join(f"{records:,} ({megabytes(size)})" for records, size in sorted(sizes.items()))
    text += f"; seed {data.seed}; rounds: {options.runs}"
    if options.records != FULL:
        text += f"\nThis is a trial: the goals are for {FULL:,} records."
    return text


def plain(rows, results, runs, options, description):
    lines = [f"{name + ':':<10} {text}" for name, text in description] + [heading(options, runs), ""]
    lines += [columns(table_rows(rows, results, runs)), "", columns(run_rows(results, runs))]
    return "\n".join(lines)


def _markdown_table(lines, right):
    def line(cells):
        return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in cells) + " |"
    rule = "|" + "|".join("---:" if at in right else "---" for at in range(len(lines[0]))) + "|"
    return "\n".join([line(lines[0]), rule] + [line(cells) for cells in lines[1:]])


def markdown(rows, results, runs, options, description, date):
    parts = ["# Results", "Written by `scripts/bench-peers --write`; not edited by hand.",
             "![Each row as a share of its goal](results.svg)",
             _markdown_table(table_rows(rows, results, runs), (1, 2, 3)),
             NOTES,
             "## Runs", heading(options, runs),
             _markdown_table(run_rows(results, runs), (1, 2, 3, 4)),
             "## Machine",
             _markdown_table([("", "")] + [("date", date)] + description, ())]
    return "\n\n".join(parts) + "\n"


def as_object(rows, results, runs, options, description, date):
    return {
        "date": date,
        "machine": dict(description),
        "records": options.records,
        "rounds": options.runs,
        "seed": options.seed,
        "rows": [{
            "name": row.name, "what": row.title, "value": row.value(results, runs), "unit": row.unit.strip(),
            "goal": row.goal, "stretch": row.stretch, "more_is_better": row.is_peer_over,
            "verdict": row.verdict(results, runs), "from": row.note(results, runs),
        } for row in rows],
        "runs": [{
            "name": name, "what": run.title, "records": run.data.records, "bytes": run.data.size(),
            "failure": results.failures.get(name),
            "skipped": results.skipped.get(name),
            "seconds": [round(measurement.seconds, 4) for measurement in found],
            "processor_seconds": [round(measurement.processor, 4) for measurement in found],
            "peak_bytes": [measurement.memory for measurement in found],
        } for name, run in runs.items() for found in [results.measurements.get(name, [])]],
    }

//! Characteristics of a trace as text for a terminal.

use std::fmt::Write;

use units::{Bytes, Nanos, count, grouped, percent, significant};

use super::answer::answer;
use super::job::job_facts;
use super::{TraceTable, advice, figures, requests, severity, statement, tables, warnings, window_words};
use crate::answer::AnswerText;
use crate::civil;
use crate::escape::{markdown as escaped, terminal};
use crate::sheet::{Sheet, SheetStyle, Tone};
use crate::text::tone_of;
use trace::{TraceCopy, TraceStudy};

/// Least number of requests of which estimates of whole distributions are shown.
const REQUESTS_MIN: u64 = 1_000;
/// Column in which values begin.
const INDENT: usize = 15;

/// Returns the text: kind of load, warnings, figures, findings.
pub(crate) fn text(report: &TraceStudy, style: SheetStyle) -> String {
    let mut page = TraceText { sheet: Sheet::new(style.readable(), INDENT) };
    answer(report).write(&mut page.sheet);
    if !style.details {
        tables(report).iter().take(1).for_each(|table| page.table(table));
        let job = job_facts(report);
        if !job.is_empty() {
            page.sheet.gap();
        }
        job.iter().for_each(|(label, value)| page.sheet.field(label, value));
        report.copies.iter().for_each(|copy| page.copy(copy));
        page.sheet.gap();
        let findings = units::counted(report.findings.len() as u64, "finding");
        page.sheet.aside(0, &format!("{findings}, arrivals, latencies, working set, processes: --details"));
        return page.sheet.finish();
    }
    let warnings = warnings(report);
    if !warnings.is_empty() {
        page.sheet.gap();
    }
    for warning in warnings {
        let tone = if warning.is_incomplete { Tone::Bad } else { Tone::Odd };
        page.sheet.led(
            2,
            if warning.is_incomplete { "incomplete" } else { "warning" },
            tone,
            &format!(": {}", warning.text),
        );
    }
    page.sheet.gap();
    for (label, value) in facts(report) {
        page.sheet.field(label, &value);
    }
    tables(report).iter().for_each(|table| page.table(table));
    page.findings(report);
    report.copies.iter().for_each(|copy| page.copy(copy));
    page.sheet.finish()
}

/// Returns single facts as labels and values.
pub(crate) fn facts(report: &TraceStudy) -> Vec<(&'static str, String)> {
    let mut facts = vec![("source", source(report))];
    facts.extend(flags(report).map(|text| ("flags", text)));
    let arrivals = &report.profile.arrivals;
    if let Some(hurst) = arrivals.hurst.as_ref().filter(|_| has_many(report)) {
        let scales =
            format!("from {} to {}", Nanos::new(hurst.scale_ns_min as u64), Nanos::new(hurst.scale_ns_max as u64));
        let fits = if hurst.residual <= 1.5 { "" } else { "; the counts do not scale" };
        let (exponent, error) = (significant(hurst.exponent, 2), significant(hurst.standard_error, 1));
        facts.push(("Hurst", format!("{exponent} +- {error} {scales}{fits}")));
    }
    if let Some(bursts) = &arrivals.bursts {
        let every = bursts.interval_ns.map_or_else(String::new, |ns| format!(", one every {}", Nanos::new(ns.p50)));
        facts.push((
            "bursts",
            format!(
                "{} of {}{every} (medians): {} of the requests in {} of the time, {} writes",
                grouped(bursts.bursts),
                Nanos::new(bursts.duration_ns.p50),
                percent(bursts.requests_fraction),
                percent(bursts.time_fraction),
                percent(bursts.writes_fraction)
            ),
        ));
    }
    facts.extend(depth(report).map(|text| ("in flight", text)));
    facts.extend(issues(report).map(|text| ("loop", text)));
    facts.extend(runs(report).map(|text| ("runs", text)));
    facts.extend(hot(report).filter(|_| has_many(report)).map(|text| ("hot spots", text)));
    facts.extend(job_facts(report));
    facts
}

fn has_many(report: &TraceStudy) -> bool {
    report.profile.totals.requests.total() >= REQUESTS_MIN
}

fn source(report: &TraceStudy) -> String {
    let info = &report.condition.info;
    let format = report.condition.format.name();
    let program = info.source.strip_prefix(&format!("{format} of ")).map_or(info.source.as_str(), |_| "");
    let mut parts = vec![terminal(program, false).chars().take(120).collect::<String>(), format!("format {format}")];
    parts.retain(|part| !part.is_empty());
    parts.extend(info.started_unix_ms.map(|ms| format!("from {} UTC", civil::iso(civil::local(ms, 0)))));
    parts.extend(window_words(report));
    parts.push(requests(report.profile.totals.requests.total()));
    parts.extend(info.lost.map(|lost| format!("{} lost", grouped(lost))));
    parts.join(", ")
}

fn flags(report: &TraceStudy) -> Option<String> {
    let totals = &report.profile.totals;
    let all = totals.requests.total().max(1) as f64;
    let flags = [
        ("sync", totals.sync_requests),
        ("metadata", totals.meta_requests),
        ("FUA", totals.fua_requests),
        ("flush before", totals.preflush_requests),
        ("read-ahead", totals.readahead_requests),
    ];
    let set = flags.iter().filter(|(_, requests)| *requests > 0);
    let parts: Vec<String> =
        set.map(|(name, requests)| format!("{name} {}", percent(*requests as f64 / all))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn depth(report: &TraceStudy) -> Option<String> {
    let profile = report.profile.depth?;
    let depth = profile.depth?;
    Some(format!(
        "mean {}, p99 {}, maximum {}; at least one for {} of the time",
        significant(depth.mean, 3),
        depth.p99,
        count(depth.max as f64),
        percent(profile.busy_time_fraction)
    ))
}

fn issues(report: &TraceStudy) -> Option<String> {
    let loops = report.profile.loops.as_ref()?;
    let score = loops.closed_loop_score;
    let kind = match score {
        score if score >= 0.7 => "closed",
        score if score <= 0.2 => "open",
        _ => "between open and closed",
    };
    let think = loops.think_ns.map_or_else(String::new, |think| {
        format!("; think time {} (median), {} (p99)", Nanos::new(think.p50), Nanos::new(think.p99))
    });
    Some(format!("{kind} (score {score:.2}, of {} of the requests){think}", percent(loops.scored_fraction)))
}

fn runs(report: &TraceStudy) -> Option<String> {
    const CONTINUING_MIN: f64 = 0.05;
    let sequential = &report.profile.sequential;
    let of = |name: &str, runs: &trace::RunProfile| {
        let bytes = runs.run_bytes.filter(|_| runs.continuing_fraction() >= CONTINUING_MIN)?;
        let streams = match runs.interleaved_streams {
            None => String::new(),
            Some(streams) if streams.p50 <= 1 => " in one stream".to_owned(),
            Some(streams) => format!(" in {} interleaved streams", streams.p50),
        };
        Some(format!("{name} of {} on average{streams}", Bytes::new(bytes.mean.round() as u64)))
    };
    let parts = [of("reads", &sequential.reads), of("writes", &sequential.writes)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn hot(report: &TraceStudy) -> Option<String> {
    let hot = &report.profile.reuse.as_ref()?.hot;
    let (first, rest) = hot.shares.split_first()?;
    let mut text =
        format!("{}% of the blocks get {} of the accesses", first.blocks_percent, percent(first.accesses_fraction));
    for share in rest {
        text += &format!(", {}% {}", share.blocks_percent, percent(share.accesses_fraction));
    }
    if let Some(zipf) = hot.zipf {
        let how = if zipf.difference_max <= 0.1 { "" } else { ", a poor fit" };
        text += &format!("; zipf:{}{how}", format_args!("{:.2}", zipf.theta));
    }
    Some(text)
}

struct TraceText {
    sheet: Sheet,
}

impl TraceText {
    /// Appends a table; columns that do not fit are left out from the right.
    fn table(&mut self, table: &TraceTable) {
        let widths: Vec<usize> = (0..table.head.len())
            .map(|column| {
                let cells = table.rows.iter().map(|row| row[column].chars().count());
                cells.chain([table.head[column].chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let mut columns = widths.len();
        while columns > 2 && 2 + widths[..columns].iter().map(|width| width + 2).sum::<usize>() - 2 > self.sheet.width()
        {
            columns -= 1;
        }
        let line = |cells: &[String]| {
            let cells = cells.iter().zip(&widths).take(columns).enumerate();
            let cells = cells.map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  "))
        };
        self.sheet.gap();
        let head: Vec<String> = table.head.iter().map(|&name| name.to_owned()).collect();
        self.sheet.line(&self.sheet.faint(line(&head).trim_end()));
        table.rows.iter().for_each(|row| self.sheet.line(&line(row)));
    }

    fn findings(&mut self, report: &TraceStudy) {
        for finding in &report.findings {
            self.sheet.gap();
            let severity = severity(finding);
            let words = format!(": {} {}", statement(finding), advice(finding));
            self.sheet.led(2, crate::words::severity_name(severity), tone_of(severity), &words);
            let each = figures(finding)
                .iter()
                .map(|figure| format!("{} {}", figure.words(), figure.text()))
                .collect::<Vec<_>>();
            let line = format!("{}: {}", finding.code(), each.join(", "));
            self.sheet.hung(["    "; 2], self.sheet.width() - 4, &line, Some(Tone::Faint));
        }
    }

    fn copy(&mut self, copy: &TraceCopy) {
        self.sheet.gap();
        self.sheet.field("written", &copied(copy));
    }
}

/// Returns what a copy has: `out.csv: 12,345 requests in the format msr, 512 KiB`.
pub(crate) fn copied(copy: &TraceCopy) -> String {
    let file = terminal(&copy.file, false);
    let (number, size) = (requests(copy.requests), Bytes::new(copy.bytes));
    let mut text = format!("{file}: {number} in format {}, {size}", copy.format.name());
    if copy.requests > 0 {
        text += &format!(", {} bytes each", significant(copy.bytes as f64 / copy.requests as f64, 3));
    }
    if copy.omitted > 0 {
        text += &format!("; omitted, because the format cannot express them: {}", requests(copy.omitted));
    }
    text
}

/// Returns the text as Markdown: headline, warnings, findings, facts, tables.
pub(crate) fn markdown(report: &TraceStudy) -> String {
    let mut text = format!("# {}\n\n{}", escaped(&report.name), answer(report).markdown());
    let mut list = |items: Vec<String>| {
        if !items.is_empty() {
            let _ = write!(text, "\n{}\n", items.join("\n"));
        }
    };
    list(warnings(report).iter().map(|warning| format!("* Warning: {}", escaped(&warning.text))).collect());
    let finding = |finding| format!("* {} {}", escaped(&statement(finding)), advice(finding));
    list(report.findings.iter().map(finding).collect());
    list(facts(report).iter().map(|(label, value)| format!("* {label}: {}", escaped(value))).collect());
    tables(report).iter().for_each(|each| text.push_str(&table(each)));
    for copy in &report.copies {
        let _ = write!(text, "\nWritten: {}\n", escaped(&copied(copy)));
    }
    text
}

fn table(table: &TraceTable) -> String {
    let mut text = format!("\n## {}\n\n{}\n\n| {} |\n|---", table.name, table.note, table.head.join(" | "));
    text.push_str(&"|---:".repeat(table.head.len() - 1));
    text.push_str("|\n");
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

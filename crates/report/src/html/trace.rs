//! The page of a trace.

use trace::{TraceOperation, TraceStudy};
use units::{Bytes, count, significant};

use super::charts;
use super::findings::{micro, tone};
use super::headline::time;
use super::markup::Markup;
use super::page;
use super::table::HtmlTable;
use crate::trace::{advice, copied, facts, figures, severity, statement, tables, warnings};

/// Returns the page: kind of load, warnings, headline figures, findings, charts, tables.
pub(crate) fn trace_page(report: &TraceStudy) -> String {
    let answer = crate::trace::answer::answer(report);
    let title = super::answer::title(&answer);
    let mut out = Markup::default();
    out.raw("<!DOCTYPE html>\n");
    out.inside("html", &[("lang", "en")], |out| {
        out.inside("head", &[], |out| page::head(out, &title));
        out.inside("body", &[], |out| {
            out.inside("a", &[("class", "skip"), ("href", "#content")], |out| out.text("Skip to the findings"));
            out.class("div", "page", |out| {
                out.class("header", "top", |out| out.leaf("p", "brand", "Fathom trace"));
                out.inside("main", &[("id", "content")], |out| {
                    out.leaf("h1", "", &title);
                    super::answer::write(out, &answer);
                    content(out, report);
                });
                page::foot(out);
            });
        });
    });
    out.finish()
}

fn content(out: &mut Markup, report: &TraceStudy) {
    for warning in warnings(report) {
        let (class, badge) = if warning.is_incomplete { ("distrust", "Incomplete") } else { ("warning", "Warning") };
        out.class("div", &format!("card verdict {class}"), |out| {
            out.leaf("span", "badge", badge);
            out.inside("p", &[], |out| out.name(&micro(&warning.text)));
        });
    }
    tiles(out, report);
    findings(out, report);
    section(out, "charts", "Charts", |out| {
        out.class("div", "figures", |out| charts::trace::of(report).iter().for_each(|chart| chart.write(out, "h3")));
    });
    section(out, "figures", "Figures", |out| {
        out.class("dl", "facts", |out| out.facts(facts(report).iter().map(|(label, text)| (*label, micro(text)))));
        for table in tables(report) {
            out.leaf("h3", "", table.name);
            let mut html = HtmlTable::new(table.note, &table.head, 1);
            html.rows = table.rows.iter().map(|row| row.iter().map(|cell| micro(cell)).collect()).collect();
            out.class("div", "card sheet", |out| html.write(out));
        }
    });
    if !report.copies.is_empty() {
        section(out, "copies", "Copies", |out| {
            out.class("ul", "plain", |out| {
                report.copies.iter().for_each(|copy| out.inside("li", &[], |out| out.name(&copied(copy))));
            });
        });
    }
}

fn section(out: &mut Markup, id: &str, name: &str, body: impl FnOnce(&mut Markup)) {
    out.inside("section", &[("class", "part"), ("id", id)], |out| {
        out.leaf("h2", "", name);
        body(out);
    });
}

/// Writes the headline figures.
fn tiles(out: &mut Markup, report: &TraceStudy) {
    let profile = &report.profile;
    let (requests, bytes) = (profile.totals.requests.total(), profile.totals.bytes.total());
    let mut tiles = vec![("requests", count(requests as f64), String::new())];
    if let (Some(iops), Some(bytes_per_second)) = (report.per_second(requests), report.per_second(bytes)) {
        let peak = profile.arrivals.windows.iter().find(|window| window.width_ns == 1_000_000_000);
        let second = peak.map(|window| format!("up to {} in a second", count(window.requests_max as f64)));
        tiles.push(("mean IOPS", count(iops), second.unwrap_or_default()));
        let second = peak.map(|window| format!("up to {}/s in a second", Bytes::new(window.bytes_max)));
        let mean = Bytes::new(bytes_per_second as u64);
        tiles.push(("throughput", format!("{mean}/s"), second.unwrap_or_default()));
    }
    if let Some(depth) = profile.depth.and_then(|depth| depth.depth) {
        tiles.push(("in flight, mean", significant(depth.mean, 3), format!("at most {}", count(depth.max as f64))));
    }
    if let Some(reuse) = &profile.reuse {
        let written = Bytes::new(reuse.written_footprint_bytes as u64);
        tiles.push((
            "blocks in use",
            Bytes::new(reuse.footprint_bytes as u64).to_string(),
            format!("{written} written"),
        ));
    }
    for (operation, name) in [(TraceOperation::Read, "read latency"), (TraceOperation::Write, "write latency")] {
        if let Some(times) = profile.service_ns.get(operation) {
            tiles.push((name, time(times.mean), format!("p99 {}", time(times.p99 as f64))));
        }
    }
    out.class("dl", "tiles", |out| {
        for (name, value, more) in &tiles {
            super::headline::tile(out, name, value, &micro(more));
        }
    });
}

fn findings(out: &mut Markup, report: &TraceStudy) {
    if report.findings.is_empty() {
        return;
    }
    section(out, "findings", "Findings", |out| {
        out.class("ul", "also", |out| {
            for finding in &report.findings {
                let (class, badge) = tone(severity(finding));
                out.class("li", &format!("card {class}"), |out| {
                    out.leaf("span", "badge", badge);
                    out.leaf("p", "lead", &micro(&statement(finding)));
                    out.leaf("p", "remedy", advice(finding));
                    let mut table = HtmlTable::new(finding.code(), &["figure", "value"], 1);
                    table.rows =
                        figures(finding).iter().map(|figure| vec![figure.words(), micro(&figure.text())]).collect();
                    let summary = format!("The figures of {}", finding.code());
                    out.class("div", "quiet", |out| table.folded(out, &summary));
                });
            }
        });
    });
}

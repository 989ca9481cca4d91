//! The section of a job.

use super::markup::Markup;
use super::part::{Member, SectionPart};
use super::{charts, findings, headline};

/// Writes verdict, findings, figures and charts. If the section is `alone` on its page, the page's title names the job.
pub(super) fn section(out: &mut Markup, part: &SectionPart<'_>, alone: bool) {
    if !alone {
        out.inside("h2", &[], |out| out.name(part.name()));
        if let [only] = part.members.as_slice() {
            out.leaf("p", "asked", &crate::text::parameters(only.job));
        }
    }
    match part.members.as_slice() {
        [only] => {
            if let Some(verdict) = only.verdict {
                findings::headline(out, &verdict.headline, only.job, alone);
                findings::others(out, &verdict.others, only.job);
            }
            out.leaf(if alone { "h2" } else { "h3" }, "", "Figures");
            figures(out, only);
        }
        several => findings::side_by_side(out, several),
    }
    let charts = charts::of(part);
    if charts.is_empty() {
        out.leaf("p", "hint", "Nothing to draw: neither a time series nor a distribution was recorded.");
        return;
    }
    let [heading, title] = if alone { ["h2", "h3"] } else { ["h3", "h4"] };
    out.leaf(heading, "", "Charts");
    out.class("div", "figures", |out| charts.iter().for_each(|chart| chart.write(out, title)));
    if part.lasted_ns() == 0 {
        out.leaf("p", "hint", "This source has totals only, no time series.");
    }
}

fn figures(out: &mut Markup, member: &Member<'_>) {
    let is_assumed = crate::words::tail_is_assumed(member.run);
    headline::tiles(out, member.job, is_assumed);
    match headline::latency_table(member.job, is_assumed) {
        Some(table) => out.class("div", "card sheet", |out| table.write_narrow(out)),
        None if member.job.declared.header_only => out.leaf("p", "hint", "The output has no latencies."),
        None => out.leaf("p", "hint", "Latencies were not kept (gtod_reduce or disable_lat), so none are shown."),
    }
}

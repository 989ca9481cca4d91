//! The overview of all jobs of a page.

use analyse::Severity;
use units::count;

use super::common::{SECTIONS, severity};
use super::findings::{micro, split, tone_of};
use super::headline::{pace, rate, time};
use super::markup::Markup;
use super::part::{Member, SectionPart};
use crate::chart::isolated;
use crate::words;

const HEAD: [&str; 6] = ["job", "kind", "IOPS", "throughput", "mean", "p99"];

/// Returns the anchor of a job.
pub(super) fn id(number: usize) -> String {
    format!("job-{}", number + 1)
}

/// Returns the title: number of jobs, and how many need attention.
pub(super) fn title(parts: &[SectionPart<'_>]) -> String {
    let of = |wanted: Severity| parts.iter().filter(|part| severity(part) == wanted).count();
    let (all, wrong, odd) = (parts.len(), of(Severity::Distrust), of(Severity::Warning));
    let plural = |n: usize, one: &str, many: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") };
    match (wrong, odd) {
        _ if all == 0 => "Nothing was measured".to_owned(),
        (0, 0) if all <= NAMED => parts.iter().filter_map(result).collect::<Vec<_>>().join(", "),
        (0, 0) => format!("{all} jobs were measured, none with a warning"),
        (0, odd) => format!("{all} jobs were measured; {}", plural(odd, "has a warning", "have warnings")),
        (wrong, _) => {
            format!("{all} jobs were measured; {}", plural(wrong, "is unreliable", "are unreliable"))
        }
    }
}

/// Maximum number of jobs whose results are in the title.
const NAMED: usize = 3;

/// Returns the result of a job: `oltp 19.8k IOPS`.
fn result(part: &SectionPart<'_>) -> Option<String> {
    let member = part.members.first()?;
    let pace = pace(member).map_or_else(String::new, |pace| format!(" {pace}"));
    Some(format!("{}{pace}", isolated(&member.job.name)))
}

/// Writes a row for each kind of operation of each job, with a link to the job's section.
pub(super) fn section(out: &mut Markup, parts: &[SectionPart<'_>]) {
    out.leaf("h2", "", "Overview");
    if parts.len() > SECTIONS {
        let text = format!(
            "The first {SECTIONS} jobs have a section with charts; the others a row here, to keep the page small."
        );
        out.leaf("p", "hint", &text);
    }
    out.class("div", "card sheet", |out| {
        let scroll = [("class", "scroll narrow"), ("tabindex", "0"), ("role", "group"), ("aria-label", "Overview")];
        out.inside("div", &scroll, |out| {
            out.inside("table", &[], |out| {
                out.leaf("caption", "", "Latency is service time, from submission to completion.");
                out.inside("thead", &[], |out| out.inside("tr", &[], head));
                out.inside("tbody", &[], |out| {
                    for (number, part) in parts.iter().enumerate() {
                        part.members.iter().for_each(|member| rows(out, number, part, member));
                    }
                });
            });
        });
    });
}

fn head(out: &mut Markup) {
    for (column, name) in HEAD.iter().enumerate() {
        let class = if column < 2 { "w" } else { "n" };
        out.inside("th", &[("scope", "col"), ("class", class)], |out| out.text(name));
    }
    out.inside("th", &[("scope", "col"), ("class", "w")], |out| out.text("verdict"));
}

fn rows(out: &mut Markup, number: usize, part: &SectionPart<'_>, member: &Member<'_>) {
    let kinds: Vec<_> = member.kinds().collect();
    let cells = |index: usize| -> [String; 5] {
        let Some((kind, result)) = kinds.get(index) else { return Default::default() };
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let latency = result.with_percentiles();
        let known = member.job.known_transfers(result);
        [
            kind.name().to_owned(),
            or_dash(known.iops.map(count)),
            or_dash(known.bytes_per_second.map(rate)),
            or_dash(member.job.known_latency(latency).mean_ns.map(time)),
            micro(&crate::words::percentile(latency.percentile(99.0))),
        ]
    };
    for index in 0..kinds.len().max(1) {
        out.inside("tr", &[], |out| {
            let name = part.whose_job(member);
            match index {
                0 => out.inside("th", &[("scope", "row")], |out| match number < SECTIONS {
                    true => {
                        let to = format!("#{}", id(number));
                        out.inside("a", &[("href", &to)], |out| out.name(&name));
                    }
                    false => out.name(&name),
                }),
                _ => out.leaf("td", "w", ""),
            }
            for (column, cell) in cells(index).iter().enumerate() {
                let class = if column == 0 { "w" } else { "" };
                let of = [("class", class), ("data-head", HEAD[column + 1])];
                out.inside("td", &of, |out| out.text(cell));
            }
            out.class("td", "long w", |out| {
                if index == 0 {
                    verdict(out, member);
                }
            });
        });
    }
}

fn verdict(out: &mut Markup, member: &Member<'_>) {
    let Some(verdict) = member.verdict else { return };
    let (class, word) = tone_of(&verdict.headline);
    out.class("span", class, |out| out.leaf("span", "badge", word));
    let statement = words::parts(&verdict.headline, member.job).statement;
    out.text(&format!(" {}", micro(split(&statement).0)));
}

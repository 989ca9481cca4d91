//! Helpers shared by sections.

use analyse::Severity;
use record::{MissingItems, ModelRecord, Run};
use units::Nanos;

use super::findings::micro;
use super::markup::Markup;
use super::part::SectionPart;
use crate::civil;

/// Maximum number of jobs with a section of their own, so that a page stays below a megabyte. Others only have a row in
/// the overview.
pub(super) const SECTIONS: usize = 40;

/// Returns the time and host of a run: `2026-11-21 10:38:56 on box`, `30.0 s of virtual time`.
pub(super) fn when_and_where(run: &Run) -> String {
    match &run.model {
        Some(ModelRecord { virtual_time: true, elapsed_ns, .. }) => {
            format!("{} of virtual time", micro(&Nanos::new(*elapsed_ns).to_string()))
        }
        _ if run.taken_unix_ms == 0 => run.tool.name.clone(),
        _ => {
            let when = civil::iso(civil::local(run.taken_unix_ms, run.utc_offset_s));
            if run.host.hostname.is_empty() { when } else { format!("{when} on {}", run.host.hostname) }
        }
    }
}

/// Returns the highest severity among the verdicts of a part.
pub(super) fn severity(part: &SectionPart<'_>) -> Severity {
    let of = part.members.iter().filter_map(|member| member.verdict.map(|verdict| verdict.headline.severity));
    of.max().unwrap_or(Severity::Info)
}

/// Writes which points of a grid or curves of a sweep are missing.
pub(super) fn warn_of_missing(out: &mut Markup, missing: &MissingItems) {
    out.class("div", "card verdict warning", |out| out.leaf("p", "", &missing.to_string()));
}

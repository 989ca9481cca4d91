//! The answer of the doctor: which settings cost performance, and how to change them.

use analyse::doctor::{CheckState, DoctorFinding};
use results::doctor::DoctorResult;

use super::{DoctorTally, meaning, name, remedies, values};
use crate::words::{capitalized, joined};
use results::answer::{Action, Answer, Outcome};

/// Maximum number of settings that are named.
const NAMED: usize = 6;

/// Returns which settings cost performance, with the commands that change them.
pub(super) fn answer(diagnosis: &DoctorResult) -> Answer {
    let costly = costly(diagnosis);
    let checked: Vec<DoctorFinding> =
        diagnosis.subjects.iter().flat_map(|(_, findings)| findings).chain(&diagnosis.host).cloned().collect();
    let tally = DoctorTally::of(&checked, diagnosis.purpose);
    let names: Vec<String> = diagnosis.subjects.iter().map(|(subject, _)| name(subject)).collect();
    let names = joined(&names, "and");
    let of = if names.is_empty() { "this host".to_owned() } else { names };
    let purpose = diagnosis.purpose.map_or("performance", |purpose| match purpose {
        analyse::doctor::Purpose::Iops => "IOPS",
        analyse::doctor::Purpose::Throughput => "throughput",
    });
    let problems = costly.iter().any(|finding| finding.state(diagnosis.purpose) == CheckState::Problem);
    let (outcome, verdict) = match costly.len() {
        0 if tally.good == 0 => (Outcome::Unknown, format!("Cannot tell: no setting of {of} could be read.")),
        0 => (Outcome::Good, format!("No setting of {of} costs {purpose}: {} checks passed.", tally.good)),
        count => {
            let titles: Vec<&str> = costly.iter().take(NAMED).map(|finding| meaning::title(finding.check)).collect();
            let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
            let (noun, verb) = if count == 1 { ("setting", "costs") } else { ("settings", "cost") };
            let outcome = if problems { Outcome::Bad } else { Outcome::Neutral };
            (outcome, format!("{count} {noun} of {of} {verb} {purpose}: {}{more}.", titles.join(", ")))
        }
    };
    let basis = vec![format!("{} good, {} unknown; nothing was changed", tally.good, tally.unknown)];
    let actions = costly.iter().filter_map(|finding| action(finding, diagnosis)).take(NAMED).collect();
    Answer { outcome, verdict: capitalized(&verdict), actions, basis }
}

/// Returns the findings that cost performance, the worst first, without repetitions for disks of several names.
fn costly(diagnosis: &DoctorResult) -> Vec<&DoctorFinding> {
    let mut costly: Vec<&DoctorFinding> = Vec::new();
    for finding in diagnosis.subjects.iter().flat_map(|(_, findings)| findings).chain(&diagnosis.host) {
        if finding.state(diagnosis.purpose) > CheckState::Unknown && !costly.contains(&finding) {
            costly.push(finding);
        }
    }
    costly.sort_by_key(|finding| std::cmp::Reverse(finding.state(diagnosis.purpose)));
    costly
}

/// Returns a change: `I/O scheduler of vda: mq-deadline, should be none.`, with its command.
fn action(finding: &DoctorFinding, diagnosis: &DoctorResult) -> Option<Action> {
    let command = remedies(finding, diagnosis.purpose).into_iter().find_map(|remedy| remedy.now.or(remedy.always))?;
    let of = if finding.about.is_empty() { String::new() } else { format!(" of {}", super::clean(&finding.about)) };
    let wanted =
        values::wanted(finding, diagnosis.purpose).map_or_else(String::new, |wanted| format!(", better {wanted}"));
    let what = format!("{}{of}: {}{wanted}.", capitalized(meaning::title(finding.check)), values::found(finding));
    Some(Action { what, command: Some(command) })
}

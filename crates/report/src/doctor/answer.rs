//! The answer of the doctor: which settings cost performance, and how to change them.

use analyse::doctor::{Check, CheckState, DoctorFinding, Purpose};
use results::doctor::{DoctorResult, DoctorTally};

use super::{meaning, name, remedies, values};
use crate::words::{capitalized, joined};
use results::answer::{Action, Answer, Outcome};

/// Maximum number of settings that are named.
const NAMED: usize = 6;

/// Returns which settings cost performance, with the commands that change them.
pub(super) fn answer(diagnosis: &DoctorResult) -> Answer {
    let costly = costly(diagnosis);
    let checked: Vec<DoctorFinding> =
        diagnosis.subjects.iter().flat_map(|(_, findings)| findings).chain(&diagnosis.host).cloned().collect();
    let tally = DoctorTally::new(&checked, diagnosis.purpose);
    let names: Vec<String> = diagnosis.subjects.iter().map(|(subject, _)| name(subject)).collect();
    let names = joined(&names, "and");
    let of = if names.is_empty() { "this host".to_owned() } else { names };
    let purpose = diagnosis.purpose.map_or("performance", purpose_name);
    let blind = blind(diagnosis);
    let problems = costly.iter().any(|finding| finding.state(diagnosis.purpose) == CheckState::Problem);
    let (outcome, verdict) = match costly.len() {
        0 if !blind.is_empty() => {
            (Outcome::Unknown, format!("Cannot tell: most settings of {} could not be read.", joined(&blind, "and")))
        }
        0 => (Outcome::Good, format!("No setting of {of} costs {purpose}: {} checks passed.", tally.good)),
        count => {
            let titles = titles(&costly, diagnosis);
            let more = if titles.len() > NAMED { format!(" and {} more", titles.len() - NAMED) } else { String::new() };
            let titles = &titles[..titles.len().min(NAMED)];
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

/// Returns the subjects of which more settings are unknown than known: nothing is concluded from the others.
fn blind(diagnosis: &DoctorResult) -> Vec<String> {
    let is_blind = |findings: &[DoctorFinding]| {
        let tally = DoctorTally::new(findings, diagnosis.purpose);
        tally.good <= tally.unknown
    };
    let subjects = diagnosis.subjects.iter().filter(|(_, findings)| is_blind(findings));
    let mut names: Vec<String> = subjects.map(|(subject, _)| name(subject)).collect();
    if is_blind(&diagnosis.host) {
        names.push("this host".to_owned());
    }
    names
}

/// Returns the titles of settings, with the devices if several are checked: `read-ahead (vda and vdb, throughput only)`.
fn titles(costly: &[&DoctorFinding], diagnosis: &DoctorResult) -> Vec<String> {
    let mut groups: Vec<(Check, Option<Purpose>, Vec<String>)> = Vec::new();
    for finding in costly {
        let affected = affected(finding, diagnosis);
        let about =
            Some(super::clean(&finding.about)).filter(|about| !about.is_empty() && diagnosis.subjects.len() > 1);
        match groups.iter_mut().find(|(check, of, _)| (*check, *of) == (finding.check, affected)) {
            Some((.., devices)) => devices.extend(about),
            None => groups.push((finding.check, affected, about.into_iter().collect())),
        }
    }
    let titled = groups.into_iter().map(|(check, affected, devices)| {
        let only = affected.filter(|_| diagnosis.purpose.is_none());
        let only = only.map(|purpose| format!("{} only", purpose_name(purpose)));
        let devices = Some(joined(&devices, "and")).filter(|devices| !devices.is_empty());
        let notes: Vec<String> = devices.into_iter().chain(only).collect();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        format!("{}{notes}", meaning::title(check))
    });
    titled.collect()
}

/// Returns the purpose that a setting affects; `None` if it affects both.
fn affected(finding: &DoctorFinding, diagnosis: &DoctorResult) -> Option<Purpose> {
    let costs = |purpose| finding.state(Some(purpose)) > CheckState::Unknown;
    diagnosis.purpose.or(match (costs(Purpose::Iops), costs(Purpose::Throughput)) {
        (true, false) => Some(Purpose::Iops),
        (false, true) => Some(Purpose::Throughput),
        _ => None,
    })
}

const fn purpose_name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Iops => "IOPS",
        Purpose::Throughput => "throughput",
    }
}

/// Returns a change: `I/O scheduler of vda: mq-deadline; better none for IOPS.`, with its command.
fn action(finding: &DoctorFinding, diagnosis: &DoctorResult) -> Option<Action> {
    let affected = affected(finding, diagnosis);
    let command = remedies(finding, affected).into_iter().find_map(|remedy| remedy.now.or(remedy.always))?;
    let of = if finding.about.is_empty() { String::new() } else { format!(" of {}", super::clean(&finding.about)) };
    let only = affected.filter(|_| diagnosis.purpose.is_none());
    let only = only.map_or_else(String::new, |purpose| format!(" for {}", purpose_name(purpose)));
    let wanted =
        values::wanted(finding, affected).map_or_else(String::new, |wanted| format!("; better {wanted}{only}"));
    let what = format!("{}{of}: {}{wanted}.", capitalized(meaning::title(finding.check)), values::found(finding));
    Some(Action { what, command: Some(command) })
}

//! Statistics of a server as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use results::answer::{Action, Answer, Outcome};
use results::serve::{
    ExportStats, PunctualityStats, RequestLatency, RequestStats, ServerState, ServerStats, StageStats,
};
use units::{Bytes, count, counted, grouped, percent, significant};

use crate::answer::AnswerText;
use crate::sheet::{Sheet, SheetStyle};

/// Returns the statistics as text; `fault_kinds` are the kinds of faults in printing order.
#[must_use]
pub fn text(stats: &ServerStats, fault_kinds: &[&str]) -> String {
    let mut sheet = Sheet::new(SheetStyle { width: WIDTH, ..SheetStyle::default() }, 0);
    answer(stats).write(&mut sheet);
    let mut page = sheet.finish();
    for export in &stats.exports {
        page.push_str(&self::export(export, fault_kinds));
    }
    page.push_str(&stages(&stats.stages));
    if let Some(punctuality) = &stats.punctuality {
        page.push_str(&self::punctuality(punctuality));
    }
    page
}

/// Columns of the tables.
const WIDTH: usize = 100;
/// Lateness over the modelled latency, and over a time that no client notices, from which figures are not to be trusted.
const LATE: f64 = 0.1;
const LATE_NS: f64 = 100_000.0;

/// Answers whether the served disk kept the times of its model.
fn answer(stats: &ServerStats) -> Answer {
    let served: u64 = stats.exports.iter().flat_map(|export| &export.kinds).map(|kind| kind.operations).sum();
    let basis = vec![format!("served for {} s, seed {}", significant(stats.served_secs, 3), stats.seed)];
    let Some(seen) = stats.punctuality.as_ref().filter(|seen| seen.replies > 0) else {
        let what = match served {
            0 => "Nothing to judge: no request arrived.".to_owned(),
            count => format!("Served {} requests without a model of their times.", grouped(count)),
        };
        return Answer { basis, ..Answer::new(Outcome::Neutral, what) };
    };
    let (late, modelled) = (seen.mean_ns, seen.model_mean_ns);
    let figures =
        format!("replies were {} {} on average (p99 {})", time(late.abs()), manner(late), time(seen.p99_ns as f64));
    let is_late = late > LATE_NS && late > LATE * modelled;
    let verdict = match is_late {
        true => format!(
            "No: this host is too slow, {figures}; the model's mean is {}. Do not trust latencies from this run.",
            time(modelled)
        ),
        false => format!("Yes: the disk kept the model's times, {} on average; {figures}.", time(modelled)),
    };
    let actions = match is_late {
        true => vec![Action::from("Dedicate a CPU to the server, or serve a slower volume.".to_owned())],
        false => Vec::new(),
    };
    let outcome = if is_late { Outcome::Bad } else { Outcome::Good };
    Answer { outcome, verdict, actions, basis }
}

const fn manner(mean_ns: f64) -> &'static str {
    if mean_ns < 0.0 { "early" } else { "late" }
}

fn export(export: &ExportStats, fault_kinds: &[&str]) -> String {
    let name = if export.name.is_empty() { "the default export" } else { &export.name };
    let volume = export.volume.as_deref().unwrap_or("no model");
    let read_only = if export.read_only { ", read-only" } else { "" };
    let size = Bytes::new(export.size_bytes);
    let mut page = format!("\n{name}: {volume}\n  {size} in {}{read_only}, {}", export.store, connections(export));
    let notes = export.notes.iter().fold(String::new(), |text, note| text + "  note: " + note + "\n");
    if export.kinds.is_empty() {
        page.push_str(", no requests\n");
        page.push_str(&injected(export, fault_kinds));
        return page + &notes;
    }
    let heads = ["", "operations", "errors", "IOPS", "MiB/s", "mean", "p50", "p99", "IOPS now"];
    page.push_str("\n\n");
    page.push_str(&row(heads.map(str::to_owned)));
    for kind in &export.kinds {
        page.push_str(&row(cells(kind)));
    }
    page.push_str(&injected(export, fault_kinds));
    page + &notes
}

/// Returns the line about injected faults, if faults can be injected.
fn injected(export: &ExportStats, fault_kinds: &[&str]) -> String {
    if export.injected.is_empty() {
        return String::new();
    }
    format!("\n  injected faults: {}\n", fault_counts(&export.injected, fault_kinds))
}

/// Formats counts of faults by kind: `3 eio, 12 corrupt`, or `none`.
fn fault_counts(injected: &BTreeMap<String, u64>, kinds: &[&str]) -> String {
    let count = |kind: &&str| injected.get(*kind).copied().filter(|count| *count > 0);
    let counts = kinds.iter().filter_map(|kind| Some(format!("{} {kind}", grouped(count(kind)?))));
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
}

/// Returns the state that commands change; `fault_kinds` are the kinds of faults in printing order.
#[must_use]
pub fn state(state: &ServerState, fault_kinds: &[&str]) -> String {
    let mut text = format!("faults: {}\n", state.faults);
    for export in &state.exports {
        let name = if export.name.is_empty() { "the default export" } else { &export.name };
        let _ = writeln!(text, "{name}: {}", export.volume.as_deref().unwrap_or("no model"));
        let _ = writeln!(text, "  injected faults: {}", fault_counts(&export.injected, fault_kinds));
    }
    text
}

fn connections(export: &ExportStats) -> String {
    let now = match export.connected {
        0 => String::new(),
        connected => format!(" ({connected} now, {} requests in flight)", export.in_flight),
    };
    counted(export.connections, "connection") + &now
}

fn cells(kind: &RequestStats) -> [String; 9] {
    let time = |pick: fn(&RequestLatency) -> f64| kind.latency.as_ref().map_or("-".to_owned(), |l| time(pick(l)));
    [
        kind.kind.clone(),
        grouped(kind.operations),
        grouped(kind.errors),
        count(rounded(kind.iops)),
        significant(kind.bytes_per_sec / Bytes::MIB as f64, 3),
        time(|latency| latency.mean_ns),
        time(|latency| latency.p50_ns as f64),
        time(|latency| latency.p99_ns as f64),
        count(rounded(kind.recent_iops)),
    ]
}

/// Rounds rates of 10 per second or more to whole numbers.
fn rounded(rate: f64) -> f64 {
    if rate >= 10.0 { rate.round() } else { rate }
}

fn row([head, cells @ ..]: [String; 9]) -> String {
    let mut line = format!("  {head:<6}");
    for (cell, width) in cells.iter().zip([13, 8, 9, 9, 10, 10, 10, 10]) {
        let _ = write!(line, "{cell:>width$}");
    }
    line.push('\n');
    line
}

fn stages(stages: &[StageStats]) -> String {
    let used: Vec<&StageStats> = stages.iter().filter(|stage| stage.requests > 0).collect();
    if used.is_empty() {
        return String::new();
    }
    let width = used.iter().map(|stage| title(stage).chars().count()).max().unwrap_or(0);
    let mut page = format!("\n  {:<width$}{:>9}{:>13}{:>10}{:>12}\n", "limit", "used", "requests", "decided", "delay");
    for stage in used {
        let share = percent(stage.decided as f64 / stage.requests as f64);
        let delay = time(stage.delay_secs * 1e9 / stage.requests as f64);
        let _ = write!(page, "  {:<width$}{:>9}", title(stage), percent(stage.used_share));
        let _ = writeln!(page, "{:>13}{share:>10}{delay:>12}", grouped(stage.requests));
    }
    page
}

/// Returns the name of a stage, with its owner if there are several owners.
fn title(stage: &StageStats) -> String {
    let whose = if stage.owner.is_empty() { String::new() } else { format!(" of {}", stage.owner) };
    format!("{}{whose}", stage.name)
}

fn punctuality(seen: &PunctualityStats) -> String {
    let manner = manner(seen.mean_ns);
    let subtracted = match seen.round_trip_ns {
        0 => String::new(),
        round_trip_ns => {
            format!(",\n  after subtracting {} for the round trip to the client", time(round_trip_ns as f64))
        }
    };
    format!(
        "\n  replies {} {manner} on average (p50 {}, p99 {}); modelled {}{subtracted}\n",
        time(seen.mean_ns.abs()),
        time(seen.p50_ns as f64),
        time(seen.p99_ns as f64),
        time(seen.model_mean_ns),
    )
}

/// Formats a time in the unit of its magnitude.
fn time(ns: f64) -> String {
    match ns.abs() {
        t if t < 1e3 => format!("{ns:.0} ns"),
        t if t < 999.5e3 => format!("{} us", significant(ns / 1e3, 3)),
        t if t < 999.5e6 => format!("{} ms", significant(ns / 1e6, 3)),
        _ => format!("{} s", significant(ns / 1e9, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_of_their_magnitude() {
        let times = [0.0, 850.0, 12_345.0, 999_600.0, 1_020_000.0, 2.5e9].map(time);
        assert_eq!(times, ["0 ns", "850 ns", "12.3 us", "1.00 ms", "1.02 ms", "2.50 s"]);
    }

    #[test]
    fn fault_counts_keep_the_order_of_the_kinds_and_omit_zeros() {
        let kinds = ["eio", "corrupt", "disconnect"];
        assert_eq!(fault_counts(&BTreeMap::from([("eio".to_owned(), 0)]), &kinds), "none");
        let injected = BTreeMap::from([("disconnect".to_owned(), 1), ("corrupt".to_owned(), 1200)]);
        assert_eq!(fault_counts(&injected, &kinds), "1,200 corrupt, 1 disconnect");
    }

    #[test]
    fn negative_lateness_is_reported_as_early() {
        let seen = PunctualityStats {
            replies: 1,
            mean_ns: -2_000.0,
            p50_ns: 0,
            p99_ns: 70_000,
            model_mean_ns: 1e6,
            round_trip_ns: 30_000,
        };
        let text = punctuality(&seen);
        assert!(text.contains("replies 2.00 us early") && text.contains("after subtracting 30.0 us"), "{text}");
    }
}

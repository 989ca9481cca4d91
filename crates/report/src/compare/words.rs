//! Phrases about differences between runs and about caveats.

use std::collections::BTreeSet;

use analyse::compare::{
    Aspect, Caution, Change, Comparison, ConditionMismatch, Judgement, MismatchValue, More, Side, differing,
};
use record::{DataKind, FigureOf, FigureQuantity, Run};
use results::compare::NamedRun;
use units::{Bytes, Nanos, grouped};

/// Returns why the runs are not comparable, one line per reason.
#[must_use]
pub fn refusal(comparison: &Comparison) -> Vec<String> {
    comparison.mismatches.iter().filter(|mismatch| mismatch.blocking).map(mismatch_words).collect()
}

/// Returns why runs are no repeats of the first one, one line per reason.
#[must_use]
pub fn refusal_of_repeats(first: &str, mismatches: &[ConditionMismatch]) -> Vec<String> {
    let words = |mismatch| words_of_sides(mismatch, [first, "another run"]);
    mismatches.iter().filter(|mismatch| mismatch.blocking).map(words).collect()
}

/// Names of the sides in sentences where runs have none.
pub(super) const SIDES: [&str; 2] = ["the baseline", "the candidate"];

/// Returns `job reads: iodepth is 32 in the baseline and 64 in the candidate`.
pub(super) fn mismatch_words(mismatch: &ConditionMismatch) -> String {
    words_of_sides(mismatch, SIDES)
}

/// Returns what distinguishes each run from the others, in as few conditions as suffice: a volume, a depth, a build, a
/// host. `None` if some runs differ in none.
#[must_use]
pub fn labels(runs: &[&Run]) -> Option<Vec<String>> {
    let mut labels = vec![String::new(); runs.len()];
    let apart = |labels: &[String]| labels.iter().collect::<BTreeSet<_>>().len();
    for (aspect, values) in differing(runs) {
        let words: Vec<String> = match aspect {
            Aspect::Volume => without_common_keys(&values),
            _ => values.iter().map(|value| condition_words(aspect, value)).collect(),
        };
        let separator = |label: &str| if label.is_empty() { "" } else { ", " };
        let longer: Vec<String> =
            labels.iter().zip(&words).map(|(label, word)| format!("{label}{}{word}", separator(label))).collect();
        if apart(&longer) > apart(&labels) {
            labels = longer;
        }
    }
    (apart(&labels) == runs.len()).then_some(labels)
}

/// Returns the names of volumes without the keys that all of them have with the same value.
fn without_common_keys(volumes: &[MismatchValue]) -> Vec<String> {
    let names: Vec<String> = volumes.iter().map(value_words).collect();
    let keys = |name: &str| name.split(',').skip(1).map(str::to_owned).collect::<Vec<_>>();
    let all: Vec<Vec<String>> = names.iter().map(|name| keys(name)).collect();
    let is_common = |key: &str| all.iter().all(|own| own.iter().any(|one| one == key));
    let short = |name: &String| {
        let mut parts = name.split(',');
        // Of a catalogue file, the name without its directory.
        let model = parts
            .next()
            .map(|name| if name.ends_with(".toml") { name.rsplit('/').next().unwrap_or(name) } else { name });
        model.into_iter().chain(parts.filter(|key| !is_common(key))).collect::<Vec<_>>().join(",")
    };
    names.iter().map(short).collect()
}

/// Returns a condition in a few words: `aws/gp3`, `iodepth=8`, `kernel 6.18`.
fn condition_words(aspect: Aspect, value: &MismatchValue) -> String {
    let words = value_words(value);
    match aspect {
        Aspect::Volume | Aspect::Device | Aspect::TargetKind | Aspect::Rw | Aspect::Engine => words,
        Aspect::Host | Aspect::Tool | Aspect::Outcome => words,
        Aspect::Simulated => if *value == MismatchValue::Yes(true) { "simulated" } else { "measured" }.to_owned(),
        Aspect::BlockSize(_) => format!("bs={words}"),
        Aspect::Depth => format!("iodepth={words}"),
        Aspect::Workers => format!("{words} workers"),
        Aspect::Direct | Aspect::Thinktime => format!("{}={words}", aspect_words(aspect)),
        Aspect::Cpus => format!("{words} processors"),
        _ => format!("{} {words}{}", aspect_words(aspect).trim_start_matches("the "), per_second(aspect)),
    }
}

/// Reports whether the label of the candidate says in what it differs.
pub(crate) fn is_in_label(mismatch: &ConditionMismatch, label: &str) -> bool {
    mismatch.is_of_storage() || label.contains(&condition_words(mismatch.aspect, &mismatch.candidate))
}

/// Describes a mismatch between two sides.
pub(crate) fn words_of_sides(mismatch: &ConditionMismatch, [one, other]: [&str; 2]) -> String {
    let job = mismatch.job.as_ref().map_or_else(String::new, |job| format!("job {job}: "));
    let unit = per_second(mismatch.aspect);
    let printed = |value: &MismatchValue| {
        if *value == MismatchValue::Nothing { "none".to_owned() } else { format!("{}{unit}", value_words(value)) }
    };
    match (mismatch.aspect, &mismatch.baseline, &mismatch.candidate) {
        (Aspect::Job, _, MismatchValue::Nothing) => format!("{job}only in {one}"),
        (Aspect::Job, ..) => format!("{job}only in {other}"),
        (Aspect::Simulated, MismatchValue::Yes(true), _) => {
            format!("{one} was simulated, {other} was measured")
        }
        (Aspect::Simulated, ..) => format!("{one} was measured, {other} was simulated"),
        (aspect, baseline, candidate) => {
            let name = aspect_words(aspect);
            format!("{job}{name} is {} in {one} and {} in {other}", printed(baseline), printed(candidate))
        }
    }
}

fn aspect_words(aspect: Aspect) -> String {
    let name = match aspect {
        Aspect::BlockSize(kind) => return format!("the block size of {}", plural(FigureOf::Kind(kind))),
        Aspect::Volume => "the modelled volume",
        Aspect::Device => "the device",
        Aspect::TargetKind => "the target",
        Aspect::Rw => "rw",
        Aspect::Engine => "ioengine",
        Aspect::Depth => "iodepth",
        Aspect::Workers => "the number of workers",
        Aspect::Direct => "direct",
        Aspect::Syncs => "making writes durable",
        Aspect::Size => "the size of the region",
        Aspect::RateIops | Aspect::RateBytes => "the requested rate",
        Aspect::Thinktime => "thinktime",
        Aspect::Verify => "verification",
        Aspect::Runtime => "the measured time",
        Aspect::Outcome => "the outcome",
        Aspect::Host => "the host",
        Aspect::Cpus => "the number of CPUs",
        Aspect::Kernel => "the kernel",
        Aspect::Tool => "the program",
        _ => "something",
    };
    name.to_owned()
}

const fn per_second(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::RateIops => " IOPS",
        Aspect::RateBytes => "/s",
        _ => "",
    }
}

fn value_words(value: &MismatchValue) -> String {
    match value {
        MismatchValue::Nothing => "none".to_owned(),
        MismatchValue::Word(word) => word.clone(),
        MismatchValue::Yes(yes) => if *yes { "on" } else { "off" }.to_owned(),
        MismatchValue::Count(count) => grouped(*count),
        MismatchValue::Bytes(bytes) => Bytes::new(*bytes).to_string(),
        MismatchValue::BytesRange(least, most) if least == most => Bytes::new(*least).to_string(),
        MismatchValue::BytesRange(least, most) => format!("{} to {}", Bytes::new(*least), Bytes::new(*most)),
        MismatchValue::Nanoseconds(ns) => Nanos::new(*ns).to_string(),
    }
}

pub(super) const fn plural(of: FigureOf) -> &'static str {
    match of {
        FigureOf::Kind(DataKind::Read) => "reads",
        FigureOf::Kind(DataKind::Write) => "writes",
        FigureOf::Kind(DataKind::Trim) => "trims",
        FigureOf::All => "all together",
        FigureOf::Sync => "syncs",
    }
}

/// Says which sides' slowest operations follow from an assumption.
pub(super) fn tail_words<'a>(sides: impl Iterator<Item = (&'a [NamedRun], &'a str)>) -> Option<String> {
    let assumed = sides.filter(|(runs, _)| runs.iter().any(|run| run.tail_assumed)).map(|(_, side)| side);
    let assumed: Vec<&str> = assumed.collect();
    let names = crate::words::joined(&assumed, "and");
    (!assumed.is_empty()).then(|| format!("p99.9 of {names} follows from an assumed distribution of latencies"))
}

/// Returns caveats, one sentence each, with these names of the sides; the findings about a side share a sentence.
pub(super) fn caution_notes(comparison: &Comparison, sides: [&str; 2]) -> Vec<String> {
    let side_words = |side: Side| sides[usize::from(side == Side::Candidate)];
    let all = || comparison.jobs.iter().flat_map(|job| &job.cautions);
    let mut notes = Vec::new();
    for side in [Side::Baseline, Side::Candidate] {
        let mut names: Vec<String> = Vec::new();
        for caution in all() {
            match caution {
                Caution::Found { side: of, code } if *of == side && !names.contains(&code.name()) => {
                    names.push(code.name());
                }
                _ => {}
            }
        }
        if !names.is_empty() {
            let (side, names) = (side_words(side), names.join(", "));
            notes.push(format!("{side} has findings: {names} (see `fathom explain`)"));
        }
    }
    for words in all().filter_map(|caution| caution_words(caution, side_words)) {
        if !notes.contains(&words) {
            notes.push(words);
        }
    }
    notes
}

/// Returns the sentence of a caveat; `None` for findings.
fn caution_words<'a>(caution: &Caution, side_words: impl Fn(Side) -> &'a str) -> Option<String> {
    Some(match *caution {
        Caution::Found { .. } => return None,
        Caution::CreditsRanOut { side } => {
            format!("burst credits ran out in {} only, so its mean covers two phases", side_words(side))
        }
        Caution::Correlated { side, figure, values, independent } => format!(
            "intervals of {figure} in {} are strongly autocorrelated (effective sample size {:.0} of {values}): rely on repeats",
            side_words(side),
            independent.max(1.0)
        ),
        Caution::FewRepeats { side, runs } => {
            format!("{} has {runs} runs; with fewer than five, outliers may go unnoticed", side_words(side))
        }
        Caution::OneRunEach => {
            "mean latencies are compared by the spread within each run, as if 20 of its values were independent; \
             repeats show how much runs differ"
                .to_owned()
        }
        Caution::RepeatsOnOneSide => {
            "only one side has repeats; the other is assumed to vary as much from run to run".to_owned()
        }
    })
}

pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Formats a change: `+6.1% ± 1.2%`.
pub(crate) fn change_words(change: &Change) -> String {
    let half = (change.high_percent - change.low_percent) / 2.0;
    format!("{}% ± {}%", signed(change.percent), digits(half))
}

fn signed(percent: f64) -> String {
    let text = digits(percent.abs());
    let sign = if text.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        ""
    } else if percent < 0.0 {
        "-"
    } else {
        "+"
    };
    format!("{sign}{text}")
}

/// Formats a percentage to a tenth, or without fraction from a hundred on.
pub(super) fn digits(percent: f64) -> String {
    if percent >= 99.95 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

/// Returns `120 s more` or `4 more runs of each`.
pub(crate) fn more_words(more: More) -> String {
    match more {
        More::Seconds(seconds) if seconds < 600 => format!("{seconds} s more"),
        More::Seconds(seconds) if seconds < 7_200 => format!("{} min more", seconds.div_ceil(60)),
        More::Seconds(seconds) => format!("{} h more", seconds.div_ceil(3_600)),
        More::Repeats(1) => "1 more run of each".to_owned(),
        More::Repeats(runs) => format!("{runs} more runs of each"),
    }
}

/// Returns the word of a verdict and, if it is undecided, what would decide it.
pub(crate) fn verdict_words(judgement: Judgement) -> (&'static str, String) {
    match judgement {
        Judgement::Better => ("better", String::new()),
        Judgement::Worse => ("worse", String::new()),
        Judgement::Same => ("same", String::new()),
        Judgement::Undecided { more: Some(more) } => ("undecided", more_words(more)),
        Judgement::Undecided { more: None } => ("undecided", "too noisy to call".to_owned()),
    }
}

/// Returns the name of a figure in a table of one kind.
pub(crate) fn figure_words(quantity: FigureQuantity) -> String {
    let of = quantity.percent().map_or_else(|| "mean".to_owned(), |percent| format!("p{percent}"));
    match quantity {
        FigureQuantity::Iops => "IOPS".to_owned(),
        FigureQuantity::BytesPerSecond => "bandwidth".to_owned(),
        _ if quantity.is_response() => format!("response {of}"),
        _ => format!("latency {of}"),
    }
}

//! Results of a sweep as text for a terminal. The first paragraph of each curve is the answer.

use analyse::Severity;
use analyse::knee::search::{End, ProbeResult};
use analyse::knee::{Curve, Estimate, Knee, Point};
use results::sweep::{Sweep, SweepAdvice, SweepBurst, SweepResult};
use units::{Nanos, count, grouped, percent, requests_in_flight, significant};

use super::plot;
use crate::answer::AnswerText;
use crate::sheet::{Sheet, SheetStyle, Tone};
use crate::words::{self, SentenceContext};
use results::answer::{Action, Answer, Outcome};

/// Column in which values begin.
const INDENT: usize = 12;
/// Sharpness from which a corner is typical of a limiter.
const SHARP: f64 = 10.0;
/// Half-width of the knee's interval, relative to the knee, above which only the interval is printed.
const VAGUE: f64 = 0.2;

/// Returns all curves: for each the answer, its facts, plots and points; several curves end with a comparison table.
#[must_use]
pub fn text(document: &SweepResult, style: SheetStyle) -> String {
    let mut page = SweepPage { sheet: Sheet::new(style.readable(), INDENT) };
    for (index, sweep) in document.sweeps.iter().enumerate() {
        if index > 0 {
            page.sheet.gap();
        }
        page.sweep(sweep, document.seed);
    }
    if document.sweeps.len() > 1 {
        page.comparison(&document.sweeps);
    }
    if let Some(missing) = &document.missing {
        page.sheet.gap();
        page.sheet.led(0, "Incomplete: ", Tone::Bad, &missing.to_string());
    }
    page.sheet.finish()
}

/// Returns the result of a curve in one or two sentences.
pub(crate) fn headline(sweep: &Sweep) -> String {
    let text = match &sweep.fit.curve {
        Curve::Knee(knee) => knee_headline(knee, sweep),
        Curve::Flat { depth, xmax, price_ns } => format!(
            "No knee: depth {depth} already saturates the device at {} IOPS{}; each further request adds {}.",
            count(xmax.value),
            limited(sweep),
            time(*price_ns)
        ),
        Curve::Unsaturated { depth, iops, r0_ns } => {
            format!("No knee up to depth {depth}: {} IOPS, still at {}.", count(*iops), time(r0_ns.value))
        }
        Curve::PowerLaw { exponent, flat_from, .. } => {
            let (first, last) = (sweep.points.first(), sweep.points.last());
            let top = flat_from.and_then(|flat| sweep.points.iter().find(|point| point.depth == flat));
            let last = top.or(last);
            let beyond = if flat_from.is_some() { "; beyond that only latency grows" } else { "" };
            let ends = first.zip(last).map_or_else(String::new, |(first, last)| {
                let at = |point: &Point| format!("{} at depth {}", count(point.iops), point.depth);
                format!(", from {} to {}", at(first), at(last))
            });
            format!(
                "No knee: IOPS grow as depth^{}{ends}. Four times the depth gives {} times the IOPS at {} times the \
                 latency{beyond}.",
                significant(exponent.value, 2),
                significant(4_f64.powf(exponent.value), 3),
                significant(4_f64.powf(1.0 - exponent.value), 3),
            )
        }
        Curve::Unknown => without_curve(sweep),
    };
    match &sweep.fit.retrograde {
        Some(fall) => format!(
            "{text} Beyond depth {} IOPS fall: {} there, {} at depth {}.",
            fall.peak_depth,
            count(fall.peak_iops),
            count(fall.iops),
            fall.depth
        ),
        None => text,
    }
}

/// Says why there is no curve: the points contradict each other, or are too few.
fn without_curve(sweep: &Sweep) -> String {
    const ENOUGH: usize = 4;
    let most = sweep.points.iter().max_by(|a, b| a.iops.total_cmp(&b.iops));
    let deeper = most.and_then(|most| {
        let deeper = sweep.points.iter().filter(|point| point.depth > most.depth);
        deeper.min_by(|a, b| a.iops.total_cmp(&b.iops))
    });
    match most {
        Some(most) if sweep.points.len() >= ENOUGH => {
            let at = |point: &Point| format!("{} IOPS at depth {}", count(point.iops), point.depth);
            let against = deeper.map_or_else(String::new, |deeper| format!(" and {}", at(deeper)));
            format!(
                "Cannot tell: {}{against} fit no curve. Another workload interfered, or the device has credits or a cache. \
                 Repeat the sweep on an idle device.",
                at(most)
            )
        }
        _ => "Cannot tell: too few points for a curve.".to_owned(),
    }
}

fn knee_headline(knee: &Knee, sweep: &Sweep) -> String {
    let depth = knee.depth.value;
    let at_knee = if knee.sharpness >= SHARP { None } else { sweep.fit.iops_at(depth) };
    let iops = at_knee.unwrap_or(knee.xmax.value);
    let most = at_knee.map_or_else(String::new, |_| format!(" of at most {}", count(knee.xmax.value)));
    let place = if knee.depth.half_width() > VAGUE {
        format!("The knee is between depth {} and {}", depth_words(knee.depth.low), depth_words(knee.depth.high))
    } else {
        format!("The knee is at depth {}", depth_words(depth))
    };
    format!(
        "{place}: {} IOPS{most} at {}{}. Each request below it adds {} IOPS, each above it {} of latency.",
        count(iops),
        time(depth / iops * 1e9),
        limited(sweep),
        count(1e9 / knee.r0_ns.value),
        time(knee.price_ns)
    )
}

/// Returns what limits the deepest point, as a clause.
fn limited(sweep: &Sweep) -> String {
    sweep.limit.as_ref().map_or_else(String::new, |limit| format!(" ({limit})"))
}

/// Answers which depth to use.
pub(crate) fn answer(sweep: &Sweep, seed: u64) -> Answer {
    let doubt = sweep.findings.iter().find(|finding| finding.severity >= Severity::Warning);
    let about = SentenceContext { engine: &sweep.engine, path: &sweep.target, ..SentenceContext::default() };
    let doubt = doubt.map_or_else(String::new, |finding| format!(" {}", words::finding(finding, about)));
    let outcome = match (&sweep.fit.curve, doubt.is_empty()) {
        (Curve::Unknown, _) | (_, false) => Outcome::Unknown,
        _ => Outcome::Neutral,
    };
    let deeper = match &sweep.fit.curve {
        Curve::Unsaturated { depth, .. } => Some(Action {
            what: "Measure deeper:".to_owned(),
            command: Some(format!("--depth-max {}", depth.saturating_mul(4))),
        }),
        _ => None,
    };
    let advice = sweep.advice.as_ref().map(|advice| Action { what: advice_words(advice), command: advice.fio.clone() });
    let time = if sweep.virtual_time { " of virtual time" } else { "" };
    let how = if sweep.virtual_time { String::new() } else { format!(" by {}", sweep.engine) };
    let spent = Nanos::from_secs_f64(sweep.spent_s);
    let mut basis = vec![format!(
        "{}{how} on {}, {} probes in {spent}{time}, seed {seed}",
        sweep.load,
        sweep.target,
        sweep.probes.len()
    )];
    basis.extend(sweep.burst.as_ref().map(|burst| format!("burst: {}", burst_words(burst, sweep.virtual_time))));
    basis.extend(misfit(sweep));
    if sweep.end.is_none() {
        basis.push("interrupted: the results so far".to_owned());
    }
    Answer { outcome, verdict: headline(sweep) + &doubt, actions: deeper.into_iter().chain(advice).collect(), basis }
}

/// Formats a depth: a whole number from ten on, because fractions of an operation cannot be set.
fn depth_words(depth: f64) -> String {
    let is_whole = (depth - depth.round()).abs() < 0.05;
    if depth < 9.95 && !is_whole { significant(depth, 2) } else { grouped(requests_in_flight(depth)) }
}

fn time(ns: f64) -> String {
    if ns < 999.5 { format!("{} ns", significant(ns, 3)) } else { Nanos::new(ns.round() as u64).to_string() }
}

pub(crate) fn advice_words(advice: &SweepAdvice) -> String {
    let SweepAdvice { depth, iodepth, numjobs, cpu_per_io_ns, is_of_provider, .. } = advice;
    let jobs = if *numjobs == 1 { "one job".to_owned() } else { format!("{numjobs} jobs") };
    let cpu = cpu_per_io_ns.map_or_else(String::new, |ns| format!(" ({} of CPU per operation)", time(ns)));
    let total = if *numjobs > 1 { format!(", {depth} in flight") } else { String::new() };
    let asked = match is_of_provider {
        true => " Providers recommend this depth for hard disks; their latency is unpublished and assumed here.",
        false => "",
    };
    format!("Use iodepth={iodepth} with {jobs}{total}{cpu}.{asked}")
}

struct SweepPage {
    sheet: Sheet,
}

/// Fraction of the depth from which it counts as kept in flight.
const HELD: f64 = 0.95;

impl SweepPage {
    fn sweep(&mut self, sweep: &Sweep, seed: u64) {
        let label = sweep.label();
        let with = if label.is_empty() { String::new() } else { format!("  {label}") };
        if !with.is_empty() {
            self.sheet.line(&format!("{}{with}", self.sheet.strong(&sweep.target)));
        }
        answer(sweep, seed).write(&mut self.sheet);
        self.sheet.gap();
        self.points(sweep);
        let caveats = caveats(sweep);
        if !self.sheet.shows_details() {
            let notes = match caveats.len() {
                0 => "Curves".to_owned(),
                count => format!("Curves and {}", units::counted(count as u64, "remark")),
            };
            self.sheet.gap();
            return self.sheet.line(&self.sheet.faint(&format!("{notes}: --details")));
        }
        self.sheet.gap();
        facts(sweep).iter().for_each(|(name, text)| self.sheet.field(name, text));
        self.sheet.gap();
        for line in plot::plots(sweep, self.sheet.width(), self.sheet.paint()) {
            self.sheet.line(&line);
        }
        if !caveats.is_empty() {
            self.sheet.gap();
        }
        caveats.iter().for_each(|line| self.sheet.paragraph(line, Some(Tone::Odd)));
    }

    fn points(&mut self, sweep: &Sweep) {
        // A queue that could not be kept full, or an engine that waits.
        let held = |point: &Point| point.iops * point.latency_ns / 1e9;
        let shows_held = sweep.points.iter().any(|point| held(point) < HELD * f64::from(point.depth));
        let xmax = match &sweep.fit.curve {
            Curve::Knee(knee) => Some(knee.xmax.value),
            Curve::Flat { xmax, .. } => Some(xmax.value),
            _ => None,
        };
        let row = |point: &Point| {
            let share = xmax.map_or_else(|| "-".to_owned(), |xmax| percent(point.iops / xmax));
            let in_flight = shows_held.then(|| significant(held(point), 3));
            let figures = [count(point.iops), percent(1.96 * point.error), time(point.latency_ns), share];
            std::iter::once(point.depth.to_string()).chain(in_flight).chain(figures).collect()
        };
        let rows: Vec<Vec<String>> = sweep.points.iter().map(row).collect();
        let names = std::iter::once("depth").chain(shows_held.then_some("in flight"));
        let names = names.chain(["IOPS", "±", "latency", "of Xmax"]);
        let head = names.map(|name| format!("{name:>8}")).collect::<Vec<_>>().join("  ");
        self.sheet.line(&self.sheet.faint(&head));
        for (row, point) in rows.iter().zip(&sweep.points) {
            let width = |at: usize| if shows_held && at == 1 { "in flight".len() } else { 8 };
            let cell = |(at, cell): (usize, &String)| format!("{cell:>0$}", width(at));
            let line = row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
            let at_knee = sweep.knee().is_some_and(|knee| (f64::from(point.depth) / knee).ln().abs() < 0.07);
            self.sheet.line(&if at_knee { format!("{line}  < knee") } else { line });
        }
    }

    fn comparison(&mut self, sweeps: &[Sweep]) {
        self.sheet.gap();
        let head = ["N*", "R0", "Xmax IOPS", "beyond"];
        let row = |sweep: &Sweep| match &sweep.fit.curve {
            Curve::Knee(knee) => [
                depth_words(knee.depth.value),
                time(knee.r0_ns.value),
                count(knee.xmax.value),
                format!("+{}", time(knee.price_ns)),
            ],
            Curve::Flat { xmax, price_ns, depth } => {
                [format!("<= {depth}"), "-".into(), count(xmax.value), format!("+{}", time(*price_ns))]
            }
            Curve::Unsaturated { depth, r0_ns, .. } => {
                [format!("> {depth}"), time(r0_ns.value), "-".into(), "-".into()]
            }
            Curve::PowerLaw { .. } | Curve::Unknown => ["none", "-", "-", "-"].map(str::to_owned),
        };
        let labels: Vec<String> = sweeps.iter().map(Sweep::label).collect();
        let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let line = |label: &str, cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>10}")).collect();
            format!("  {label:<width$}  {}", cells.join("  "))
        };
        self.sheet.line(&self.sheet.faint(&line("", &head.map(str::to_owned))));
        for (label, sweep) in labels.iter().zip(sweeps) {
            self.sheet.line(&line(label, &row(sweep)));
        }
    }
}

/// Returns facts about a curve as labels and texts; the label is empty if a line continues the one above.
pub(crate) fn facts(sweep: &Sweep) -> Vec<(&'static str, String)> {
    let limit = sweep.limit.as_ref().map(|limit| format!(", limited by {limit}")).unwrap_or_default();
    let mut facts = match &sweep.fit.curve {
        Curve::Knee(knee) => knee_facts(knee, sweep, &limit),
        Curve::Flat { xmax, .. } => vec![("Xmax", format!("{} IOPS{limit}", interval(xmax, count)))],
        Curve::Unsaturated { r0_ns, .. } => vec![("R0", format!("{} without queueing", interval(r0_ns, time)))],
        Curve::PowerLaw { exponent, .. } => {
            let figure = |value: f64| significant(value, 3);
            vec![("exponent", format!("{}, as on a hard disk that reorders its queue", interval(exponent, figure)))]
        }
        Curve::Unknown => Vec::new(),
    };
    facts.extend(sweep.burst.as_ref().map(|burst| ("burst", burst_words(burst, sweep.virtual_time))));
    facts
}

fn knee_facts(knee: &Knee, sweep: &Sweep, limit: &str) -> Vec<(&'static str, String)> {
    let corner = if knee.sharpness >= SHARP {
        "saturates abruptly, as a rate limiter does"
    } else if knee.sharpness > 1.0 {
        "saturates gradually, as a queueing device does"
    } else {
        "no distinct knee"
    };
    let mut facts = vec![
        ("R0", format!("{} without queueing", interval(&knee.r0_ns, time))),
        ("Xmax", format!("{} IOPS{limit}", interval(&knee.xmax, count))),
        ("N*", format!("{} = R0 x Xmax, {corner}", interval(&knee.depth, depth_words))),
    ];
    if (knee.depth_by_bounds / knee.depth.value - 1.0).abs() > 0.1 {
        let by_bounds = depth_words(knee.depth_by_bounds);
        facts.push(("", format!("the asymptotes alone put it at {by_bounds}, so it is uncertain")));
    }
    if let Some(depth) = knee.depth_of_95_percent {
        let deepest = sweep.points.last().map_or(0, |point| point.depth);
        facts.push(("95%", format!("of Xmax at depth {depth}, the shallowest measured (up to {deepest})")));
    }
    facts
}

/// Returns caveats about the figures, one paragraph each.
pub(crate) fn caveats(sweep: &Sweep) -> Vec<String> {
    let mut lines = Vec::new();
    let about = SentenceContext { engine: &sweep.engine, path: &sweep.target, ..SentenceContext::default() };
    lines.extend(sweep.findings.iter().map(|finding| words::finding(finding, about)));
    let drifting = |taken: &&ProbeResult| taken.reading.drift.is_some_and(|drift| drift.abs() > 0.05);
    if let Some(taken) = sweep.probes.iter().rev().find(drifting) {
        let change = taken.reading.drift.unwrap_or_default() * 100.0;
        lines.push(format!("IOPS drifted {change:+.0}% during the probe at depth {}.", taken.probe.depth));
    }
    let steps: Vec<&ProbeResult> = sweep.probes.iter().filter(|taken| taken.reading.step.is_some()).collect();
    if let Some(step) = steps.first().and_then(|taken| taken.reading.step) {
        lines.push(format!(
            "{} of {} probes changed level midway (the first from {} to {} IOPS); only the part after counts.",
            steps.len(),
            sweep.probes.len(),
            count(step.before),
            count(step.after)
        ));
    }
    let gone = sweep.probes.iter().filter(|taken| taken.burst).count();
    if gone > 0 {
        lines.push(match gone {
            1 => "1 probe hit a transient burst and was dropped.".to_owned(),
            _ => format!("{gone} probes hit a transient burst and were dropped."),
        });
    }
    let disturbed = sweep.probes.iter().filter(|taken| taken.disturbed).count();
    if disturbed > 0 {
        lines.push(match disturbed {
            1 => "1 probe was slower than the ones before and after it and was dropped.".to_owned(),
            _ => format!("{disturbed} probes were slower than the ones before and after them and were dropped."),
        });
    }
    match sweep.end {
        Some(End::Budget) => lines.push("The interval is wider than --precision; raise --time-limit.".into()),
        Some(End::Enough) => {
            lines.push("The interval is wider than --precision, and more probes would not narrow it.".into());
        }
        None => lines.push("Interrupted: the results so far.".into()),
        _ => {}
    }
    lines.extend(misfit(sweep).map(|words| words::capitalized(&words) + "."));
    lines
}

/// Says that the points are far from the curve.
fn misfit(sweep: &Sweep) -> Option<String> {
    let off = percent(sweep.fit.residual);
    (sweep.fit.residual > 0.1)
        .then(|| format!("points lie {off} off the curve: the model does not fit, or another workload interfered"))
}

/// Formats a value and its interval: `210 [209, 212]`.
fn interval(estimate: &Estimate, words: impl Fn(f64) -> String) -> String {
    let (low, high) = (words(estimate.low), words(estimate.high));
    if low == high {
        return words(estimate.value);
    }
    format!("{} [{low}, {high}]", words(estimate.value))
}

fn burst_words(burst: &SweepBurst, modelled: bool) -> String {
    let lasting = burst.seconds.map_or_else(String::new, |seconds| {
        let lasting = if seconds < 120.0 {
            format!("{} s", significant(seconds, 3))
        } else {
            format!("{} min", significant(seconds / 60.0, 3))
        };
        format!(" for the first {lasting}")
    });
    let why = if modelled {
        "while credits last; all other figures are without them"
    } else {
        "and not again: credits ran out, or another workload interfered; all other figures are sustained"
    };
    format!("{} IOPS{lasting}, {why}", count(burst.iops))
}

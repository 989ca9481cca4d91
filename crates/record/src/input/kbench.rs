//! Reads the summary of kbench, a benchmark of Kubernetes volumes by twelve runs of fio, and its comparison of two.

use super::stated::{StatedLoad, input, result};
use super::text::InputText;
use super::{Input, InputResult};
use units::Problem;

use crate::{DataKind, JobResult, LatencyStats};

/// Reports whether a text contains a summary.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(is_title) && text.lines().any(|line| KbenchTest::of(line).is_some())
}

/// The three tests of kbench, each with random and sequential reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KbenchTest {
    Iops,
    Bandwidth,
    Latency,
}

impl KbenchTest {
    fn of(line: &str) -> Option<Self> {
        let heads = [
            ("IOPS", Self::Iops),
            ("IOPS in ops", Self::Iops),
            ("Bandwidth in KiB/sec", Self::Bandwidth),
            ("Latency in ns", Self::Latency),
        ];
        let head = line.trim().trim_start_matches(['#', ' ']).strip_suffix("(Read/Write)")?.trim_end();
        heads.into_iter().find(|(name, _)| *name == head).map(|(_, test)| test)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Bandwidth => "bandwidth",
            Self::Latency => "latency",
        }
    }
}

/// The summary of a call.
#[derive(Default)]
struct KbenchSummary {
    line: usize,
    /// Names of compared volumes.
    volumes: Vec<String>,
    test: Option<KbenchTest>,
    /// The percentile of which its latencies are; otherwise they are means.
    percentile: Option<f64>,
    jobs: Vec<JobResult>,
    /// Whether a line of a comparison ends before the change.
    is_cut: bool,
}

/// Reads all summaries, each of a call of its own.
pub(super) fn read(text: &InputText) -> Result<Vec<InputResult>, Problem> {
    let mut summaries = vec![KbenchSummary::default()];
    for (index, line) in text.whole_lines() {
        let line = line.trim().trim_start_matches(['#', ' ']);
        if is_title(line) {
            let percentile = percentile(line);
            summaries.push(KbenchSummary { line: index, percentile, ..KbenchSummary::default() });
        } else if let Some(summary) = summaries.last_mut() {
            summary.take(text, index, line)?;
        }
    }
    summaries.retain(|summary| !summary.jobs.is_empty());
    if summaries.is_empty() {
        let what = "the summary is truncated before its first figure";
        return Err(text.cut_off(text.len(), what, "pass the whole kbench summary"));
    }
    let last = summaries.len() - 1;
    let part = |(number, summary): (usize, KbenchSummary)| {
        let cut = text.cut_note().filter(|_| number == last);
        InputResult { line: summary.line + 1, input: summary.input(cut) }
    };
    Ok(summaries.into_iter().enumerate().map(part).collect())
}

impl KbenchSummary {
    fn take(&mut self, text: &InputText, index: usize, line: &str) -> Result<(), Problem> {
        if let Some(of) = line.strip_prefix("For:") {
            self.volumes = of.split(" vs ").map(|name| name.trim().to_owned()).collect();
            return Ok(());
        }
        if let Some(begins) = KbenchTest::of(line) {
            self.test = Some(begins);
            return Ok(());
        }
        let (Some(test), Some((order, values))) = (self.test, line.split_once(':')) else { return Ok(()) };
        let order = order.trim().to_ascii_lowercase();
        if !matches!(order.as_str(), "random" | "sequential") {
            return Ok(());
        }
        // A comparison has a second pair, and the change in percent behind another colon.
        let is_comparison = self.volumes.len() > 1;
        let (values, has_change) = values.split_once(':').map_or((values, false), |(values, _)| (values, true));
        let mut pairs: Vec<&str> = values.split(" vs ").collect();
        if is_comparison && !has_change {
            pairs.pop();
            self.is_cut = true;
        }
        for (of, pair) in pairs.into_iter().enumerate() {
            let volume = if is_comparison { self.volumes.get(of).map(String::as_str) } else { None };
            for (kind, value) in [DataKind::Read, DataKind::Write].into_iter().zip(pair.split('/')) {
                let Some(value) = number(value) else {
                    let what = format!("`{}` is not a number as printed by kbench", value.trim());
                    return Err(text.error(index, line, what, "pass the whole kbench summary"));
                };
                let job = self.of_figure(test, &order, kind, value, volume);
                self.jobs.extend(job);
            }
        }
        Ok(())
    }

    fn of_figure(
        &self,
        test: KbenchTest,
        order: &str,
        kind: DataKind,
        value: f64,
        volume: Option<&str>,
    ) -> Option<JobResult> {
        let number = self.jobs.len();
        let name = format!("{order} {} {}", kind.name(), test.name());
        let name = volume.map_or_else(|| name.clone(), |volume| format!("{volume}: {name}"));
        let rw = if order == "random" { format!("rand{}", kind.name()) } else { kind.name().to_owned() };
        // Only one operation is in flight where latency is measured.
        let depth = (test == KbenchTest::Latency).then_some(1);
        let load = StatedLoad { rw, depth, block_bytes: None };
        // Each test is a run of its own.
        let mut job = result(&name, u32::try_from(number).unwrap_or(u32::MAX), number, &load);
        let none = LatencyStats::default();
        match test {
            _ if value <= 0.0 => return None,
            KbenchTest::Iops => job.set_rate(kind, value, 0.0, None, none),
            KbenchTest::Bandwidth => job.set_rate(kind, 0.0, value * 1024.0, None, none),
            KbenchTest::Latency => {
                let latency = match self.percentile {
                    Some(percent) => LatencyStats { quoted: vec![(percent, value as u64)], ..LatencyStats::default() },
                    None => LatencyStats { mean_ns: value, ..LatencyStats::default() },
                };
                job.declared.percentiles.extend(self.percentile);
                job.set_count(kind, 1, 0, LatencyStats { count: 1, ..latency });
            }
        }
        Some(job)
    }

    fn input(self, cut: Option<String>) -> Input {
        let mut notes =
            vec!["kbench runs one test after another, and prints no block sizes, depths or times".to_owned()];
        let has = |test: &KbenchTest| self.jobs.iter().any(|job| job.name.ends_with(test.name()));
        let all = [KbenchTest::Iops, KbenchTest::Bandwidth, KbenchTest::Latency];
        let missing: Vec<&str> = all.into_iter().filter(|test| !has(test)).map(KbenchTest::name).collect();
        if !missing.is_empty() {
            notes.push(format!("the summary lacks figures of: {}", missing.join(", ")));
        }
        if self.is_cut {
            notes.push("a line of the comparison is truncated, and its last figures are ignored".to_owned());
        }
        notes.extend(cut);
        input("kbench", self.jobs, &notes)
    }
}

/// Reports whether a line is the title of a summary, in kbench's own spelling.
fn is_title(line: &str) -> bool {
    line.contains("FIO Benchmark ") && line.contains("Summary")
}

/// Parses a number such as `98,368`.
fn number(text: &str) -> Option<f64> {
    let digits: String = text.trim().chars().filter(|c| *c != ',').collect();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    digits.parse().ok().filter(|value: &f64| is_number && *value < 1e15)
}

/// Returns the percentile in a title such as `FIO Benchmark Latency P99 Summary`.
fn percentile(title: &str) -> Option<f64> {
    title.split_whitespace().find_map(|word| word.strip_prefix('P')?.parse().ok())
}

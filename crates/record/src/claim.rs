//! Figures of a claim: `iops=10000,lat=3ms,qd=4,jobs=4,bs=4k`, or columns of `iostat -x`:
//! `r/s=3500,r_await=1.00,aqu-sz=3.5`.
//!
//! A claim is as exact as its digits, so each figure carries its step. Decimal and binary units differ. Ambiguous units
//! such as `40M` for throughput are refused instead of guessed.

mod keys;
mod value;

use std::fmt;
use std::ops::Range;

use keys::ClaimKey;
use units::{Place, Problem, ProblemCode};

/// Source of claims in diagnostics.
const SOURCE: &str = "--claim";

/// Figures that a user claims about a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// Operations per second.
    pub iops: Option<Claimed>,
    /// Mean latency in nanoseconds.
    pub latency_ns: Option<Claimed>,
    /// Latency percentiles in the order of the claim, in percent and nanoseconds.
    pub percentiles_ns: Vec<(f64, Claimed)>,
    /// Operations in flight for each job.
    pub depth: Option<Claimed>,
    pub jobs: Option<Claimed>,
    /// Bytes of an operation.
    pub block_bytes: Option<Claimed>,
    /// Bytes per second.
    pub bytes_per_second: Option<Claimed>,
    /// Fraction of reads, from 0 to 1.
    pub read_share: Option<Claimed>,
    /// CPUs that were kept busy.
    pub cpus: Option<Claimed>,
    /// CPUs of the virtual machine.
    pub vcpus: Option<Claimed>,
    /// Measured time in nanoseconds.
    pub time_ns: Option<Claimed>,
    /// `rw`, by fio's name.
    pub rw: Option<&'static str>,
    /// `iostat` columns of reads.
    pub reads: ClaimedKind,
    /// `iostat` columns of writes.
    pub writes: ClaimedKind,
    /// Mean request size of reads and writes in bytes (`areq-sz`, formerly `avgrq-sz`).
    pub request_bytes: Option<Claimed>,
    /// Mean number of requests in flight (`aqu-sz`, formerly `avgqu-sz`).
    pub in_flight: Option<Claimed>,
    /// Fraction of time with at least one request in flight, from 0 to 1 (`%util`).
    pub busy: Option<Claimed>,
    /// Utilization over rate, in nanoseconds (`svctm` of old versions).
    pub service_ns: Option<Claimed>,
    /// Keys and values as written, without whitespace.
    written: Vec<(String, String)>,
}

/// `iostat` columns of one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClaimedKind {
    /// Requests per second (`r/s`).
    pub per_second: Option<Claimed>,
    /// Bytes per second (`rkB/s`).
    pub bytes_per_second: Option<Claimed>,
    /// Mean request time in nanoseconds (`r_await`).
    pub await_ns: Option<Claimed>,
    /// Mean request size in bytes (`rareq-sz`).
    pub request_bytes: Option<Claimed>,
}

/// One figure of a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claimed {
    /// Value, or lower end of a range.
    pub min: f64,
    /// Value, or upper end of a range.
    pub max: f64,
    /// Unit of the last digit; zero for counts and sizes, which are exact. At least a fifth of an approximation with
    /// `~`, which stands for ten percent up and down.
    pub step: f64,
    /// Whether the unit was binary (`MiB`).
    pub binary: bool,
    /// Column of its first character, from 1.
    pub column: usize,
    /// Length in characters.
    pub length: usize,
}

impl Claimed {
    /// Returns the middle of the claimed range.
    #[must_use]
    pub fn value(&self) -> f64 {
        f64::midpoint(self.min, self.max)
    }

    /// Returns the least value that the claim may mean.
    #[must_use]
    pub fn low(&self) -> f64 {
        (self.min - self.step / 2.0).max(0.0)
    }

    /// Returns the greatest value that the claim may mean.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.max + self.step / 2.0
    }
}

impl Claim {
    /// Parses a claim of comma-separated `key=value` pairs. Ranges are `2.7ms-3.2ms` or `2.7-3.2ms`, approximations
    /// `~10k`.
    ///
    /// # Errors
    ///
    /// Returns all problems with their columns.
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        let mut claim = Self::default();
        let mut problems = Vec::new();
        let line = if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text.to_owned() };
        let whole = Place {
            source: SOURCE.into(),
            line: 1,
            column: 1,
            length: line.chars().count(),
            text: line.as_str().into(),
        };
        let mut seen: Vec<String> = Vec::new();
        for part in parts(&line) {
            let place = whole.part(part.column - 1, part.text.chars().count());
            match read_part(part, &place, &seen) {
                Ok((key, value)) => {
                    seen.push(key.name());
                    claim.set(key, value);
                    claim.written.extend(part.text.split_once('=').map(|(key, value)| (compact(key), compact(value))));
                }
                Err(problem) => problems.push(problem),
            }
        }
        let mut percentiles = claim.percentiles_ns.clone();
        percentiles.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let is_above = |pair: &&[(f64, Claimed)]| pair[0].1.low() > pair[1].1.high();
        if let Some(&[(low, first), (high, _)]) = percentiles.windows(2).find(is_above) {
            let place = whole.part(first.column - 1, first.length);
            let message = format!("p{low} exceeds p{high}, which is impossible");
            problems
                .push(problem(message, "check both: they may be swapped, or one may have a different unit").at(place));
        }
        if problems.is_empty() && seen.is_empty() {
            problems.push(problem("the claim is empty", format!("write {EXAMPLE}")).at(whole));
        }
        if problems.is_empty() { Ok(claim) } else { Err(problems) }
    }

    fn set(&mut self, key: ClaimKey, value: value::ClaimValue) {
        match (key, value) {
            (_, value::ClaimValue::Word(word)) => self.rw = Some(word),
            (ClaimKey::Percentile(percent), value::ClaimValue::Number(number)) => {
                self.percentiles_ns.push((percent, number));
            }
            (ClaimKey::Figure(figure), value::ClaimValue::Number(number)) => *(figure.to)(self) = Some(number),
            (ClaimKey::Rw, value::ClaimValue::Number(_)) => {}
        }
    }
}

/// Formats the claim as written, without whitespace.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.written.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{key}={value}")?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Claim {
    type Err = Vec<Problem>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// Returns an error of a claim, and what to do about it.
fn problem(what: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem::error(ProblemCode::Claim, what).help(help)
}

const EXAMPLE: &str = "`iops=10k,lat=3ms,qd=32,jobs=4,bs=4k`";

fn compact(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A trimmed pair and the column of its first character.
#[derive(Clone, Copy, Debug)]
struct ClaimPart<'a> {
    text: &'a str,
    column: usize,
}

fn parts(line: &str) -> impl Iterator<Item = ClaimPart<'_>> {
    let part = |range: Range<usize>| {
        let text = &line[range.start..range.end];
        let begin = range.start + text.len() - text.trim_start().len();
        ClaimPart { text: text.trim(), column: line[..begin].chars().count() + 1 }
    };
    let mut starts = vec![0];
    starts.extend(line.char_indices().filter(|(at, c)| *c == ',' && !is_in_number(line, *at)).map(|(at, _)| at + 1));
    // Blanks also separate pairs.
    starts.extend(line.match_indices(' ').map(|(at, _)| at + 1).filter(|at| begins_pair(&line[*at..])));
    starts.sort_unstable();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([line.len()]).collect();
    let parts: Vec<ClaimPart<'_>> = starts.into_iter().zip(ends).map(|(start, end)| part(start..end)).collect();
    // A trailing comma is allowed.
    parts
        .into_iter()
        .map(|part| ClaimPart { text: part.text.trim_end_matches(',').trim_end(), ..part })
        .filter(|part| !part.text.is_empty())
}

/// Reports whether a comma stands between digits of one number, as in `0,5ms`: what follows is no pair.
fn is_in_number(line: &str, at: usize) -> bool {
    let rest = &line[at + 1..];
    let next = &rest[..rest.find(',').unwrap_or(rest.len())];
    line[..at].ends_with(|c: char| c.is_ascii_digit())
        && next.starts_with(|c: char| c.is_ascii_digit())
        && !next.contains('=')
}

/// Reports whether a text begins with a key and its sign, without a blank between them.
fn begins_pair(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    word.split_once('=').is_some_and(|(key, _)| !key.is_empty() && !key.contains(','))
}

fn read_part(part: ClaimPart<'_>, place: &Place, seen: &[String]) -> Result<(ClaimKey, value::ClaimValue), Problem> {
    let Some((name, text)) = part.text.split_once('=') else {
        let digits = part.text.starts_with(|c: char| c.is_ascii_digit());
        let remedy = if digits {
            "write numbers without commas: `10000`, `2.7ms`".to_owned()
        } else {
            format!("separate pairs with commas: {EXAMPLE}")
        };
        return Err(problem(format!("`{}` is not key=value", part.text), remedy).at(place.clone()));
    };
    let length = |text: &str| text.chars().count();
    let key_place = place.part(0, length(name.trim_end()));
    let (key, unit) = ClaimKey::named(name.trim()).map_err(|problem| problem.at(key_place.clone()))?;
    if seen.contains(&key.name()) {
        return Err(problem(format!("duplicate key `{}`", key.name()), "specify it once").at(key_place));
    }
    let before = length(name) + 1 + length(text) - length(text.trim_start());
    let text = text.trim();
    let value_place = place.part(before, length(text));
    let span = (value_place.column, value_place.length);
    value::read(key, unit, text, span).map(|value| (key, value)).map_err(|problem| problem.at(value_place))
}

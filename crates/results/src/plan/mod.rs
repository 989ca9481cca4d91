//! Purchase plans, for a need and for a trace, and their documents.

pub mod current;
pub mod document;
pub mod needs;
pub mod trace;

use jiff::civil::Date;
use plan::replay::{ReplayBounds, ReplayResult, ReplayedCandidate};
use plan::workload::LoadDoubt;
use plan::{Candidate, Need, PlannedMachine, Ranking};

/// A plan with everything that its formats print.
#[derive(Clone, Debug)]
pub struct PlanResult {
    /// What the volumes must sustain.
    pub need: Need,
    /// How the need was derived from a workload or a file, one line per element.
    pub derivation: Vec<String>,
    /// Why the measured load is not the need.
    pub doubt: Option<LoadDoubt>,
    /// All volumes that were considered.
    pub candidates: Vec<Candidate>,
    /// Candidates that meet the need, by price and latency.
    pub ranking: Ranking,
    /// The cheapest volume for twice the rate.
    pub next_step: Option<Candidate>,
    /// The best candidate with more of what limits it; of plans with a machine.
    pub lift: Option<Candidate>,
    /// The cheapest volume for each further year of growth, the second first; `None` where none sustains it.
    pub years: Vec<Option<Candidate>>,
    /// The cheapest volume without headroom, if none meets the need with it.
    pub without_headroom: Option<Candidate>,
    /// Machine types that suffice for the best and the fastest candidate, by candidate index.
    pub machines: Vec<(usize, Vec<PlannedMachine>)>,
    /// Seed of the simulations.
    pub seed: u64,
    /// Whether simulations confirmed the candidates.
    pub is_simulated: bool,
    /// Date of today, for the age of figures; `None` if it does not matter.
    pub today: Option<String>,
}

impl PlanResult {
    /// Returns the age of a candidate's price, or of its figures if the price has no date.
    #[must_use]
    pub fn age(&self, candidate: &Candidate) -> Option<FigureAge> {
        let today = self.today.as_ref()?.parse().ok()?;
        let of_price = candidate.price.as_ref().map(|money| &money.price.source.date);
        of_price.into_iter().chain([&candidate.about.as_of]).find_map(|date| FigureAge::of(date, today))
    }

    /// Returns the candidates that meet the need, in the order of the ranking.
    pub fn meeting(&self) -> impl Iterator<Item = &Candidate> {
        self.ranking.meeting.iter().map(|index| &self.candidates[*index])
    }

    /// Returns the candidates that meet the need by an assumed latency alone, in the order of the ranking.
    pub fn may_meet(&self) -> impl Iterator<Item = &Candidate> + Clone {
        self.ranking.may_meet.iter().map(|index| &self.candidates[*index])
    }

    /// Returns the candidates that do not meet the need, in the order of the ranking.
    pub fn missing(&self) -> impl Iterator<Item = &Candidate> + Clone {
        self.ranking.missing.iter().map(|index| &self.candidates[*index])
    }

    /// Returns the machine types that suffice for a candidate.
    #[must_use]
    pub fn machines_of(&self, index: usize) -> &[PlannedMachine] {
        self.machines.iter().find(|(known, _)| *known == index).map_or(&[], |(_, machines)| machines)
    }
}

/// Age of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureAge {
    pub days: i32,
    /// Whether its date has a day; otherwise the age is that of the first day of its month or year.
    pub is_exact: bool,
}

impl FigureAge {
    /// Age in days from which figures should be renewed.
    pub const OLD: i32 = 180;

    /// Returns the age of a date at the beginning of a text: `2026-11-30`, `2026-11`, `2026 (undated)`.
    fn of(date: &str, today: Date) -> Option<Self> {
        let end = date.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(date.len());
        let mut parts = date[..end].split('-').map(str::parse::<i16>);
        let year = parts.next()?.ok()?;
        let [month, day] = [12, 31].map(|most| parts.next()?.ok().filter(|part| (1..=most).contains(part)));
        let part = |part: Option<i16>| part.and_then(|part| i8::try_from(part).ok()).unwrap_or(1);
        let date =
            Date::new(year, part(month), part(day.and(month).and(day))).ok().filter(|date| date.year() >= 1970)?;
        Some(Self { days: (today - date).get_days(), is_exact: day.and(month).is_some() })
    }
}

/// A plan for a trace with everything that its formats print.
#[derive(Clone, Debug)]
pub struct TracePlanResult {
    /// The trace, and what of it was replayed.
    pub trace: PlannedTrace,
    /// Requirements beside latencies.
    pub need: Need,
    /// Bounds on latencies.
    pub bounds: ReplayBounds,
    /// All volumes that were considered.
    pub candidates: Vec<ReplayedCandidate>,
    /// Candidates that meet the need, by price and the bounded percentile.
    pub ranking: Ranking,
    /// The cheapest volume for twice the load.
    pub next_step: Option<ReplayedCandidate>,
    /// Provisioned values are at most this fraction above the smallest sufficient ones.
    pub resolution: f64,
    /// Seed of the replays.
    pub seed: u64,
}

/// A trace, and what of it was replayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedTrace {
    /// Name of its file.
    pub name: String,
    /// Program or format from which it comes.
    pub source: String,
    pub requests: u64,
    /// Time from its first to its last issue, in seconds.
    pub secs: f64,
    /// What was replayed.
    pub replayed: PlannedPart,
    /// Whether each request waited for the completion that its process had waited for.
    pub is_closed: bool,
    /// Whether the instants and offsets of its requests are assumed, because only means over intervals are known.
    pub is_derived: bool,
    /// Service times on the device from which it comes, in seconds: median, 99th and 99.9th percentile.
    pub service_secs: Option<[f64; 3]>,
    /// What is left out or missing, and other remarks, one sentence each.
    pub notes: Vec<String>,
}

/// The replayed part of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannedPart {
    /// Start and end in seconds since the start of the trace; `None` for all of it.
    pub secs: Option<(f64, f64)>,
    /// Reads, writes and discards.
    pub requests: u64,
    /// Requests per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_sec: f64,
    /// Fraction of reads.
    pub read_share: f64,
}

impl TracePlanResult {
    /// Returns the candidates that meet the need, in the order of the ranking.
    pub fn meeting(&self) -> impl Iterator<Item = &ReplayedCandidate> + Clone {
        self.ranking.meeting.iter().map(|index| &self.candidates[*index])
    }

    /// Returns the candidates that meet the need by an assumed latency alone, in the order of the ranking.
    pub fn may_meet(&self) -> impl Iterator<Item = &ReplayedCandidate> + Clone {
        self.ranking.may_meet.iter().map(|index| &self.candidates[*index])
    }

    /// Returns the candidates that do not meet the need, in the order of the ranking.
    pub fn missing(&self) -> impl Iterator<Item = &ReplayedCandidate> + Clone {
        self.ranking.missing.iter().map(|index| &self.candidates[*index])
    }

    /// Returns the first candidates of the ranking that meet the need, or may, with their replays.
    pub fn foremost(&self, most: usize) -> impl Iterator<Item = (&ReplayedCandidate, &ReplayResult)> + Clone {
        let all = self.meeting().chain(self.may_meet());
        all.filter_map(|one| Some((one, one.outcome.as_ref()?))).take(most)
    }

    /// Returns how many replays the search took.
    #[must_use]
    pub fn replays(&self) -> u32 {
        self.candidates.iter().chain(&self.next_step).map(|one| one.replays).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_those_of_dates_of_any_precision() {
        let today = Date::constant(2026, 11, 30);
        for (date, age) in [
            ("2026-11-30", Some((0, true))),
            ("2025-03-06", Some((634, true))),
            ("2024-02-29 / 2025", Some((1_005, true))),
            ("2026-05-27 / 2026-09-22", Some((187, true))),
            ("2026-09", Some((90, false))),
            ("2026 (undated)", Some((333, false))),
            ("2025-2026", Some((698, false))),
            ("2027-01-01", Some((-32, true))),
            ("2026-02-30", None),
            ("about 2019", None),
            ("", None),
            ("12", None),
        ] {
            let found = FigureAge::of(date, today).map(|age| (age.days, age.is_exact));
            assert_eq!(found, age, "{date}");
        }
    }
}

//! Parses fault rates: `eio=0.001,stall=0.0001:2s,torn=0.1%,lost=1e-6,disconnect=1e-6`.

use std::fmt;

use units::{Nanos, Place, Problem, ProblemCode};
use volume::catalogue::{QuantityKind, quantity};

use super::FaultKind;

/// Probability of each fault per operation, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaultRates {
    /// Reads and writes that fail with `EIO`.
    pub eio: f64,
    /// Flushes that fail with `EIO`.
    pub flush_eio: f64,
    /// Writes that fail with `ENOSPC`.
    pub enospc: f64,
    /// Writes of which only the first sectors are written.
    pub torn: f64,
    /// Writes that succeed and change nothing.
    pub lost: f64,
    /// Reads that return one flipped bit.
    pub corrupt: f64,
    /// Operations that disconnect the client.
    pub disconnect: f64,
    /// Operations that complete late.
    pub stall: Stall,
    /// Flushes that complete late.
    pub flush_stall: Stall,
}

/// Delay of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stall {
    /// Probability per operation.
    pub chance: f64,
    /// Delay of completion.
    pub time: Nanos,
}

/// Remedy for malformed pairs.
const REMEDY: &str = "use, for example, eio=0.001,stall=0.0001:2s,torn=0.001,lost=0.001,disconnect=1e-6";

impl FaultRates {
    /// Parses comma-separated `key=chance` pairs; a stall has its duration after a colon. A chance is a number up to 1
    /// or a percentage.
    ///
    /// # Errors
    /// Every problem, each with its position in a text called `name`.
    pub fn parse(name: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let mut rates = Self::default();
        let mut problems = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        let mut at = 0;
        for part in text.split(',') {
            if let Err(wrong) = rates.set(part, &mut seen) {
                let start = at + wrong.skip;
                problems.push(wrong.problem.at(Place::of_text(name, text, start..at + part.len())));
            }
            at += part.len() + 1;
        }
        if problems.is_empty() { Ok(rates) } else { Err(problems) }
    }

    /// Returns the faults that [`super::FaultyStore`] injects.
    #[must_use]
    pub fn in_store(self) -> Self {
        self.only(FaultKind::is_of_store)
    }

    /// Returns the faults that the server injects.
    #[must_use]
    pub fn in_server(self) -> Self {
        self.only(|kind| !kind.is_of_store())
    }

    fn only(mut self, wanted: impl Fn(FaultKind) -> bool) -> Self {
        FaultKind::ALL.into_iter().filter(|kind| !wanted(*kind)).for_each(|kind| *self.chance_mut(kind) = 0.0);
        // Ignores the duration of a stall that never happens.
        for stall in [&mut self.stall, &mut self.flush_stall] {
            *stall = if stall.chance > 0.0 { *stall } else { Stall::default() };
        }
        self
    }

    /// Returns the probability of a fault.
    #[inline]
    #[must_use]
    pub const fn chance(&self, kind: FaultKind) -> f64 {
        let mut rates = *self;
        *rates.chance_mut(kind)
    }

    const fn chance_mut(&mut self, kind: FaultKind) -> &mut f64 {
        match kind {
            FaultKind::Eio => &mut self.eio,
            FaultKind::FlushEio => &mut self.flush_eio,
            FaultKind::Enospc => &mut self.enospc,
            FaultKind::Torn => &mut self.torn,
            FaultKind::Lost => &mut self.lost,
            FaultKind::Corrupt => &mut self.corrupt,
            FaultKind::Stall => &mut self.stall.chance,
            FaultKind::FlushStall => &mut self.flush_stall.chance,
            FaultKind::Disconnect => &mut self.disconnect,
        }
    }

    /// Returns the delay of a fault, if it is one.
    const fn time(&self, kind: FaultKind) -> Option<Nanos> {
        match kind {
            FaultKind::Stall => Some(self.stall.time),
            FaultKind::FlushStall => Some(self.flush_stall.time),
            _ => None,
        }
    }

    fn set<'t>(&mut self, part: &'t str, seen: &mut Vec<&'t str>) -> Result<(), RateError> {
        let malformed = || RateError::new(0, format!("`{part}` is not key=probability"), REMEDY);
        let (key, value) = part.split_once('=').ok_or_else(malformed)?;
        if seen.contains(&key) {
            return Err(RateError::new(0, format!("duplicate fault `{key}`"), "specify it once"));
        }
        seen.push(key);
        let skip = key.len() + 1;
        let Some(kind) = FaultKind::ALL.into_iter().find(|kind| kind.name() == key) else {
            return Err(unknown(key));
        };
        match kind {
            FaultKind::Stall => self.stall = stall(key, value, skip)?,
            FaultKind::FlushStall => self.flush_stall = stall(key, value, skip)?,
            _ => *self.chance_mut(kind) = chance(value, skip)?,
        }
        Ok(())
    }
}

/// Writes what [`FaultRates::parse`] reads; `none` if there are no faults.
impl fmt::Display for FaultRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for kind in FaultKind::ALL.into_iter().filter(|kind| self.chance(*kind) > 0.0) {
            write!(f, "{separator}{}={}", kind.name(), self.chance(kind))?;
            if let Some(time) = self.time(kind) {
                write!(f, ":{}", exact(time))?;
            }
            separator = ",";
        }
        if separator.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

/// Formats a duration without rounding.
fn exact(time: Nanos) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let fits = |unit: &&(u64, &str)| time.get().is_multiple_of(unit.0);
    let (size, unit) = units.iter().find(fits).copied().unwrap_or((1, "ns"));
    format!("{}{unit}", time.get() / size)
}

fn unknown(key: &str) -> RateError {
    let names = FaultKind::ALL.map(FaultKind::name);
    let remedy = match units::closest(key, names.into_iter()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", names.join(", ")),
    };
    RateError::new(0, format!("unknown fault `{key}`"), remedy)
}

/// A problem in a pair, from byte `skip` on.
struct RateError {
    skip: usize,
    problem: Problem,
}

impl RateError {
    fn new(skip: usize, what: String, help: impl Into<String>) -> Self {
        Self { skip, problem: Problem::error(ProblemCode::Serve, what).help(help) }
    }
}

fn stall(key: &str, value: &str, skip: usize) -> Result<Stall, RateError> {
    let example = format!("{key}=0.0001:2s");
    let Some((often, time)) = value.split_once(':') else {
        let message = format!("`{value}` has no duration");
        return Err(RateError::new(skip, message, format!("use probability:duration, for example {example}")));
    };
    let at = skip + often.len() + 1;
    let ns = quantity(time, QuantityKind::Duration)
        .map_err(|problem| RateError::new(at, problem.what, format!("use, for example, {example}")))?;
    Ok(Stall { chance: chance(often, skip)?, time: Nanos::new(ns.round() as u64) })
}

fn chance(text: &str, skip: usize) -> Result<f64, RateError> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    let remedy = "use a number from 0 to 1, or a percentage up to 100%";
    let wrong = || RateError::new(skip, format!("`{text}` is not a probability"), remedy);
    number.ok().filter(|chance| (0.0..=1.0).contains(chance)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_all_faults() {
        let rates =
            FaultRates::parse("--faults", "eio=0.001,stall=0.0001:2s,torn=0.1%,lost=2%,disconnect=1e-6").unwrap();
        let stall = Stall { chance: 0.0001, time: Nanos::from_secs(2) };
        assert_eq!(
            rates,
            FaultRates { eio: 0.001, torn: 0.001, lost: 0.02, disconnect: 1e-6, stall, ..FaultRates::default() }
        );
        let (store, server) = (rates.in_store(), rates.in_server());
        assert_eq!((store.eio, store.torn, store.disconnect, store.stall.chance), (0.001, 0.001, 0.0, 0.0));
        assert_eq!((store.lost, server.lost), (0.02, 0.0));
        assert_eq!((store.stall, server.stall), (Stall::default(), stall));
        assert_eq!((server.eio, server.torn, server.disconnect, server.stall), (0.0, 0.0, 1e-6, stall));
    }

    #[test]
    fn printed_rates_parse_to_the_same() {
        let text = "eio=0.001,flush_eio=1,enospc=0.25,torn=0.5,lost=0.02,corrupt=0.125,stall=0.0001:2s,\
                    flush_stall=1:1500us,disconnect=0.000001";
        let rates = FaultRates::parse("--faults", text).unwrap();
        assert_eq!(rates.to_string(), text);
        assert_eq!(FaultRates::default().to_string(), "none");
        assert!(FaultKind::ALL.into_iter().all(|kind| rates.chance(kind) > 0.0));
    }

    #[test]
    fn reports_every_problem_with_its_place_and_a_remedy() {
        let cases = [
            ("eio", 0..3, "is not key="),
            ("", 0..0, "is not key="),
            ("eio=2", 4..5, "not a probability"),
            ("eio=NaN", 4..7, "not a probability"),
            ("torn=-1%", 5..8, "not a probability"),
            ("eio=0,eio=1", 6..11, "duplicate fault"),
            ("fire=1", 0..6, "unknown fault `fire`"),
            ("flush_stall=1", 12..13, "has no duration"),
            ("corupt=1", 0..8, "unknown fault `corupt`"),
            ("torn=0,stall=0.1", 13..16, "has no duration"),
            ("stall=0.1:2", 10..11, "has no unit"),
            ("stall=x:2s", 6..10, "not a probability"),
        ];
        for (text, at, message) in cases {
            let problems = FaultRates::parse("--faults", text).unwrap_err();
            assert_eq!(
                (
                    problems.len(),
                    problems[0].place.clone().map(|place| place.column - 1..place.column - 1 + place.length)
                ),
                (1, Some(at)),
                "{text}"
            );
            assert!(problems[0].what.contains(message) && problems[0].help.is_some(), "{}", problems[0]);
        }
        assert_eq!(FaultRates::parse("--faults", "x=1,eio=,y").unwrap_err().len(), 3);
    }
}

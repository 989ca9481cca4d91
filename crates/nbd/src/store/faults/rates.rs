//! Which faults were asked for: `eio=0.001,stall=0.0001:2s,torn=0.1%,lost=1e-6,disconnect=1e-6`.

use units::Nanos;
use volume::catalogue::{Measure, Problem, Text, quantity};

/// How often each fault happens: the chance of an operation, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Reads and writes that fail with `EIO`.
    pub eio: f64,
    /// Writes of which only the first sectors are done.
    pub torn: f64,
    /// Writes that succeed and change nothing.
    pub lost: f64,
    /// Operations on which the connection is lost.
    pub disconnect: f64,
    /// Operations that end late.
    pub stall: Stall,
}

/// Operations that end late.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stall {
    /// How often.
    pub chance: f64,
    /// By how much.
    pub time: Nanos,
}

/// What is said of any key that is none.
const REMEDY: &str = "write, for example, eio=0.001,stall=0.0001:2s,torn=0.001,lost=0.001,disconnect=1e-6";

impl Rates {
    /// Reads `key=chance` pairs with commas between them, a stall with the time it takes behind a colon. A chance is a
    /// number up to 1 or a percentage.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        let mut rates = Self::default();
        let mut problems = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        let mut at = 0;
        for part in text.split(',') {
            if let Err(wrong) = rates.set(part, &mut seen) {
                let start = at + wrong.skip;
                problems.push(Problem {
                    message: wrong.message,
                    place: Text::new("--faults", text),
                    at: start..at + part.len(),
                    remedy: Some(wrong.remedy.into()),
                });
            }
            at += part.len() + 1;
        }
        if problems.is_empty() { Ok(rates) } else { Err(problems) }
    }

    /// The part of them that [`super::Faulty`] carries out.
    #[must_use]
    pub fn in_store(self) -> Self {
        Self { eio: self.eio, torn: self.torn, lost: self.lost, ..Self::default() }
    }

    /// The part of them that is up to whoever answers clients.
    #[must_use]
    pub fn in_server(self) -> Self {
        Self { disconnect: self.disconnect, stall: self.stall, ..Self::default() }
    }

    fn set<'t>(&mut self, part: &'t str, seen: &mut Vec<&'t str>) -> Result<(), Wrong> {
        let (key, value) =
            part.split_once('=').ok_or_else(|| Wrong::new(0, format!("`{part}` is not of the form key=chance")))?;
        if seen.contains(&key) {
            return Err(Wrong { remedy: "give it once", ..Wrong::new(0, format!("`{key}` is given twice")) });
        }
        seen.push(key);
        let skip = key.len() + 1;
        let to = match key {
            "eio" => &mut self.eio,
            "torn" => &mut self.torn,
            "lost" => &mut self.lost,
            "disconnect" => &mut self.disconnect,
            "stall" => {
                self.stall = stall(value, skip)?;
                return Ok(());
            }
            _ => return Err(Wrong::new(0, format!("there is no fault `{key}`"))),
        };
        *to = chance(value, skip)?;
        Ok(())
    }
}

/// What is wrong with a pair, behind its first `skip` bytes.
struct Wrong {
    skip: usize,
    message: String,
    remedy: &'static str,
}

impl Wrong {
    fn new(skip: usize, message: String) -> Self {
        Self { skip, message, remedy: REMEDY }
    }
}

fn stall(value: &str, skip: usize) -> Result<Stall, Wrong> {
    let Some((often, time)) = value.split_once(':') else {
        let message = format!("`{value}` does not say how long it stalls");
        return Err(Wrong { remedy: "write chance and time, as in stall=0.0001:2s", ..Wrong::new(skip, message) });
    };
    let at = skip + often.len() + 1;
    let ns = quantity(time, Measure::Duration)
        .map_err(|message| Wrong { remedy: "write, for example, stall=0.0001:2s", ..Wrong::new(at, message) })?;
    Ok(Stall { chance: chance(often, skip)?, time: Nanos::new(ns.round() as u64) })
}

fn chance(text: &str, skip: usize) -> Result<f64, Wrong> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    number.ok().filter(|chance| (0.0..=1.0).contains(chance)).ok_or_else(|| Wrong {
        remedy: "write a number from 0 to 1, or a percentage up to 100%",
        ..Wrong::new(skip, format!("`{text}` is not a chance"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_read() {
        let rates = Rates::parse("eio=0.001,stall=0.0001:2s,torn=0.1%,lost=2%,disconnect=1e-6").unwrap();
        let stall = Stall { chance: 0.0001, time: Nanos::from_secs(2) };
        assert_eq!(rates, Rates { eio: 0.001, torn: 0.001, lost: 0.02, disconnect: 1e-6, stall });
        let (store, server) = (rates.in_store(), rates.in_server());
        assert_eq!((store.eio, store.torn, store.disconnect, store.stall.chance), (0.001, 0.001, 0.0, 0.0));
        assert_eq!((store.lost, server.lost), (0.02, 0.0));
        assert_eq!((server.eio, server.torn, server.disconnect, server.stall), (0.0, 0.0, 1e-6, stall));
    }

    #[test]
    fn everything_that_is_wrong_is_told_with_its_place_and_a_remedy() {
        let cases = [
            ("eio", 0..3, "not of the form"),
            ("", 0..0, "not of the form"),
            ("eio=2", 4..5, "not a chance"),
            ("eio=NaN", 4..7, "not a chance"),
            ("torn=-1%", 5..8, "not a chance"),
            ("eio=0,eio=1", 6..11, "given twice"),
            ("fire=1", 0..6, "no fault `fire`"),
            ("torn=0,stall=0.1", 13..16, "how long"),
            ("stall=0.1:2", 10..11, "has no unit"),
            ("stall=x:2s", 6..10, "not a chance"),
        ];
        for (text, at, message) in cases {
            let problems = Rates::parse(text).unwrap_err();
            assert_eq!((problems.len(), problems[0].at.clone()), (1, at), "{text}");
            assert!(problems[0].message.contains(message) && problems[0].remedy.is_some(), "{}", problems[0]);
        }
        assert_eq!(Rates::parse("x=1,eio=,y").unwrap_err().len(), 3);
    }
}

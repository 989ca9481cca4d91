//! Outcomes of tests, from the lines that the guest sends.
//!
//! Each test sends `@begin NAME`, its output, and `@end NAME CODE SECONDS`, or `@killed NAME` at its time limit; the last line is `@done`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Result, ensure};

use super::cases::GuestCase;

/// Exit code of a test whose requirements the guest lacks.
const SKIPPED: u32 = 77;

#[derive(Clone, Debug, PartialEq, Eq)]
enum GuestOutcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Outcomes of the tests so far.
pub(super) struct Report {
    names: Vec<String>,
    outcomes: BTreeMap<String, GuestOutcome>,
    printed: Vec<String>,
    has_lines: bool,
    was_killed: bool,
}

impl Report {
    pub(super) fn new(cases: &[GuestCase]) -> Self {
        println!("\nrunning {} guest tests", cases.len());
        let names = cases.iter().map(GuestCase::name).collect();
        Self { names, outcomes: BTreeMap::new(), printed: Vec::new(), has_lines: false, was_killed: false }
    }

    /// Reports whether a test has ended.
    pub(super) fn has(&self, case: &GuestCase) -> bool {
        self.outcomes.contains_key(&case.name())
    }

    /// Reports whether the guest has reached its script.
    pub(super) fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Reports whether a test was killed at its time limit since the last call.
    pub(super) fn take_killed(&mut self) -> bool {
        std::mem::take(&mut self.was_killed)
    }

    /// Handles a line of the guest.
    pub(super) fn line(&mut self, line: &str) {
        self.has_lines = true;
        if line.starts_with("@begin ") {
            self.printed.clear();
        } else if let Some(rest) = line.strip_prefix("@end ") {
            let words: Vec<&str> = rest.split(' ').collect();
            let [name, code, seconds] = words.as_slice() else { return };
            let outcome = match code.parse::<u32>() {
                Ok(0) => GuestOutcome::Passed,
                Ok(SKIPPED) => GuestOutcome::Skipped(self.printed.last().cloned().unwrap_or_default()),
                _ => GuestOutcome::Failed(format!("exit code {code} after {seconds} s\n{}", self.printed.join("\n"))),
            };
            self.end(name, &format!(" ({seconds} s)"), outcome);
        } else if line.starts_with("@killed ") {
            self.was_killed = true;
        } else if !line.starts_with('@') {
            self.printed.push(line.to_owned());
        }
    }

    fn end(&mut self, name: &str, took: &str, outcome: GuestOutcome) {
        let text = match &outcome {
            GuestOutcome::Passed => format!("ok{took}"),
            GuestOutcome::Failed(_) => format!("FAILED{took}"),
            GuestOutcome::Skipped(reason) => format!("skipped: {reason}"),
        };
        println!("test guest::{name} ... {text}");
        self.outcomes.insert(name.to_owned(), outcome);
    }

    /// Reports all tests as skipped.
    pub(super) fn skip_all(mut self, reason: &str) -> Result<ExitCode> {
        for name in self.names.clone() {
            self.end(&name, "", GuestOutcome::Skipped(reason.to_owned()));
        }
        self.finish("")
    }

    /// Prints the failures and counts. A test without outcome has failed.
    pub(super) fn finish(mut self, console: &str) -> Result<ExitCode> {
        let missing = self.names.iter().filter(|name| !self.outcomes.contains_key(*name)).cloned().collect::<Vec<_>>();
        if !missing.is_empty() {
            println!("the guest ended early:\n{}\nconsole:\n{console}", self.printed.join("\n"));
        }
        for name in missing {
            self.end(&name, "", GuestOutcome::Failed("the guest ended before it".to_owned()));
        }
        let strict = std::env::var_os("FATHOM_NO_SKIP").is_some_and(|value| value == "1");
        let (mut failed, mut skipped) = (Vec::new(), 0);
        for (name, outcome) in &self.outcomes {
            match outcome {
                GuestOutcome::Passed => {}
                GuestOutcome::Failed(why) => failed.push(format!("---- guest::{name}: {why}")),
                GuestOutcome::Skipped(why) if strict => failed.push(format!("---- guest::{name} was skipped: {why}")),
                GuestOutcome::Skipped(_) => skipped += 1,
            }
        }
        let passed = self.outcomes.len() - failed.len() - skipped;
        println!();
        failed.iter().for_each(|text| println!("{text}\n"));
        println!("guest result: {passed} passed; {} failed; {skipped} skipped\n", failed.len());
        ensure!(failed.is_empty(), "{} guest tests failed", failed.len());
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(lines: &[&str]) -> Report {
        let mut report = Report {
            names: vec!["a::one".into()],
            outcomes: BTreeMap::new(),
            printed: Vec::new(),
            has_lines: false,
            was_killed: false,
        };
        lines.iter().for_each(|line| report.line(line));
        report
    }

    #[test]
    fn a_test_without_outcome_has_failed() {
        assert!(report(&["@begin a::one", "some words"]).finish("panic").is_err());
        assert!(report(&["@begin a::one", "@end a::one 0 1"]).finish("").is_ok());
        assert!(report(&["@begin a::one", "@end a::one 1 1"]).finish("").is_err());
    }

    #[test]
    fn a_failure_shows_only_the_output_of_its_test() {
        let report =
            report(&["@begin a::zero", "of before", "@end a::zero 0 1", "@begin a::one", "why", "@end a::one 1 3"]);
        assert_eq!(report.outcomes["a::one"], GuestOutcome::Failed("exit code 1 after 3 s\nwhy".into()));
    }

    #[test]
    fn a_skipped_test_has_a_reason() {
        let report = report(&["@begin a::one", "no such module", "@end a::one 77 0"]);
        assert_eq!(report.outcomes["a::one"], GuestOutcome::Skipped("no such module".into()));
    }
}

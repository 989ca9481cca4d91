//! Results of suites: measured figures step by step, beside published and modelled ones.

mod procedure;
mod text;

pub use procedure::{preview, procedure_markdown, procedure_text, suites_markdown, suites_text};
pub(crate) use text::{NEAR, facts, figure_name, findings, footnotes, printed, shown, table};
pub use text::{markdown, text};

#[cfg(test)]
mod tests {
    use analyse::Severity;
    use results::suite::{StoredFinding, SuiteOutcome, SuiteResult, SuiteStep};

    use super::*;

    /// Regression: suites of many steps ended with one paragraph per step, most of them equal but for their figures.
    #[test]
    fn steps_with_the_same_finding_are_listed_together() {
        let step = |name: &str, severity, text: &str| {
            let findings = vec![StoredFinding { severity, code: String::new(), text: text.to_owned() }];
            let measured = Some(SuiteOutcome::Done { values: Vec::new(), findings });
            SuiteStep { name: name.to_owned(), measured, ..SuiteStep::default() }
        };
        let document = SuiteResult {
            target: Some("data".to_owned()),
            steps: vec![
                step("a", Severity::Info, "The limit is IOPS: it held 9.0% back."),
                step("b", Severity::Advice, "The limit is IOPS: it held 9.0% back."),
                step("c", Severity::Info, "The limit is IOPS: it held 8.0% back."),
                step("d", Severity::Info, "16.7k IOPS with the queue full: 4 in flight."),
                step("e", Severity::Info, "1.2k IOPS with the queue full: 4 in flight."),
                step("w", Severity::Advice, "Latency sets the pace: 4 in flight. Set iodepth=32."),
                step("x", Severity::Advice, "Latency sets the pace: 64 in flight. Set iodepth=113."),
                step("y", Severity::Advice, "Latency sets the pace: 5 in flight. Set iodepth=32."),
                step("f", Severity::Distrust, "Nothing was verified: the runtime was over."),
                step("g", Severity::Distrust, "Nothing was verified: it failed."),
                step("h", Severity::Info, "The rate was kept."),
                step("i", Severity::Info, "The rate was kept."),
            ],
            ..SuiteResult::default()
        };
        let found = text::findings(&document);
        let said: Vec<(&str, &str)> = found.iter().map(|(steps, _, text)| (steps.as_str(), text.as_str())).collect();
        assert_eq!(
            said,
            [
                ("a, c", "The limit is IOPS: it held 9.0% back. (Figures of a.)"),
                ("b", "The limit is IOPS: it held 9.0% back."),
                ("d, e", "16.7k IOPS with the queue full: 4 in flight. (Figures of d.)"),
                ("w, y", "Latency sets the pace: 4 in flight. Set iodepth=32. (Figures of w.)"),
                ("x", "Latency sets the pace: 64 in flight. Set iodepth=113."),
                ("f", "Nothing was verified: the runtime was over."),
                ("g", "Nothing was verified: it failed."),
                ("h, i", "The rate was kept."),
            ]
        );
    }
}

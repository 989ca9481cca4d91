//! The words of jobs, told apart but not understood.

use std::fmt::Write;

use crate::Dialect;
use crate::arguments;

/// Words of a command line that name jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Which of them are job files, as indices.
    pub files: Vec<usize>,
    /// Whether a job is named beside them.
    pub has_jobs: bool,
    /// What the others say, as a job file would.
    pub text: String,
}

impl Words {
    /// Tells `args` apart, which are such as [`crate::parse_job_arguments`] takes.
    #[must_use]
    pub fn of(args: &[String], dialect: Dialect) -> Self {
        let arguments = arguments::read(args, dialect, false);
        let mut text = String::new();
        for job in arguments.jobs.jobs.iter().filter(|job| !job.global || !job.options.is_empty()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{}]", if job.global { "global" } else { &job.title });
            for option in job.options.iter().filter(|option| option.key != "name") {
                let _ = match &option.value {
                    Some(value) => writeln!(text, "{}={value}", option.key),
                    None => writeln!(text, "{}", option.key),
                };
            }
        }
        let has_jobs = arguments.jobs.jobs.iter().any(|job| !job.global);
        Self { files: arguments.file_words, has_jobs, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Around, Nowhere, parse_file_text, parse_job_arguments};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn files_are_told_from_values() {
        let of = |text: &str| Words::of(&words(text), Dialect::Strict);
        assert_eq!(of("a.fio --bs 4k - --time_based b.fio").files, [0, 3, 5]);
        assert_eq!(of("--name a --rw read -- --c.fio").files, [5]);
        assert!(of("a.fio --name=b").has_jobs && !of("a.fio --bs=4k").has_jobs);
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_jobs() {
        let line = words("--direct=1 --name=a --rw randread --bs=4k,8k --name=b --size=1m --time_based --runtime=3");
        let text = Words::of(&line, Dialect::Strict).text;
        assert!(text.starts_with("[global]\ndirect=1\n[a]\nrw=randread\nbs=4k,8k\n[b]\n"), "{text}");
        let around = Around::default();
        let plan = parse_job_arguments(&line, &[], &around, Dialect::Strict, &Nowhere).into_result().unwrap().0;
        let again = parse_file_text("job.fio", text.as_bytes(), Dialect::Strict, &Nowhere).into_result().unwrap().0;
        let jobs = |plan: &crate::Plan| {
            plan.jobs.iter().map(|job| (job.name.clone(), job.pattern.clone(), job.extent.clone())).collect::<Vec<_>>()
        };
        assert_eq!(jobs(&plan), jobs(&again));
    }
}

//! Separates the job files and job options of a command line.

use std::fmt::Write;

use crate::{Dialect, arguments};

/// The job files and job options of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobWords {
    /// Indices of the arguments that are job files.
    pub files: Vec<usize>,
    /// Whether the command line also defines jobs.
    pub has_jobs: bool,
    /// The other arguments as text of a job file.
    pub text: String,
    /// Options that apply to every job of the files, one line each.
    imposed: Vec<String>,
}

impl JobWords {
    /// Separates `args` as [`crate::parse_job_arguments`] takes them.
    #[must_use]
    pub fn of(args: &[String], dialect: Dialect) -> Self {
        let arguments = arguments::read(args, dialect, false);
        let (mut text, mut imposed) = (String::new(), Vec::new());
        for job in arguments.jobs.jobs.iter().filter(|job| !job.global || !job.options.is_empty()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{}]", if job.global { "global" } else { &job.title });
            for option in job.options.iter().filter(|option| option.key != "name") {
                let line = option.line();
                let _ = writeln!(text, "{line}");
                imposed.extend(Some(line).filter(|_| job.global));
            }
        }
        let has_jobs = arguments.jobs.jobs.iter().any(|job| !job.global);
        Self { files: arguments.file_words, has_jobs, text, imposed }
    }

    /// Appends the options that apply to every job to each job of a file's text.
    #[must_use]
    pub fn imposed_on(&self, file: &str) -> String {
        let (mut written, mut section): (Vec<&str>, Option<usize>) = (Vec::new(), None);
        for line in file.lines() {
            if let Some(title) = line.trim_start().strip_prefix('[') {
                self.end_section(&mut written, section);
                section = (!title.starts_with("global")).then_some(written.len());
            }
            written.push(line);
        }
        self.end_section(&mut written, section);
        written.iter().flat_map(|line| [line, "\n"]).collect()
    }

    /// Adds these options after the last line of the section that began at `begin`.
    fn end_section<'a>(&'a self, written: &mut Vec<&'a str>, begin: Option<usize>) {
        let Some(begin) = begin else { return };
        let blank = written[begin..].iter().rev().take_while(|line| line.trim().is_empty()).count();
        let at = written.len() - blank;
        written.splice(at..at, self.imposed.iter().map(String::as_str));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EmptySource, HostSource, InjectedOptions, parse_file_text, parse_job_arguments};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn files_are_distinguished_from_values() {
        let of = |text: &str| JobWords::of(&words(text), Dialect::Strict);
        assert_eq!(of("a.fio --bs 4k - --time_based b.fio").files, [0, 3, 5]);
        assert_eq!(of("--name a --rw read -- --c.fio").files, [5]);
        assert!(of("a.fio --name=b").has_jobs && !of("a.fio --bs=4k").has_jobs);
    }

    #[test]
    fn command_line_options_apply_to_every_job_of_a_file_and_survive_writing() {
        struct Disk;
        impl HostSource for Disk {
            fn read(&self, _: &str) -> Result<Vec<u8>, units::Problem> {
                Ok(FILE.into())
            }
            fn variable(&self, _: &str) -> Option<String> {
                None
            }
            fn page_size_bytes(&self) -> u64 {
                EmptySource.page_size_bytes()
            }
            fn memory_mib(&self) -> u64 {
                EmptySource.memory_mib()
            }
            fn cpus(&self) -> u64 {
                EmptySource.cpus()
            }
        }
        const FILE: &str =
            "[global]\nsize=1m\nruntime=3\n\n[a]\nbs=8k\n\n[global]\nnumjobs=2\n[b]\nruntime=5\nrw=write";
        let line = words("--runtime=1 s.fio --bs=16k --time_based --name=c --rw=randread --size=2m");
        let parsed = parse_job_arguments(&line, &[], &InjectedOptions::default(), Dialect::Strict, &Disk);
        let notes: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
        let shown = |plan: &crate::Plan| {
            let of = |job: &crate::Job| format!("{} {:?} {:?}", job.name, job.pattern, job.extent);
            plan.jobs.iter().filter(|job| job.name != "c").map(of).collect::<Vec<_>>()
        };
        let words = JobWords::of(&line, Dialect::Strict);
        let written = words.imposed_on(FILE);
        assert_eq!(
            written,
            "[global]\nsize=1m\nruntime=3\n\n[a]\nbs=8k\nruntime=1\nbs=16k\ntime_based\n\n[global]\nnumjobs=2\n[b]\nruntime=5\n\
             rw=write\nruntime=1\nbs=16k\ntime_based\n"
        );
        let again =
            parse_file_text("job.fio", written.as_bytes(), Dialect::Strict, &EmptySource).into_result().unwrap().0;
        assert_eq!(shown(&parsed.into_result().unwrap().0), shown(&again));
        assert_eq!(notes.len(), 3, "{notes:?}");
        for note in [
            "`--runtime=1` replaces `runtime=3` of s.fio:3",
            "`--bs=16k` replaces `bs=8k` of s.fio:6",
            "`--runtime=1` replaces `runtime=5` of s.fio:11",
        ] {
            assert!(notes.iter().any(|message| message.contains(note)), "{note} is not in {notes:?}");
        }
    }

    #[test]
    fn written_text_parses_to_the_same_jobs() {
        let line = words("--direct=1 --name=a --rw randread --bs=4k,8k --name=b --size=1m --time_based --runtime=3");
        let text = JobWords::of(&line, Dialect::Strict).text;
        assert!(text.starts_with("[global]\ndirect=1\n[a]\nrw=randread\nbs=4k,8k\n[b]\n"), "{text}");
        let around = InjectedOptions::default();
        let plan = parse_job_arguments(&line, &[], &around, Dialect::Strict, &EmptySource).into_result().unwrap().0;
        let again = parse_file_text("job.fio", text.as_bytes(), Dialect::Strict, &EmptySource).into_result().unwrap().0;
        let jobs = |plan: &crate::Plan| {
            plan.jobs.iter().map(|job| (job.name.clone(), job.pattern.clone(), job.extent.clone())).collect::<Vec<_>>()
        };
        assert_eq!(jobs(&plan), jobs(&again));
    }
}

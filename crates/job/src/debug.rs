//! Subjects of which `--debug` prints what happens.

/// A subject that `--debug` traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugSubject {
    /// Starts and ends of workers.
    Process,
    /// Files of workers.
    File,
    /// Operations.
    Io,
    /// Verified blocks, and the verification of each worker.
    Verify,
    /// Options as they were read.
    Parse,
    /// Scheduled operations and their lateness.
    Rate,
}

impl DebugSubject {
    /// All subjects.
    pub const ALL: [Self; 6] = [Self::Process, Self::File, Self::Io, Self::Verify, Self::Parse, Self::Rate];

    /// Returns fio's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::File => "file",
            Self::Io => "io",
            Self::Verify => "verify",
            Self::Parse => "parse",
            Self::Rate => "rate",
        }
    }
}

/// Subjects of `--debug`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugOptions {
    /// Subjects to trace.
    pub subjects: Vec<DebugSubject>,
    /// The only worker to trace, from zero; `None` for all.
    pub worker: Option<usize>,
    /// Given words for which nothing is printed: subjects of fio's internals, and unknown ones.
    pub silent: Vec<String>,
    /// Whether to list the subjects instead of a run.
    pub lists: bool,
}

impl DebugOptions {
    /// Reports whether lines about this subject are wanted of a worker.
    #[must_use]
    pub fn wants(&self, subject: DebugSubject, worker: usize) -> bool {
        self.subjects.contains(&subject) && self.worker.is_none_or(|only| only == worker)
    }
}

/// Returns the names of the subjects of which something is printed, separated by commas.
#[must_use]
pub fn debug_subjects() -> String {
    DebugSubject::ALL.map(DebugSubject::name).into_iter().chain(["job:N", "all"]).collect::<Vec<_>>().join(",")
}

/// Reads the list of `--debug`. As in fio, words that are unknown do not keep the jobs from running.
pub(crate) fn read(debug: &mut DebugOptions, text: &str) {
    for word in text.split(',') {
        // fio takes a number after any name and uses that of `job`.
        let (name, number) = word.split_once(':').unwrap_or((word, ""));
        let subject = DebugSubject::ALL.into_iter().find(|subject| subject.name() == name);
        match (name, subject) {
            ("all", _) => debug.subjects = DebugSubject::ALL.to_vec(),
            ("help" | "?", _) => debug.lists = true,
            ("job", _) if number.parse::<usize>().is_ok() => debug.worker = number.parse().ok(),
            (_, Some(subject)) if !debug.subjects.contains(&subject) => debug.subjects.push(subject),
            (_, Some(_)) => {}
            (_, None) => debug.silent.push(word.to_owned()),
        }
    }
}

//! Subjects of which `--debug` prints what happens.

use crate::read::Findings;

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

/// Names of fio's subjects, in its order. Those of its own internals have nothing to trace here.
const SUBJECTS: [(&str, Option<DebugSubject>); 18] = [
    ("process", Some(DebugSubject::Process)),
    ("file", Some(DebugSubject::File)),
    ("io", Some(DebugSubject::Io)),
    ("mem", None),
    ("blktrace", None),
    ("verify", Some(DebugSubject::Verify)),
    ("random", None),
    ("parse", Some(DebugSubject::Parse)),
    ("diskutil", None),
    ("mutex", None),
    ("profile", None),
    ("time", None),
    ("net", None),
    ("rate", Some(DebugSubject::Rate)),
    ("compress", None),
    ("steadystate", None),
    ("helperthread", None),
    ("zbd", None),
];

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

/// What `--debug` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugOptions {
    /// Subjects to trace.
    pub subjects: Vec<DebugSubject>,
    /// The only worker to trace, from zero; `None` for all.
    pub worker: Option<usize>,
    /// Given subjects of which nothing can be traced.
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

/// Returns the names of all subjects, separated by commas.
#[must_use]
pub fn debug_subjects() -> String {
    let traced = SUBJECTS.iter().filter(|(_, subject)| subject.is_some());
    traced.map(|(name, _)| *name).chain(["job:N", "all"]).collect::<Vec<_>>().join(",")
}

/// Reads the list of `--debug`.
pub(crate) fn read(debug: &mut DebugOptions, text: &str, findings: &mut Findings) {
    let mut at = 0;
    for word in text.split(',') {
        let place = at..at + word.len();
        at = place.end + 1;
        // fio takes a number after any name and uses that of `job`.
        let (name, number) = word.split_once(':').map_or((word, None), |(name, number)| (name, Some(number)));
        match (name, SUBJECTS.iter().find(|(known, _)| *known == name)) {
            ("all", _) => debug.subjects = DebugSubject::ALL.to_vec(),
            ("help" | "?", _) => debug.lists = true,
            ("job", _) => match number.and_then(|number| number.parse().ok()) {
                Some(number) => debug.worker = Some(number),
                None => {
                    let problem = findings.fault(place, "unknown-value", "`job` needs the number of a job");
                    problem.remedy("write for example `job:0` for the first one");
                }
            },
            (_, Some((_, Some(subject)))) if !debug.subjects.contains(subject) => debug.subjects.push(*subject),
            (_, Some((_, Some(_)))) => {}
            (_, Some((_, None))) => debug.silent.push(name.to_owned()),
            (_, None) => {
                let problem = findings.fault(place, "unknown-value", format!("nothing is called `{word}` here"));
                problem.remedy(format!("one or more of {}", debug_subjects()));
            }
        }
    }
}

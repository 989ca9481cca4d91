//! Options of the engine `exec`.

use units::Nanos;

/// Program that a job runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOptions {
    /// The program; empty if the job does not name one (`program`).
    pub path: String,
    /// Its arguments, separated by blanks; `%r` stands for the runtime in seconds, `%n` for the name of the job
    /// (`arguments`).
    pub arguments: String,
    /// Time between SIGTERM and SIGKILL (`grace_time`).
    pub grace: Nanos,
    /// Output goes to files (`std_redirect`).
    pub redirects: bool,
    /// The job lasts for its runtime although the program has ended.
    pub outlasts_program: bool,
}

impl ProgramOptions {
    /// Returns the arguments of a job of this name and runtime, as fio passes them: it knows no quotes, and splits names
    /// with blanks.
    #[must_use]
    pub fn words(&self, name: &str, runtime: Nanos) -> Vec<String> {
        let seconds = (runtime.get() / 1_000_000_000).to_string();
        let text = self.arguments.replace("%r", &seconds).replace("%n", name);
        text.split_ascii_whitespace().map(str::to_owned).collect()
    }
}

impl Default for ProgramOptions {
    fn default() -> Self {
        let (path, arguments) = (String::new(), String::new());
        Self { path, arguments, grace: Nanos::from_secs(1), redirects: true, outlasts_program: false }
    }
}

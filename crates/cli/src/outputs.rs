//! Results as bytes, to standard output and to files.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use analyse::Verdict;
use record::Run;
use report::Style;
use report::fio::{self, Options};

use crate::args::Format;
use crate::exit::Exit;
use crate::terminal::{Terminal, tell, why};

/// A file for results, opened before the run so that a bad path is found before time is spent.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    kind: Kind,
    file: File,
}

/// What a file holds, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Json,
    Csv,
    Markdown,
    Text,
    OpenMetrics,
    FioJson,
}

const ENDINGS: [(&str, Kind); 6] = [
    // Before `.json`, which it ends with too.
    (".fio.json", Kind::FioJson),
    (".json", Kind::Json),
    (".csv", Kind::Csv),
    (".md", Kind::Markdown),
    (".txt", Kind::Text),
    (".prom", Kind::OpenMetrics),
];

impl Output {
    /// Opens `path` for results.
    ///
    /// # Errors
    ///
    /// An ending that stands for nothing, or the system's refusal.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let name = path.to_string_lossy();
        let Some((_, kind)) = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)) else {
            let known: Vec<&str> = ENDINGS.iter().map(|(ending, _)| *ending).collect();
            return Err(format!("--output {name}: the ending says what to write: use one of {}", known.join(" ")));
        };
        let file = File::create(path).map_err(|error| format!("--output {name}: {}", why(&error)))?;
        Ok(Self { path: path.to_owned(), kind: *kind, file })
    }

    /// Writes the results.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write(&mut self, run: &Run, verdicts: &[Verdict]) -> Result<(), String> {
        let text = match self.kind {
            Kind::Json => report::json(run, verdicts),
            Kind::Csv => report::csv(run),
            Kind::Markdown => report::markdown(run, verdicts),
            Kind::Text => report::text(run, verdicts, Style { width: 100, colour: false }),
            Kind::OpenMetrics => report::open_metrics(run),
            Kind::FioJson => fio::document(run, &[fio::Format::JsonPlus], Options::default()),
        };
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(|error| format!("--output {}: {}", self.path.display(), why(&error)))
    }
}

/// What standard output carries.
pub(crate) fn document(run: &Run, verdicts: &[Verdict], format: Format, terminal: Terminal) -> String {
    let fio = |format| fio::document(run, &[format], Options::default());
    match format {
        Format::Text => report::text(run, verdicts, Style { width: terminal.width, colour: terminal.colour }),
        Format::Json => report::json(run, verdicts),
        Format::Fio => fio(fio::Format::Normal),
        Format::FioJson => fio(fio::Format::Json),
        Format::FioJsonPlus => fio(fio::Format::JsonPlus),
        Format::FioTerse => fio(fio::Format::Terse),
    }
}

/// Prints results. Somebody who has stopped reading (`fathom run … | head`) is no error.
///
/// # Errors
///
/// Any other refusal of the system: the results are lost.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Prints words that were asked for instead of results.
pub(crate) fn say(text: &str) -> Exit {
    match print(text) {
        Ok(()) => Exit::Good,
        Err(error) => {
            tell(&format!("fathom: standard output: {error}\n"));
            Exit::Environment
        }
    }
}

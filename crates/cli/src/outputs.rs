//! Writes results to standard output and files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::gate::{ResultFile, claim_output};
use report::{ResultDocument, ResultFormat, SheetStyle};
use units::{Problem, ProblemCode};

use crate::args::{Details, RunCommandOptions};
use crate::exit::Exit;
use crate::rank;
use crate::terminal::Terminal;

/// A result file, opened before the run so that a bad path is reported before time is spent.
#[derive(Debug)]
pub(crate) struct Output {
    /// The option that named it.
    option: &'static str,
    path: PathBuf,
    format: ResultFormat,
    file: ResultFile,
}

/// Layout of text in files.
pub(crate) const IN_FILES: SheetStyle = SheetStyle { width: 100, colour: false, details: true };

fn format_of(path: &Path, among: &[ResultFormat]) -> Result<ResultFormat, Problem> {
    ResultFormat::of_file(path, among).map_err(|problem| problem.of(format_args!("--output {}", path.display())))
}

/// Enters files of `--output` into the register of outputs, so that checks of jobs know them before they are opened.
/// Fails if another option names one of them, under any name.
pub(crate) fn claim(paths: &[PathBuf]) -> Result<(), Problem> {
    if rank::is_silent() {
        return Ok(());
    }
    if let Some((_, twice)) = paths.iter().enumerate().find(|(index, path)| paths[..*index].contains(path)) {
        let what = format!("--output {}: given twice", twice.display());
        return Err(Problem::error(ProblemCode::Output, what).help("give each file once"));
    }
    paths.iter().try_for_each(|path| claim_as("--output", path))
}

/// Does the same for the file of one option.
pub(crate) fn claim_as(option: &str, path: &Path) -> Result<(), Problem> {
    let owner = format!("{option} {}", path.display());
    claim_output(path, &owner).map_err(|denied| denied.of_output(owner))
}

impl Output {
    /// Opens result files, each in a format among `known`. Their content stays until results are written. Fails on an
    /// unknown extension, a file that another option names or a system error.
    pub(crate) fn open(paths: &[PathBuf], known: &[ResultFormat]) -> Result<Vec<Self>, Problem> {
        let formats = paths.iter().map(|path| format_of(path, known)).collect::<Result<Vec<_>, _>>()?;
        claim(paths)?;
        if rank::is_silent() {
            return Ok(Vec::new());
        }
        paths.iter().zip(formats).map(|(path, format)| Self::create(path, format, "--output")).collect()
    }

    /// Opens a file for JUnit XML, whatever its extension.
    pub(crate) fn junit(path: &Path) -> Result<Self, Problem> {
        claim_as("--junit", path)?;
        Self::create(path, ResultFormat::Junit, "--junit")
    }

    fn create(path: &Path, format: ResultFormat, option: &'static str) -> Result<Self, Problem> {
        let file =
            ResultFile::open(path).map_err(|denied| denied.of_output(format_args!("{option} {}", path.display())))?;
        Ok(Self { option, path: path.to_owned(), format, file })
    }

    /// Writes a result.
    pub(crate) fn write(&mut self, document: ResultDocument<'_>) -> Result<(), Problem> {
        let text = document.render(self.format, IN_FILES);
        let written = self.file.write(text.as_bytes());
        let subject = format_args!("{} {}", self.option, self.path.display());
        written.map_err(|error| engine::io_problem(ProblemCode::File, subject, &error))
    }
}

/// Writes a result to every file, then prints `text`: the reader of standard output may have stopped without closing
/// it.
pub(crate) fn deliver_and_print(files: &mut [Output], text: &str, document: ResultDocument<'_>) -> Exit {
    let errors = files.iter_mut().filter_map(|file| file.write(document).err());
    let file_error = errors.map(Exit::environment).last();
    let printed = print_text(text);
    file_error.unwrap_or(printed)
}

/// Writes a result to every file, and prints it in a format.
pub(crate) fn deliver_as(
    files: &mut [Output],
    document: ResultDocument<'_>,
    format: ResultFormat,
    details: Details,
) -> Exit {
    deliver_and_print(files, &printed(document, format, details), document)
}

/// Renders a result for standard output.
pub(crate) fn printed(document: ResultDocument<'_>, format: ResultFormat, details: Details) -> String {
    document.render(format, Terminal::stdout().style(details.details))
}

/// Opens result files of a grid. Refuses options of single runs.
pub(crate) fn open_for_grid(options: &RunCommandOptions) -> Result<Vec<Output>, Problem> {
    let of_one_run = [
        ("--events", options.events.is_some()),
        ("--live", options.live),
        ("--metrics", options.common.metrics.is_some()),
    ];
    if let Some((option, _)) = of_one_run.iter().find(|(_, given)| *given) {
        let what = format!("{option}: not available for a sweep, whose points run in parallel");
        return Err(Problem::error(ProblemCode::Arguments, what).help("omit it"));
    }
    if options.repeat.is_some() {
        return Err(Problem::error(ProblemCode::Arguments, "--repeat: not available together with --vary")
            .help("omit one of the two"));
    }
    open_for_many(options, "a sweep")
}

/// Opens result files of several runs, which errors call `what`. Refuses formats of single runs.
pub(crate) fn open_for_many(options: &RunCommandOptions, what: &str) -> Result<Vec<Output>, Problem> {
    if !matches!(options.format, ResultFormat::Text | ResultFormat::Json) {
        return Err(Problem::error(ProblemCode::Arguments, format!("--format: {what} is printed as text or json")));
    }
    let of_one_run = |path: &&PathBuf| {
        matches!(format_of(path, ResultFormat::OF_RUN), Ok(ResultFormat::OpenMetrics | ResultFormat::FioJsonPlus))
    };
    match options.output.iter().find(of_one_run) {
        Some(path) => {
            let what = format!("--output {}: {what} is written as .json .csv .md .txt .html", path.display());
            Err(Problem::error(ProblemCode::Output, what))
        }
        None => Output::open(&options.output, ResultFormat::OF_RUN),
    }
}

/// Prints text, escaping control characters of foreign origin. A closed pipe (`fathom run … | head`) is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    write_stdout(&report::escape::terminal(text, Terminal::stdout().colour))
}

/// Prints a line that the next one overwrites. Fails as [`print`] does.
pub(crate) fn print_over(line: &str) -> io::Result<()> {
    write_stdout(&format!("{}\r", units::printable(line)))
}

fn write_stdout(text: &str) -> io::Result<()> {
    if rank::is_silent() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints what clap has to say, where clap wants it. Fails as [`print`] does.
pub(crate) fn print_help(help: &clap::Error) -> io::Result<()> {
    if rank::is_silent() {
        return Ok(());
    }
    unless_closed(help.print().and_then(|()| io::stdout().flush()))
}

fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Prints text, and an error if that fails.
pub(crate) fn print_text(text: &str) -> Exit {
    print(text).map_or_else(|error| Exit::environment(unprinted(&error)), |()| Exit::Good)
}

/// Describes why standard output could not be written.
pub(crate) fn unprinted(error: &io::Error) -> Problem {
    engine::io_problem(ProblemCode::File, "standard output", error)
}

//! Writes results to standard output and files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use analyse::Verdict;
use engine::gate::ResultFile;
use record::Run;
use report::Shown;
use report::fio::{self, FioOptions};
use report::html::PageSubject;
use report::plan::PlanReport;
use report::serve::ServerStats;
use report::{Diagnosis, Explained, GridPoint, RepeatsDocument, SheetStyle};

use crate::args::{Format, RunCommandOptions};
use crate::exit::Exit;
use crate::terminal::{Terminal, tell};
use engine::describe;

/// A file for results, opened before the run so that a bad path is found before time is spent.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    kind: OutputKind,
    file: ResultFile,
}

/// Content of an output file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Json,
    Csv,
    Markdown,
    Text,
    OpenMetrics,
    FioJson,
    Svg,
    Junit,
    Html,
}

const ENDINGS: [(&str, OutputKind); 8] = [
    // Before `.json`, which it ends with too.
    (".fio.json", OutputKind::FioJson),
    (".json", OutputKind::Json),
    (".csv", OutputKind::Csv),
    (".md", OutputKind::Markdown),
    (".txt", OutputKind::Text),
    (".prom", OutputKind::OpenMetrics),
    (".svg", OutputKind::Svg),
    (".html", OutputKind::Html),
];

/// Text layout in files.
pub(crate) const IN_FILES: SheetStyle = SheetStyle { width: 100, colour: false };

/// Formats of server statistics.
pub(crate) const OF_A_SERVER: &[OutputKind] = &[OutputKind::Json, OutputKind::Text, OutputKind::OpenMetrics];
/// Formats of a run.
pub(crate) const OF_A_RUN: &[OutputKind] = &[
    OutputKind::FioJson,
    OutputKind::Json,
    OutputKind::Csv,
    OutputKind::Markdown,
    OutputKind::Text,
    OutputKind::OpenMetrics,
    OutputKind::Html,
];
/// Formats of several runs.
const OF_RUNS: &[OutputKind] =
    &[OutputKind::Csv, OutputKind::Markdown, OutputKind::Text, OutputKind::OpenMetrics, OutputKind::Html];
/// Formats of a sweep.
pub(crate) const OF_A_SWEEP: &[OutputKind] =
    &[OutputKind::Json, OutputKind::Csv, OutputKind::Text, OutputKind::Svg, OutputKind::Html];
/// Formats of a suite.
pub(crate) const OF_A_SUITE: &[OutputKind] =
    &[OutputKind::Json, OutputKind::Markdown, OutputKind::Text, OutputKind::Html];
/// Formats of mixed results.
const OF_ALL: &[OutputKind] = &[OutputKind::Text, OutputKind::Html];
/// Formats of a plan.
pub(crate) const OF_A_PLAN: &[OutputKind] =
    &[OutputKind::Json, OutputKind::Csv, OutputKind::Markdown, OutputKind::Text, OutputKind::Svg, OutputKind::Html];
/// Formats of a comparison.
pub(crate) const OF_A_COMPARISON: &[OutputKind] =
    &[OutputKind::Json, OutputKind::Csv, OutputKind::Markdown, OutputKind::Text, OutputKind::Html];
/// Formats of a diagnosis or an explanation.
pub(crate) const DOCUMENTS: &[OutputKind] = &[OutputKind::Json, OutputKind::Markdown, OutputKind::Text];

/// Returns the content of a file of this name, which must be one of `among`.
fn kind(path: &Path, among: &[OutputKind]) -> Result<OutputKind, String> {
    let name = path.to_string_lossy();
    match ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)) {
        Some((_, kind)) if among.contains(kind) => Ok(*kind),
        _ => {
            let usable = ENDINGS.iter().filter(|(_, kind)| among.contains(kind));
            let known: Vec<&str> = usable.map(|(ending, _)| *ending).collect();
            Err(format!("--output {name}: the ending says what to write: use one of {}", known.join(" ")))
        }
    }
}

impl Output {
    /// Opens files for results, each of a kind among `known`; what is in them stays until there are results.
    ///
    /// # Errors
    ///
    /// An ending that stands for nothing, a name given twice, or the system's refusal.
    pub(crate) fn open(paths: &[PathBuf], known: &[OutputKind]) -> Result<Vec<Self>, String> {
        let kinds = paths.iter().map(|path| kind(path, known)).collect::<Result<Vec<_>, _>>()?;
        if let Some((_, twice)) = paths.iter().enumerate().find(|(index, path)| paths[..*index].contains(path)) {
            return Err(format!("--output {}: it is given twice: give each file once", twice.display()));
        }
        paths.iter().zip(kinds).map(|(path, kind)| Self::create(path, kind, "--output")).collect()
    }

    /// Opens a file for JUnit XML, whatever its name.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn junit(path: &Path) -> Result<Self, String> {
        Self::create(path, OutputKind::Junit, "--junit")
    }

    fn create(path: &Path, kind: OutputKind, option: &str) -> Result<Self, String> {
        let file = ResultFile::open(path).map_err(|denied| format!("{option} {}: {denied}", path.display()))?;
        Ok(Self { path: path.to_owned(), kind, file })
    }

    /// Writes a comparison; as a page its runs, laid over each other.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_comparison(
        &mut self,
        document: &report::compare::ComparisonDocument,
        runs: &[PageSubject<'_>],
    ) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Html => report::html::comparison_page(document, runs),
            OutputKind::Json => report::compare::json(document),
            OutputKind::Csv => report::compare::csv(document),
            OutputKind::Markdown => report::compare::markdown(document),
            _ => report::compare::text(document, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes what came of a gate.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_gate(&mut self, document: &report::gate::GateDocument) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Json => report::gate::json(document),
            OutputKind::Markdown => report::gate::markdown(document),
            OutputKind::Junit => report::gate::junit(document),
            _ => report::gate::text(document, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes explanations.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_explanations(&mut self, explained: &[Explained]) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Json => report::explain_json(explained),
            OutputKind::Markdown => report::explain_markdown(explained),
            _ => report::explain_text(explained, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes the results.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write(&mut self, run: &Run, verdicts: &[Verdict]) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Json => report::json(run, verdicts),
            OutputKind::Csv => report::csv(run),
            OutputKind::Markdown => report::markdown(run, verdicts),
            OutputKind::Text => report::text(run, verdicts, IN_FILES),
            OutputKind::OpenMetrics => report::open_metrics(run),
            OutputKind::Html => report::html::run_page(run, verdicts),
            // No pictures of runs: refused before it began.
            OutputKind::FioJson | OutputKind::Svg | OutputKind::Junit => {
                fio::document(run, &[fio::FioFormat::JsonPlus], FioOptions::default())
            }
        };
        self.put(&text)
    }

    /// Writes the results of a grid.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_grid(&mut self, points: &[GridPoint]) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Json => report::grid_json(points),
            OutputKind::Csv => report::grid_csv(points),
            OutputKind::Markdown => report::grid_markdown(points),
            OutputKind::Html => report::html::grid_page(points),
            _ => report::grid_text(points),
        };
        self.put(&text)
    }

    /// Writes the results of repeats.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_repeats(&mut self, series: &[RepeatsDocument]) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Json => report::repeats_json(series),
            OutputKind::Csv => report::repeats_csv(series),
            OutputKind::Markdown => report::repeats_markdown(series),
            OutputKind::Html => page_of_repeats(series),
            _ => report::repeats_text(series, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes the results of a search for the knee.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_sweep(&mut self, document: &report::sweep::SweepDocument) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Svg => report::sweep::svg(document),
            OutputKind::Html => report::html::page(&[PageSubject::Sweep(document)]),
            OutputKind::Csv => report::sweep::csv(document),
            OutputKind::Json => report::sweep::json(document),
            _ => report::sweep::text(document, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes a plan.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_plan(&mut self, plan: &PlanReport, explain: bool) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Svg => plan.svg(),
            OutputKind::Html => plan.html(),
            OutputKind::Csv => plan.csv(),
            OutputKind::Json => plan.json(),
            OutputKind::Markdown => plan.markdown(),
            _ => plan.text(IN_FILES, explain),
        };
        self.put(&text)
    }

    /// Writes what the doctor found.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_diagnosis(&mut self, diagnosis: &Diagnosis) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Json => report::doctor_json(diagnosis),
            OutputKind::Markdown => report::doctor_markdown(diagnosis),
            _ => report::doctor_text(diagnosis, true, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes what a suite brought.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_suite(&mut self, document: &report::suite::SuiteDocument) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Json => report::suite::json(document),
            OutputKind::Markdown => report::suite::markdown(document),
            OutputKind::Html => report::html::page(&[PageSubject::Suite(document)]),
            _ => report::suite::text(document, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes what was measured before.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_report(&mut self, subjects: &[PageSubject<'_>]) -> Result<(), String> {
        match (self.kind, subjects) {
            (OutputKind::Html, _) => self.put(&report::html::page(subjects)),
            (_, [PageSubject::Run(shown)]) => self.write(shown.run, shown.verdicts),
            (_, [PageSubject::Sweep(document)]) => self.write_sweep(document),
            (_, [PageSubject::Suite(document)]) => self.write_suite(document),
            (OutputKind::Text, _) => self.put(&report_text(subjects, IN_FILES)),
            (kind, _) => {
                let runs: Vec<Shown<'_>> = subjects.iter().filter_map(PageSubject::run).collect();
                self.put(&match kind {
                    OutputKind::Markdown => report::markdown_of(&runs),
                    OutputKind::OpenMetrics => report::open_metrics_of(&runs),
                    _ => report::csv_of(&runs),
                })
            }
        }
    }

    /// Writes what a server has done.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_served(&mut self, served: &ServerStats) -> Result<(), String> {
        let text = match self.kind {
            OutputKind::Json => served.json(),
            OutputKind::OpenMetrics => served.open_metrics(),
            _ => serve::text(served),
        };
        self.put(&text)
    }

    fn put(&mut self, text: &str) -> Result<(), String> {
        let written = self.file.write(text.as_bytes());
        written.map_err(|error| format!("--output {}: {}", self.path.display(), describe(&error)))
    }
}

/// Formats of a report.
pub(crate) fn of_a_report(subjects: &[PageSubject<'_>]) -> &'static [OutputKind] {
    match subjects {
        [PageSubject::Run(_)] => OF_A_RUN,
        [PageSubject::Sweep(_)] => OF_A_SWEEP,
        [PageSubject::Suite(_)] => OF_A_SUITE,
        several if several.iter().all(|subject| subject.run().is_some()) => OF_RUNS,
        _ => OF_ALL,
    }
}

/// Renders saved runs as text, one after the other.
pub(crate) fn report_text(subjects: &[PageSubject<'_>], style: SheetStyle) -> String {
    let one = |subject: &PageSubject<'_>| match subject {
        PageSubject::Run(shown) if subjects.len() > 1 => {
            format!("{}\n{}", shown.name, report::text(shown.run, shown.verdicts, style))
        }
        PageSubject::Run(shown) => report::text(shown.run, shown.verdicts, style),
        PageSubject::Sweep(document) => report::sweep::text(document, style),
        PageSubject::Suite(document) => report::suite::text(document, style),
    };
    subjects.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// All repeats on one page, laid over each other.
fn page_of_repeats(series: &[RepeatsDocument]) -> String {
    let numbered = |repeats: &RepeatsDocument| -> Vec<String> {
        (1..=repeats.runs.len()).map(|number| format!("{} {number}", repeats.name)).collect()
    };
    let names: Vec<String> = series.iter().flat_map(numbered).collect();
    let runs = series.iter().flat_map(|repeats| &repeats.runs);
    let subjects = names
        .iter()
        .zip(runs)
        .map(|(name, (run, verdicts))| PageSubject::Run(Shown { name, run, verdicts, written: None }));
    report::html::page(&subjects.collect::<Vec<_>>())
}

/// Writes the results to every file and tells what cannot be written.
fn deliver(files: &mut [Output], write: impl Fn(&mut Output) -> Result<(), String>) -> Exit {
    let unwritten = files.iter_mut().filter_map(|file| write(file).err());
    unwritten.map(|problem| Exit::environment(&problem)).last().unwrap_or(Exit::Good)
}

/// Writes the results to every file before `text` goes to standard output, whose reader may have stopped reading without closing it.
pub(crate) fn deliver_and_say(
    files: &mut [Output],
    text: &str,
    write: impl Fn(&mut Output) -> Result<(), String>,
) -> Exit {
    match (deliver(files, write), say(text)) {
        (Exit::Good, said) => said,
        (undelivered, _) => undelivered,
    }
}

/// Opens the files for the results of a grid.
///
/// # Errors
///
/// What holds one run only, an ending that stands for nothing, or the system's refusal.
pub(crate) fn open_for_grid(options: &RunCommandOptions) -> Result<Vec<Output>, String> {
    let of_one = [
        ("--events", options.events.is_some()),
        ("--live", options.live),
        ("--metrics", options.scrape.metrics.is_some()),
    ];
    if let Some((option, _)) = of_one.iter().find(|(_, given)| *given) {
        return Err(format!("{option}: a sweep has none: its points run side by side; leave it out"));
    }
    if options.repeat.is_some() {
        return Err("--repeat: a sweep has none: leave one of the two out".to_owned());
    }
    open_for_many(options, "a sweep")
}

/// Opens the files for the results of several runs together, which are `what`.
///
/// # Errors
///
/// What holds one run only, an ending that stands for nothing, or the system's refusal.
pub(crate) fn open_for_many(options: &RunCommandOptions, what: &str) -> Result<Vec<Output>, String> {
    if !matches!(options.format, Format::Text | Format::Json) {
        return Err(format!("--format: {what} is printed as text or json"));
    }
    let of_one_run =
        |path: &&PathBuf| matches!(kind(path, OF_A_RUN), Ok(OutputKind::OpenMetrics | OutputKind::FioJson));
    match options.output.iter().find(of_one_run) {
        Some(path) => Err(format!("--output {}: {what} is written as .json .csv .md .txt .html", path.display())),
        None => Output::open(&options.output, OF_A_RUN),
    }
}

/// Renders a grid for standard output.
pub(crate) fn grid_document(points: &[GridPoint], format: Format) -> String {
    if format == Format::Json { report::grid_json(points) } else { report::grid_text(points) }
}

/// Renders a run for standard output.
pub(crate) fn document(run: &Run, verdicts: &[Verdict], format: Format, terminal: Terminal) -> String {
    let fio = |format| fio::document(run, &[format], FioOptions::default());
    match format {
        Format::Text => report::text(run, verdicts, terminal.style()),
        Format::Json => report::json(run, verdicts),
        Format::Fio => fio(fio::FioFormat::Normal),
        Format::FioJson => fio(fio::FioFormat::Json),
        Format::FioJsonPlus => fio(fio::FioFormat::JsonPlus),
        Format::FioTerse => fio(fio::FioFormat::Terse),
    }
}

/// Prints results without control characters of foreign text. A reader that has stopped (`fathom run … | head`) is no error.
///
/// # Errors
///
/// Any other refusal of the system: the results are lost.
pub(crate) fn print(text: &str) -> io::Result<()> {
    put(&report::escape::terminal(text, Terminal::stdout().colour))
}

/// Prints a line that the next one is written over.
///
/// # Errors
///
/// As of [`print`].
pub(crate) fn print_over(line: &str) -> io::Result<()> {
    put(&format!("{}\r", units::printable(line)))
}

fn put(text: &str) -> io::Result<()> {
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

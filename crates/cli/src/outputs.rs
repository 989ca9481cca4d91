//! Results as bytes, to standard output and to files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use analyse::Verdict;
use engine::gate::ResultFile;
use record::Run;
use report::fio::{self, Options};
use report::html::{Shown, Subject};
use report::plan::PlanReport;
use report::serve::ServerStats;
use report::{Diagnosis, Explained, GridPoint, Repeats, Style};

use crate::args::{Format, RunOptions};
use crate::exit::Exit;
use crate::terminal::{Terminal, tell, why};

/// A file for results, opened before the run so that a bad path is found before time is spent.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    kind: Kind,
    file: ResultFile,
}

/// What a file holds, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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

const ENDINGS: [(&str, Kind); 8] = [
    // Before `.json`, which it ends with too.
    (".fio.json", Kind::FioJson),
    (".json", Kind::Json),
    (".csv", Kind::Csv),
    (".md", Kind::Markdown),
    (".txt", Kind::Text),
    (".prom", Kind::OpenMetrics),
    (".svg", Kind::Svg),
    (".html", Kind::Html),
];

/// How text in files is laid out.
pub(crate) const IN_FILES: Style = Style { width: 100, colour: false };

/// What a server has done can be written as.
pub(crate) const OF_A_SERVER: &[Kind] = &[Kind::Json, Kind::Text, Kind::OpenMetrics];
/// What the results of a run can be written as.
pub(crate) const OF_A_RUN: &[Kind] =
    &[Kind::FioJson, Kind::Json, Kind::Csv, Kind::Markdown, Kind::Text, Kind::OpenMetrics, Kind::Html];
/// What several runs together can be written as.
const OF_RUNS: &[Kind] = &[Kind::Csv, Kind::Markdown, Kind::Text, Kind::OpenMetrics, Kind::Html];
/// What a search for the knee can be written as.
pub(crate) const OF_A_SWEEP: &[Kind] = &[Kind::Json, Kind::Csv, Kind::Text, Kind::Svg, Kind::Html];
/// What a suite can be written as.
pub(crate) const OF_A_SUITE: &[Kind] = &[Kind::Json, Kind::Markdown, Kind::Text, Kind::Html];
/// What results of several kinds together can be written as.
const OF_ALL: &[Kind] = &[Kind::Text, Kind::Html];
/// What a plan can be written as.
pub(crate) const OF_A_PLAN: &[Kind] = &[Kind::Json, Kind::Csv, Kind::Markdown, Kind::Text, Kind::Svg, Kind::Html];
/// What a comparison can be written as.
pub(crate) const OF_A_COMPARISON: &[Kind] = &[Kind::Json, Kind::Csv, Kind::Markdown, Kind::Text, Kind::Html];
/// What a diagnosis or an explanation can be written as.
pub(crate) const DOCUMENTS: &[Kind] = &[Kind::Json, Kind::Markdown, Kind::Text];

/// What a file of this name holds, which must be one of `among`.
fn kind(path: &Path, among: &[Kind]) -> Result<Kind, String> {
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
    pub(crate) fn open(paths: &[PathBuf], known: &[Kind]) -> Result<Vec<Self>, String> {
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
        Self::create(path, Kind::Junit, "--junit")
    }

    fn create(path: &Path, kind: Kind, option: &str) -> Result<Self, String> {
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
        document: &report::compare::Document,
        runs: &[Subject<'_>],
    ) -> Result<(), String> {
        let text = match self.kind {
            Kind::Html => report::html::comparison_page(document, runs),
            Kind::Json => report::compare::json(document),
            Kind::Csv => report::compare::csv(document),
            Kind::Markdown => report::compare::markdown(document),
            _ => report::compare::text(document, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes what came of a gate.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_gate(&mut self, document: &report::gate::Document) -> Result<(), String> {
        let text = match self.kind {
            Kind::Json => report::gate::json(document),
            Kind::Markdown => report::gate::markdown(document),
            Kind::Junit => report::gate::junit(document),
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
            Kind::Json => report::explain_json(explained),
            Kind::Markdown => report::explain_markdown(explained),
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
            Kind::Json => report::json(run, verdicts),
            Kind::Csv => report::csv(run),
            Kind::Markdown => report::markdown(run, verdicts),
            Kind::Text => report::text(run, verdicts, IN_FILES),
            Kind::OpenMetrics => report::open_metrics(run),
            Kind::Html => report::html::run_page(run, verdicts),
            // No pictures of runs: refused before it began.
            Kind::FioJson | Kind::Svg | Kind::Junit => fio::document(run, &[fio::Format::JsonPlus], Options::default()),
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
            Kind::Json => report::grid_json(points),
            Kind::Csv => report::grid_csv(points),
            Kind::Markdown => report::grid_markdown(points),
            Kind::Html => report::html::grid_page(points),
            _ => report::grid_text(points),
        };
        self.put(&text)
    }

    /// Writes the results of repeats.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_repeats(&mut self, series: &[Repeats]) -> Result<(), String> {
        let text = match self.kind {
            Kind::Json => report::repeats_json(series),
            Kind::Csv => report::repeats_csv(series),
            Kind::Markdown => report::repeats_markdown(series),
            Kind::Html => page_of_repeats(series),
            _ => report::repeats_text(series, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes the results of a search for the knee.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_sweep(&mut self, document: &report::sweep::Document) -> Result<(), String> {
        let text = match self.kind {
            Kind::Svg => report::sweep::svg(document),
            Kind::Html => report::html::page(&[Subject::Sweep(document)]),
            Kind::Csv => report::sweep::csv(document),
            Kind::Json => report::sweep::json(document),
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
            Kind::Svg => plan.svg(),
            Kind::Html => plan.html(),
            Kind::Csv => plan.csv(),
            Kind::Json => plan.json(),
            Kind::Markdown => plan.markdown(),
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
            Kind::Json => report::doctor_json(diagnosis),
            Kind::Markdown => report::doctor_markdown(diagnosis),
            _ => report::doctor_text(diagnosis, true, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes what a suite brought.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_suite(&mut self, document: &report::suite::Document) -> Result<(), String> {
        let text = match self.kind {
            Kind::Json => report::suite::json(document),
            Kind::Markdown => report::suite::markdown(document),
            Kind::Html => report::html::page(&[Subject::Suite(document)]),
            _ => report::suite::text(document, IN_FILES),
        };
        self.put(&text)
    }

    /// Writes what was measured before.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(crate) fn write_report(&mut self, subjects: &[Subject<'_>]) -> Result<(), String> {
        match (self.kind, subjects) {
            (Kind::Html, _) => self.put(&report::html::page(subjects)),
            (_, [Subject::Run(shown)]) => self.write(shown.run, shown.verdicts),
            (_, [Subject::Sweep(document)]) => self.write_sweep(document),
            (_, [Subject::Suite(document)]) => self.write_suite(document),
            (Kind::Text, _) => self.put(&report_text(subjects, IN_FILES)),
            (kind, _) => {
                let runs: Vec<Shown<'_>> = subjects.iter().filter_map(Subject::run).collect();
                self.put(&match kind {
                    Kind::Markdown => report::markdown_of(&runs),
                    Kind::OpenMetrics => report::open_metrics_of(&runs),
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
            Kind::Json => served.json(),
            Kind::OpenMetrics => served.open_metrics(),
            _ => crate::serve::text(served),
        };
        self.put(&text)
    }

    fn put(&mut self, text: &str) -> Result<(), String> {
        let written = self.file.write(text.as_bytes());
        written.map_err(|error| format!("--output {}: {}", self.path.display(), why(&error)))
    }
}

/// What a report can be written as.
pub(crate) fn of_a_report(subjects: &[Subject<'_>]) -> &'static [Kind] {
    match subjects {
        [Subject::Run(_)] => OF_A_RUN,
        [Subject::Sweep(_)] => OF_A_SWEEP,
        [Subject::Suite(_)] => OF_A_SUITE,
        several if several.iter().all(|subject| subject.run().is_some()) => OF_RUNS,
        _ => OF_ALL,
    }
}

/// What was measured before, for people at a terminal: one after the other.
pub(crate) fn report_text(subjects: &[Subject<'_>], style: Style) -> String {
    let one = |subject: &Subject<'_>| match subject {
        Subject::Run(shown) if subjects.len() > 1 => {
            format!("{}\n{}", shown.name, report::text(shown.run, shown.verdicts, style))
        }
        Subject::Run(shown) => report::text(shown.run, shown.verdicts, style),
        Subject::Sweep(document) => report::sweep::text(document, style),
        Subject::Suite(document) => report::suite::text(document, style),
    };
    subjects.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// All repeats on one page, laid over each other.
fn page_of_repeats(series: &[Repeats]) -> String {
    let numbered = |repeats: &Repeats| -> Vec<String> {
        (1..=repeats.runs.len()).map(|number| format!("{} {number}", repeats.name)).collect()
    };
    let names: Vec<String> = series.iter().flat_map(numbered).collect();
    let runs = series.iter().flat_map(|repeats| &repeats.runs);
    let subjects = names
        .iter()
        .zip(runs)
        .map(|(name, (run, verdicts))| Subject::Run(Shown { name, run, verdicts, written: None }));
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
pub(crate) fn open_for_grid(options: &RunOptions) -> Result<Vec<Output>, String> {
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
pub(crate) fn open_for_many(options: &RunOptions, what: &str) -> Result<Vec<Output>, String> {
    if !matches!(options.format, Format::Text | Format::Json) {
        return Err(format!("--format: {what} is printed as text or json"));
    }
    let of_one_run = |path: &&PathBuf| matches!(kind(path, OF_A_RUN), Ok(Kind::OpenMetrics | Kind::FioJson));
    match options.output.iter().find(of_one_run) {
        Some(path) => Err(format!("--output {}: {what} is written as .json .csv .md .txt .html", path.display())),
        None => Output::open(&options.output, OF_A_RUN),
    }
}

/// What standard output carries of a sweep.
pub(crate) fn grid_document(points: &[GridPoint], format: Format) -> String {
    if format == Format::Json { report::grid_json(points) } else { report::grid_text(points) }
}

/// What standard output carries.
pub(crate) fn document(run: &Run, verdicts: &[Verdict], format: Format, terminal: Terminal) -> String {
    let fio = |format| fio::document(run, &[format], Options::default());
    match format {
        Format::Text => report::text(run, verdicts, terminal.style()),
        Format::Json => report::json(run, verdicts),
        Format::Fio => fio(fio::Format::Normal),
        Format::FioJson => fio(fio::Format::Json),
        Format::FioJsonPlus => fio(fio::Format::JsonPlus),
        Format::FioTerse => fio(fio::Format::Terse),
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

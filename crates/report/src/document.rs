//! Rendering of any result in the format that a file name or an option selects.

use std::path::Path;

use analyse::Verdict;
use job::OutputFormat;
use record::Run;
use results::compare::{ComparisonResult, ComparisonsResult};
use results::doctor::DoctorResult;
use results::explain::Explained;
use results::gate::GateResult;
use results::grid::GridResult;
use results::plan::current::CurrentPlanResult;
use results::plan::needs::NeedsResult;
use results::plan::{PlanResult, TracePlanResult};
use results::run::{RepeatsResult, RunResult, repeats_json};
use results::serve::ServerStats;
use results::stored::{StoredResult, pretty};
use results::suite::SuiteResult;
use results::sweep::SweepResult;

use crate::answer::AnswerText;
use crate::fio::{self, FioOptions};
use crate::html::{self, PageSubject};
use crate::plan::emit::{Declarations, EmitLanguage};
use crate::{ReportedRun, SheetStyle};
use trace::TraceStudy;

/// An output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultFormat {
    /// Text for a terminal, with a verdict.
    #[default]
    Text,
    /// Fathom's JSON.
    Json,
    /// Comma-separated values.
    Csv,
    /// Markdown with tables.
    Markdown,
    /// A self-contained HTML page.
    Html,
    /// An SVG image.
    Svg,
    /// OpenMetrics text.
    OpenMetrics,
    /// JUnit XML.
    Junit,
    /// Terraform (HCL) of the chosen volumes.
    Terraform,
    /// Kubernetes manifests (YAML) of the chosen volumes.
    Kubernetes,
    /// fio's normal output.
    FioText,
    /// fio's JSON.
    FioJson,
    /// fio's JSON with histograms.
    FioJsonPlus,
    /// fio's terse lines.
    FioTerse,
}

use ResultFormat::{Csv, FioJsonPlus, Html, Json, Kubernetes, Markdown, OpenMetrics, Svg, Terraform, Text};
use units::{Problem, ProblemCode};

impl ResultFormat {
    /// File name extensions and their formats.
    const ENDINGS: [(&'static str, Self); 11] = [
        // Before `.json`, which also matches such names.
        (".fio.json", FioJsonPlus),
        (".json", Json),
        (".csv", Csv),
        (".md", Markdown),
        (".txt", Text),
        (".prom", OpenMetrics),
        (".svg", Svg),
        (".html", Html),
        (".tf", Terraform),
        (".yaml", Kubernetes),
        (".yml", Kubernetes),
    ];

    /// Formats of a run.
    pub const OF_RUN: &'static [Self] = &[FioJsonPlus, Json, Csv, Markdown, Text, OpenMetrics, Html];
    /// Formats of a grid.
    pub const OF_GRID: &'static [Self] = &[Json, Csv, Markdown, Text, Html];
    /// Formats of several runs.
    pub const OF_RUNS: &'static [Self] = &[Csv, Markdown, Text, OpenMetrics, Html];
    /// Formats of a sweep.
    pub const OF_SWEEP: &'static [Self] = &[Json, Csv, Text, Svg, Html];
    /// Formats of a suite.
    pub const OF_SUITE: &'static [Self] = &[Json, Markdown, Text, Html];
    /// Formats of a mixture of runs, sweeps and suites.
    pub const OF_MIXED: &'static [Self] = &[Text, Html];
    /// Formats of a plan.
    pub const OF_PLAN: &'static [Self] = &[Json, Csv, Markdown, Text, Svg, Html, Terraform, Kubernetes];
    /// Formats of plans for several needs.
    pub const OF_NEEDS: &'static [Self] = &[Json, Csv, Markdown, Text, Html, Terraform, Kubernetes];
    /// Formats of a plan for volumes that exist.
    pub const OF_CURRENT_PLAN: &'static [Self] = &[Json, Csv, Markdown, Text, Html];
    /// Formats of a comparison.
    pub const OF_COMPARISON: &'static [Self] = &[Json, Csv, Markdown, Text, Html];
    /// Formats of a diagnosis, an explanation or a gate.
    pub const OF_FINDINGS: &'static [Self] = &[Json, Markdown, Text, Html];
    /// Formats of a trace's characteristics.
    pub const OF_TRACE: &'static [Self] = &[Json, Markdown, Text, Html];
    /// Formats of a server's statistics.
    pub const OF_SERVER: &'static [Self] = &[Json, Text, OpenMetrics];

    /// Returns the format that a file name selects, which must be one of `among`.
    ///
    /// # Errors
    ///
    /// Returns a message with the possible extensions.
    pub fn of_file(path: &Path, among: &[Self]) -> Result<Self, Problem> {
        let name = path.to_string_lossy();
        match Self::ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)) {
            Some((_, format)) if among.contains(format) => Ok(*format),
            _ => {
                let usable = Self::ENDINGS.iter().filter(|(_, format)| among.contains(format));
                let known: Vec<&str> = usable.map(|(ending, _)| *ending).collect();
                Err(Problem::error(ProblemCode::Output, "unknown file ending")
                    .help(format!("the ending determines the format; use one of {}", known.join(" "))))
            }
        }
    }
}

/// A result of a command.
#[derive(Clone, Copy)]
pub enum ResultDocument<'a> {
    Run(&'a Run, &'a [Verdict]),
    /// Repeated runs.
    Repeats(&'a [RepeatsResult<'a>]),
    Grid(&'a GridResult),
    /// A search for the knee.
    Sweep(&'a SweepResult),
    Suite(&'a SuiteResult),
    /// A purchase plan, and whether its text includes the arithmetic.
    Plan(&'a PlanResult, bool),
    /// A purchase plan for a trace.
    TracePlan(&'a TracePlanResult),
    /// Purchase plans for several needs, and whether their text includes the arithmetic.
    Needs(&'a NeedsResult, bool),
    /// What to do with volumes that exist.
    CurrentPlan(&'a CurrentPlanResult),
    /// A comparison, and the runs to overlay on its page.
    Comparison(&'a ComparisonResult, &'a [PageSubject<'a>]),
    /// Comparisons of three or more runs, and the runs to overlay on their page.
    Comparisons(&'a ComparisonsResult, &'a [PageSubject<'a>]),
    /// Checked assertions.
    Gate(&'a GateResult),
    Explanations(&'a [Explained]),
    /// A diagnosis, and whether its text explains passed checks.
    Diagnosis(&'a DoctorResult, bool),
    /// Statistics of a server, and the names of faults that it can inject.
    Server(&'a ServerStats, &'a [&'static str]),
    /// Characteristics of a trace.
    Trace(&'a TraceStudy),
    /// Saved results.
    Report(&'a [PageSubject<'a>]),
}

impl<'a> ResultDocument<'a> {
    /// Renders the result. Callers refuse formats that the result does not have; here they produce text.
    #[must_use]
    pub fn render(self, format: ResultFormat, style: SheetStyle) -> String {
        if let Some((declarations, language)) = self.declarations(format) {
            return declarations.text(language);
        }
        match self {
            Self::Run(run, verdicts) => of_run(run, verdicts, format, style),
            Self::Repeats(series) => of_repeats(series, format, style),
            Self::Grid(document) => match format {
                Json => document.json(),
                Csv => crate::grid::csv(document),
                Markdown => crate::grid::markdown(document),
                Html => html::grid_page(document),
                _ => crate::grid::text(document, style),
            },
            Self::Sweep(document) => of_sweep(document, format, style),
            Self::Suite(document) => of_suite(document, format, style),
            Self::Plan(plan, with_math) => match format {
                Svg => crate::plan::svg(plan),
                Html => html::document(&crate::plan::page(plan)),
                Csv => crate::plan::csv(plan),
                Json => crate::plan::json(plan),
                Markdown => crate::plan::page(plan).markdown(),
                _ => crate::plan::text(plan, style, with_math),
            },
            Self::TracePlan(plan) => of_trace_plan(plan, format, style),
            Self::Needs(result, with_math) => match format {
                Html => html::document(&crate::plan::needs::page(result)),
                Csv => crate::plan::needs::csv(result),
                Json => crate::plan::needs::json(result),
                Markdown => crate::plan::needs::page(result).markdown(),
                _ => crate::plan::needs::text(result, style, with_math),
            },
            Self::CurrentPlan(plan) => match format {
                Html => html::document(&crate::plan::current::page(plan)),
                Csv => crate::plan::current::csv(plan),
                Json => crate::plan::current::json(plan),
                Markdown => crate::plan::current::page(plan).markdown(),
                _ => crate::plan::current::text(plan, style),
            },
            Self::Comparison(document, runs) => match format {
                Html => html::comparison_page(document, runs),
                Json => pretty(document),
                Csv => crate::compare::csv(document),
                Markdown => crate::compare::markdown(document),
                _ => crate::compare::text(document, style),
            },
            Self::Comparisons(document, runs) => match format {
                Html => html::comparisons_page(document, runs),
                Json => pretty(document),
                Csv => crate::compare::several_csv(document),
                Markdown => crate::compare::several_markdown(document),
                _ => crate::compare::several_text(document, style),
            },
            Self::Gate(document) => match format {
                Html => html::document(&crate::gate::page(document)),
                Json => pretty(document),
                Markdown => crate::gate::markdown(document),
                ResultFormat::Junit => crate::gate::junit(document),
                _ => crate::gate::text(document, style),
            },
            Self::Explanations(explained) => match format {
                Json => crate::explain_json(explained),
                Markdown => crate::explain_page(explained).markdown(),
                Html => html::document(&crate::explain_page(explained)),
                _ => crate::explain_text(explained, style),
            },
            Self::Diagnosis(diagnosis, all) => match format {
                Json => crate::doctor_json(diagnosis),
                Markdown => crate::doctor_page(diagnosis).markdown(),
                Html => html::document(&crate::doctor_page(diagnosis)),
                _ => crate::doctor_text(diagnosis, all, style),
            },
            Self::Server(stats, faults) => match format {
                Json => stats.json(),
                OpenMetrics => stats.open_metrics(),
                _ => crate::serve::text(stats, faults),
            },
            Self::Trace(report) => match format {
                Json => crate::trace::json(report),
                Html => html::trace_page(report),
                Markdown => crate::trace::markdown(report),
                _ => crate::trace::text(report, style),
            },
            Self::Report(subjects) => of_subjects(subjects, format, style),
        }
    }

    /// Returns the volumes of a plan and the language of a format; `None` for other results and formats.
    fn declarations(self, format: ResultFormat) -> Option<(Declarations<'a>, EmitLanguage)> {
        let language = match format {
            Terraform => EmitLanguage::Terraform,
            Kubernetes => EmitLanguage::Kubernetes,
            _ => return None,
        };
        let declarations = match self {
            Self::Plan(plan, _) => Declarations::of_load(plan),
            Self::TracePlan(plan) => Declarations::of_trace(plan),
            Self::Needs(result, _) => Declarations::of_needs(result),
            _ => return None,
        };
        Some((declarations, language))
    }

    /// Returns why the volumes of a plan cannot be written in a format; nothing if they can, and for other formats.
    #[must_use]
    pub fn refusals(self, format: ResultFormat) -> Vec<Problem> {
        self.declarations(format).map_or_else(Vec::new, |(declarations, language)| declarations.refusals(language))
    }

    /// Returns the answer of a plan as text; nothing for other results.
    #[must_use]
    pub fn answer_text(self, style: SheetStyle) -> String {
        let answer = match self {
            Self::Plan(plan, _) => crate::plan::page(plan).answer,
            Self::TracePlan(plan) => crate::plan::trace::page(plan).answer,
            Self::Needs(result, _) => crate::plan::needs::answer(result),
            _ => return String::new(),
        };
        let mut sheet = crate::Sheet::new(style.readable(), 0);
        answer.write(&mut sheet);
        sheet.finish()
    }
}

fn of_run(run: &Run, verdicts: &[Verdict], format: ResultFormat, style: SheetStyle) -> String {
    let fio = |format| fio::document(run, &[format], FioOptions::default());
    match format {
        Json => pretty(&RunResult::new(run, verdicts)),
        Csv => crate::csv(run),
        Markdown => crate::markdown(run, verdicts),
        OpenMetrics => crate::open_metrics(run),
        Html => html::run_page(run, verdicts),
        ResultFormat::FioText => fio(OutputFormat::Normal),
        ResultFormat::FioJson => fio(OutputFormat::Json),
        FioJsonPlus => fio(OutputFormat::JsonPlus),
        ResultFormat::FioTerse => fio(OutputFormat::Terse),
        Text | Svg | Terraform | Kubernetes | ResultFormat::Junit => crate::text(run, verdicts, style),
    }
}

fn of_trace_plan(plan: &TracePlanResult, format: ResultFormat, style: SheetStyle) -> String {
    use crate::plan::trace::{csv, json, page, svg, text};
    match format {
        Svg => svg(plan),
        Html => html::document(&page(plan)),
        Csv => csv(plan),
        Json => json(plan),
        Markdown => page(plan).markdown(),
        _ => text(plan, style),
    }
}

fn of_repeats(series: &[RepeatsResult<'_>], format: ResultFormat, style: SheetStyle) -> String {
    match format {
        Json => repeats_json(series),
        Csv => crate::repeats_csv(series),
        Markdown => crate::repeats_markdown(series),
        Html => page_of_repeats(series),
        _ => crate::repeats_text(series, style),
    }
}

/// Returns all repeats on one page, with their charts overlaid.
fn page_of_repeats(series: &[RepeatsResult<'_>]) -> String {
    let numbered = |repeats: &RepeatsResult<'_>| -> Vec<String> {
        (1..=repeats.runs.len()).map(|number| format!("{} {number}", repeats.name)).collect()
    };
    let names: Vec<String> = series.iter().flat_map(numbered).collect();
    let runs = series.iter().flat_map(|repeats| &repeats.runs);
    let subjects = names.iter().zip(runs).map(|(name, one)| {
        PageSubject::Run(ReportedRun { name, run: &one.run, verdicts: &one.verdicts, written: None })
    });
    html::page(&subjects.collect::<Vec<_>>())
}

fn of_sweep(document: &SweepResult, format: ResultFormat, style: SheetStyle) -> String {
    match format {
        Svg => crate::sweep::svg(document),
        Html => html::page(&[PageSubject::Sweep(document)]),
        Csv => crate::sweep::csv(document),
        Json => crate::sweep::json(document),
        _ => crate::sweep::text(document, style),
    }
}

fn of_suite(document: &SuiteResult, format: ResultFormat, style: SheetStyle) -> String {
    match format {
        Json => document.json(),
        Markdown => crate::suite::markdown(document),
        Html => html::page(&[PageSubject::Suite(document)]),
        _ => crate::suite::text(document, style),
    }
}

fn of_subjects(subjects: &[PageSubject<'_>], format: ResultFormat, style: SheetStyle) -> String {
    let runs = || -> Vec<ReportedRun<'_>> { subjects.iter().filter_map(PageSubject::run).collect() };
    match (format, subjects) {
        (Html, _) => html::page(subjects),
        (_, [PageSubject::Run(shown)]) => of_run(shown.run, shown.verdicts, format, style),
        (_, [PageSubject::Sweep(document)]) => of_sweep(document, format, style),
        (_, [PageSubject::Suite(document)]) => of_suite(document, format, style),
        (Markdown, _) => crate::markdown_of(&runs()),
        (OpenMetrics, _) => crate::open_metrics_of(&runs()),
        (Csv, _) => crate::csv_of(&runs()),
        _ => {
            let texts = subjects.iter().map(|subject| match subject {
                PageSubject::Run(shown) => format!("{}\n{}", shown.name, crate::text(shown.run, shown.verdicts, style)),
                PageSubject::Sweep(document) => crate::sweep::text(document, style),
                PageSubject::Suite(document) => crate::suite::text(document, style),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Returns the formats that all of these results have.
#[must_use]
pub fn formats_of(subjects: &[PageSubject<'_>]) -> &'static [ResultFormat] {
    match subjects {
        [PageSubject::Run(_)] => ResultFormat::OF_RUN,
        [PageSubject::Sweep(_)] => ResultFormat::OF_SWEEP,
        [PageSubject::Suite(_)] => ResultFormat::OF_SUITE,
        several if several.iter().all(|subject| subject.run().is_some()) => ResultFormat::OF_RUNS,
        _ => ResultFormat::OF_MIXED,
    }
}

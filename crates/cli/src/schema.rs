//! `fathom schema`: prints the JSON Schema of a command's result.

use std::fmt::Write;

use clap::Args;
use results::capture::{self, CaptureDocument, SampleDocument};
use results::catalog::{CatalogDiff, CatalogDocument, CatalogList, CatalogUpdate};
use results::compare::ComparisonResult;
use results::doctor::DoctorDocument;
use results::events::Event;
use results::explain::ExplainDocument;
use results::gate::GateResult;
use results::grid::GridResult;
use results::plan::current::CurrentPlanDocument;
use results::plan::document::PlanDocument;
use results::plan::needs::NeedsDocument;
use results::plan::trace::TracePlanDocument;
use results::run::{RepeatsDocument, RunResult};
use results::runs::{RunDetails, RunsResult, SeriesDetails};
use results::serve::ServerStats;
use results::stored::{NothingBeside, StoredEnvelope, StoredResult, pretty};
use results::suite::{SuiteProcedure, SuiteResult};
use results::sweep::{SweepAnswers, SweepResult};
use results::trace::TraceDocument;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::json;
use serve::ControlReply;
use units::{Problem, ProblemCode, suggestion};

use crate::exit::Exit;
use crate::outputs::print_text;

pub(crate) const HELP: &str = "\
RESULT is what a command prints with --format json, or writes to a .json file. Without RESULT, all results are \
listed. The schemas follow JSON Schema 2020-12; docs/json.md says what may change without a new version.

Examples:
  fathom schema
  fathom schema run > run.schema.json
  fathom schema events";

#[derive(Debug, Args)]
pub(crate) struct SchemaOptions {
    /// Result to describe
    result: Option<String>,
}

/// A result that commands print as JSON.
struct ResultSchema {
    name: &'static str,
    /// Further names: commands that print the same.
    aliases: &'static [&'static str],
    /// What prints it.
    printed_by: &'static str,
    title: &'static str,
    /// Version of its layout.
    version: u32,
    /// Key whose value is that version; `None` if the document has none.
    version_key: Option<&'static str>,
    root: fn(SchemaGenerator) -> Schema,
}

impl ResultSchema {
    const fn new<T: JsonSchema + ?Sized>(name: &'static str, printed_by: &'static str, title: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            printed_by,
            title,
            version: 1,
            version_key: None,
            root: SchemaGenerator::into_root_schema_for::<T>,
        }
    }

    const fn versioned(self, version_key: &'static str, version: u32) -> Self {
        Self { version, version_key: Some(version_key), ..self }
    }

    /// Describes a result that is written with `M` beside it.
    const fn stored<T, M>(name: &'static str, printed_by: &'static str, title: &'static str) -> Self
    where
        T: StoredResult + JsonSchema + 'static,
        M: JsonSchema + 'static,
    {
        Self::new::<StoredEnvelope<'static, M, T>>(name, printed_by, title).versioned(T::KEY, T::SCHEMA)
    }

    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    fn is_named(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Returns the schema with its title and version.
    fn schema(&self) -> Schema {
        let settings =
            SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(in_terms_of_json));
        let mut schema = (self.root)(settings.into_generator());
        schema.insert("$id".to_owned(), json!(format!("urn:fathom:schema:{}:{}", self.name, self.version)));
        schema.insert("title".to_owned(), self.title.into());
        schema.insert("description".to_owned(), format!("Output of {}.", self.printed_by).into());
        if let Some(key) = self.version_key {
            let version = json!({ "const": self.version, "description": "Version of the document's layout." });
            insert_required(&mut schema, key, version);
        }
        schema
    }
}

/// Adds a required property.
fn insert_required(schema: &mut Schema, key: &str, property: serde_json::Value) {
    let object = schema.ensure_object();
    if let Some(properties) = object.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        properties.insert(key.to_owned(), property);
    }
    if let Some(required) = object.entry("required").or_insert_with(|| json!([])).as_array_mut()
        && !required.iter().any(|known| known == key)
    {
        required.push(key.into());
    }
}

/// Rewrites descriptions, which are comments of the code, in terms of JSON: without links and breaks of lines.
fn in_terms_of_json(schema: &mut Schema) {
    if let Some(description) = schema.get("description").and_then(|text| text.as_str()) {
        let text = description.replace("`None`", "`null`").replace("[`", "`").replace("`]", "`");
        let paragraphs: Vec<String> = text.split("\n\n").map(|lines| lines.replace('\n', " ")).collect();
        schema.insert("description".to_owned(), paragraphs.join("\n\n").into());
    }
}

/// All results, in the order of the list.
const RESULTS: &[ResultSchema] = &[
    ResultSchema::new::<RunResult<'_>>("run", "fathom run, fathom sim, fathom report RUN", "A run and what was found")
        .versioned("schema", record::SCHEMA)
        .also(&["sim", "report"]),
    ResultSchema::new::<RepeatsDocument<'_>>("repeats", "fathom run --repeat, fathom sim --repeat", "Repeated runs")
        .versioned("fathom_repeats", RepeatsDocument::SCHEMA),
    ResultSchema::stored::<GridResult, NothingBeside>(
        "grid",
        "fathom sim --vary",
        "Runs that differ in a few settings",
    ),
    ResultSchema::stored::<SweepResult, SweepAnswers>("sweep", "fathom sweep", "Latency and IOPS against queue depth"),
    ResultSchema::stored::<SuiteResult, NothingBeside>("suite", "fathom suite run", "The results of a suite"),
    ResultSchema::new::<[SuiteProcedure<'_>]>("suite-list", "fathom suite list", "All suites"),
    ResultSchema::new::<SuiteProcedure<'_>>("suite-show", "fathom suite show", "The procedure of a suite"),
    ResultSchema::new::<ExplainDocument<'_>>("explain", "fathom explain", "What limited results")
        .versioned("schema", ExplainDocument::SCHEMA),
    ResultSchema::new::<PlanDocument<'_>>("plan", "fathom plan", "Volumes for a need")
        .versioned("fathom_plan", PlanDocument::SCHEMA),
    ResultSchema::new::<TracePlanDocument<'_>>("plan-trace", "fathom plan --from TRACE", "Volumes for a trace")
        .versioned("fathom_trace_plan", TracePlanDocument::SCHEMA),
    ResultSchema::new::<NeedsDocument<'_>>("plan-needs", "fathom plan NEEDS.toml", "Volumes for several needs")
        .versioned("fathom_needs_plan", NeedsDocument::SCHEMA),
    ResultSchema::new::<CurrentPlanDocument<'_>>(
        "plan-current",
        "fathom plan --current",
        "What to do with volumes that exist",
    )
    .versioned("fathom_current_plan", CurrentPlanDocument::SCHEMA),
    ResultSchema::new::<ComparisonResult>("compare", "fathom compare", "A comparison of runs")
        .versioned("schema", ComparisonResult::SCHEMA),
    ResultSchema::new::<GateResult>("gate", "fathom gate", "Assertions checked against a run")
        .versioned("schema", GateResult::SCHEMA),
    ResultSchema::new::<DoctorDocument<'_>>("doctor", "fathom doctor", "Settings of a host and its devices"),
    ResultSchema::new::<TraceDocument<'_>>("trace", "fathom trace", "The load in a trace")
        .versioned("fathom_trace", TraceDocument::SCHEMA),
    ResultSchema::new::<CaptureDocument<'_>>("capture", "fathom capture", "Captured requests of a device")
        .versioned("fathom_capture", capture::SCHEMA),
    ResultSchema::new::<SampleDocument<'_>>(
        "capture-sample",
        "fathom capture --sample",
        "Sampled counters of a device",
    )
    .versioned("fathom_capture_sample", capture::SCHEMA),
    ResultSchema::new::<CatalogList<'_>>("catalog", "fathom catalog", "All modelled volumes"),
    ResultSchema::new::<CatalogDocument<'_>>("catalog-volume", "fathom catalog VOLUME", "Limits and price of a volume"),
    ResultSchema::new::<CatalogUpdate>("catalog-update", "fathom catalog update", "Renewed figures of a provider"),
    ResultSchema::new::<CatalogDiff>("catalog-diff", "fathom catalog diff", "Renewed figures beside the built-in ones"),
    ResultSchema::new::<RunsResult<'_>>("runs", "fathom runs list", "Saved runs")
        .versioned("fathom_runs", RunsResult::SCHEMA)
        .also(&["runs-list"]),
    ResultSchema::new::<RunDetails<'_>>("runs-show", "fathom runs show RUN", "A saved run")
        .versioned("fathom_run", RunDetails::SCHEMA),
    ResultSchema::new::<SeriesDetails<'_>>("runs-series", "fathom runs show SERIES", "Saved repeats")
        .versioned("fathom_series", SeriesDetails::SCHEMA),
    ResultSchema::new::<ServerStats>("serve", "fathom serve, fathom serve --stats", "Statistics of a server")
        .versioned("schema", ServerStats::SCHEMA),
    ResultSchema::new::<ControlReply>("serve-control", "fathom serve control", "Reply of a server to a command"),
    ResultSchema::new::<Event>("events", "--events FILE, one on each line", "An event of a run"),
];

/// Prints the schema of a result, or lists the results.
pub(crate) fn command(options: &SchemaOptions) -> Result<Exit, Exit> {
    let Some(name) = &options.result else { return Ok(print_text(&list())) };
    match RESULTS.iter().find(|result| result.is_named(name)) {
        Some(result) => Ok(print_text(&pretty(&result.schema()))),
        None => {
            let names = RESULTS.iter().flat_map(ResultSchema::names);
            let remedy = suggestion(name, names, || "`fathom schema` lists the results".to_owned());
            let what = format!("unknown result `{name}`");
            Err(Exit::invalid(Problem::error(ProblemCode::UnknownValue, what).help(remedy)))
        }
    }
}

fn list() -> String {
    let width = RESULTS.iter().map(|result| result.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for ResultSchema { name, printed_by, title, .. } in RESULTS {
        let _ = writeln!(text, "{name:width$}  {title} ({printed_by})");
    }
    text.push_str("\n`fathom schema RESULT` prints its JSON Schema.\n");
    text
}

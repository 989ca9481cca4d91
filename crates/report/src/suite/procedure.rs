//! Suites that can be run: the list, one suite, and the manual of all of them.

use record::Figure;
use serde_json::{Value, json};
use units::Bytes;

use super::{Published, figure_name};
use crate::sheet::{Sheet, SheetStyle};

/// A published procedure before it runs.
#[derive(Clone, Debug)]
pub struct SuiteProcedure<'a> {
    /// Name of the suite.
    pub name: &'a str,
    /// One-line description.
    pub title: &'a str,
    /// Document that publishes the procedure.
    pub source: &'a str,
    /// Date of that document.
    pub date: &'a str,
    /// Volume of the published figures.
    pub model: Option<&'a str>,
    /// Bytes used of the target, in fio's notation.
    pub size: &'a str,
    /// Whether a device or volume is used as a whole.
    pub whole: bool,
    /// Whether models start without burst credits.
    pub drained: bool,
    /// Conditions that must hold before the suite begins.
    pub preconditions: &'a [String],
    /// Steps repeated until they are steady, and the maximum number of rounds.
    pub rounds: Option<(&'a [String], usize)>,
    /// The steps, in order.
    pub steps: Vec<ProcedureStep<'a>>,
}

#[derive(Clone, Debug)]
pub struct ProcedureStep<'a> {
    /// Name of the step.
    pub name: &'a str,
    /// What the step measures.
    pub title: &'a str,
    /// What the result means.
    pub means: &'a str,
    /// Whether the step writes to its target.
    pub writes: bool,
    /// Whether the step runs once, before the rounds.
    pub once: bool,
    /// Figures of the step, with published values.
    pub figures: Vec<(Figure, Option<&'a Published>)>,
    /// Options and values of each job.
    pub jobs: Vec<Vec<(&'a str, &'a str)>>,
}

#[derive(Clone, Copy, Debug)]
pub struct SuiteTargets<'a> {
    /// File or device to measure, and the bytes used of it.
    pub target: Option<(&'a str, Option<u64>)>,
    /// Volume to simulate, and the bytes used of it.
    pub volume: Option<(&'a str, Option<u64>)>,
    /// Factor applied to times and sizes; 1 means unchanged.
    pub scale: f64,
}

/// Returns the list of suites as text.
#[must_use]
pub fn suites_text(suites: &[SuiteProcedure<'_>]) -> String {
    let width = suites.iter().map(|suite| suite.name.len()).max().unwrap_or(0);
    let line = |suite: &SuiteProcedure<'_>| format!("{:<width$}  {}; {}\n", suite.name, suite.title, suite.summary());
    let lines: String = suites.iter().map(line).collect();
    format!("{lines}\n`fathom suite show NAME` describes one, `fathom suite run NAME` carries it out.\n")
}

/// Returns all suites as one JSON document.
#[must_use]
pub fn suites_json(suites: &[SuiteProcedure<'_>]) -> String {
    pretty(&Value::Array(suites.iter().map(SuiteProcedure::document).collect()))
}

/// Returns `docs/suites.md`: all suites, and how to write one.
#[must_use]
pub fn suites_markdown(suites: &[SuiteProcedure<'_>]) -> String {
    let mut out = String::from(
        "# Suites\n\nGenerated from `suites/`; do not edit. `fathom suite run NAME` carries one out on a file, a device or \
         a modelled volume; `fathom suite show NAME` prints its steps with all options.\n\n| suite | what | steps |\n|---|---|---|\n",
    );
    for suite in suites {
        let name = &suite.name;
        out.push_str(&format!("| [{name}](#{name}) | {} | {} |\n", suite.title, suite.summary()));
    }
    suites.iter().for_each(|suite| out.push_str(&format!("\n{}", suite.section("##"))));
    out.push_str(FORMAT);
    out
}

impl SuiteProcedure<'_> {
    /// Returns the number of steps and of those that write: `4 steps, 2 write`.
    fn summary(&self) -> String {
        let (all, writing) = (self.steps.len(), self.steps.iter().filter(|step| step.writes).count());
        let writing = match writing {
            0 => "none writes".to_owned(),
            writing if writing == all => "all write".to_owned(),
            writing => format!("{writing} write"),
        };
        let rounds = self.rounds.map_or_else(String::new, |(_, most)| format!(", in up to {most} rounds"));
        let noun = if all == 1 { "step" } else { "steps" };
        format!("{all} {noun}{rounds}, {writing}")
    }

    /// Returns the suite as text.
    #[must_use]
    pub fn text(&self, style: SheetStyle) -> String {
        let mut page = Sheet::new(style.readable(), 0);
        page.wrapped("", &format!("{}: {}; {}", self.name, self.title, self.summary()));
        page.wrapped("  source  ", &format!("{}, {}", self.source, self.date));
        if let Some(model) = self.model {
            page.wrapped("  model   ", model);
        }
        let whole = if self.whole { " of a file; devices and volumes as a whole" } else { "" };
        page.wrapped("  size    ", &format!("{}{whole}", self.size));
        page.line("\nBefore it begins:");
        self.preconditions.iter().for_each(|text| page.wrapped("  * ", text));
        for (number, step) in (1..).zip(&self.steps) {
            let writes = if step.writes { " (writes)" } else { "" };
            page.gap();
            page.wrapped(&format!("{number}. "), &format!("{}: {}{writes}", step.name, step.title));
            page.wrapped("   ", &format!("Measures {}. {}", step.measures(), step.means));
            for (text, apart) in step.published() {
                let apart = apart.map_or_else(String::new, |apart| format!("; {apart}"));
                page.wrapped("   published: ", &format!("{text}{apart}"));
            }
            step.command_lines().iter().for_each(|line| page.wrapped("   $ ", line));
        }
        page.finish()
    }

    /// Returns the suite as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        pretty(&self.document())
    }

    /// Returns the suite as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        self.section("#")
    }

    /// Describes a run of the suite before it begins.
    #[must_use]
    pub fn preview(&self, targets: &SuiteTargets<'_>) -> String {
        let used =
            |bytes: Option<u64>| bytes.map_or_else(String::new, |bytes| format!(", {} of it", Bytes::new(bytes)));
        let mut text = format!("{}: {}\n", self.name, self.summary());
        if let Some((target, bytes)) = targets.target {
            text.push_str(&format!("measured on {target}{}\n", used(bytes)));
        }
        if let Some((volume, bytes)) = targets.volume {
            text.push_str(&format!("modelled on {volume}{}\n", used(bytes)));
        }
        if targets.scale != 1.0 {
            let rest = "times, and sizes unless --size is given, are scaled by this factor";
            text.push_str(&format!("scale {}: {rest}\n", targets.scale));
        }
        text
    }

    fn document(&self) -> Value {
        let step = |step: &ProcedureStep<'_>| {
            let figure = |(figure, published): &(Figure, Option<&Published>)| json!({ "figure": figure, "published": published });
            json!({
                "name": step.name, "title": step.title, "means": step.means, "writes": step.writes, "once": step.once,
                "figures": step.figures.iter().map(figure).collect::<Vec<_>>(), "jobs": step.jobs,
            })
        };
        json!({
            "name": self.name, "title": self.title, "source": self.source, "date": self.date, "model": self.model,
            "size": self.size, "whole": self.whole, "drained": self.drained, "preconditions": self.preconditions,
            "rounds": self.rounds.map(|(follow, most)| json!({ "follow": follow, "most": most })),
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
        })
    }

    fn section(&self, level: &str) -> String {
        let escaped = |text: &str| text.replace('|', "\\|");
        let mut out = format!("{level} {}\n\n{}; {}.\n\n", self.name, self.title, self.summary());
        out.push_str(&format!("From: {}, {}.", self.source, self.date));
        if let Some(model) = self.model {
            out.push_str(&format!(" The volume of its figures: `{model}`."));
        }
        out.push_str("\n\nBefore it begins:\n\n");
        self.preconditions.iter().for_each(|text| out.push_str(&format!("* {text}\n")));
        if let Some((follow, most)) = self.rounds {
            let follow = follow.join(", ");
            out.push_str(&format!("\nRepeated until {follow} is steady over five rounds, {most} times at most.\n"));
        }
        out.push_str("\n| step | measures | writes | published |\n|---|---|---|---|\n");
        for step in &self.steps {
            let writes = if step.writes { "yes" } else { "no" };
            let published = step.published().into_iter().map(|(text, _)| text).collect::<Vec<_>>().join("; ");
            let cells = [step.name, &format!("{} ({})", step.title, step.measures()), writes, &published];
            out.push_str(&format!("| {} |\n", cells.map(escaped).join(" | ")));
        }
        out.push('\n');
        grouped_list(&mut out, self.steps.iter().map(|step| (step.name, step.means)));
        let explained = self
            .steps
            .iter()
            .flat_map(|step| step.published().into_iter().filter_map(|(_, apart)| Some((step.name, apart?))));
        let apart: Vec<(&str, &str)> = explained.collect();
        if !apart.is_empty() {
            out.push_str("\nFigures that the model does not come within 5 % of:\n\n");
            grouped_list(&mut out, apart.into_iter());
        }
        out
    }
}

impl<'a> ProcedureStep<'a> {
    /// Returns the published figures, `write IOPS 30.0k (SSD disks from ...)`, each with the reason why the model
    /// differs.
    fn published(&self) -> Vec<(String, Option<&'a str>)> {
        let figures = self.figures.iter().filter_map(|(figure, published)| Some((*figure, (*published)?)));
        figures
            .map(|(figure, published)| {
                let text = format!("{} {} ({})", figure_name(figure), published.printed(), published.conditions);
                (text, published.apart.as_deref())
            })
            .collect()
    }

    fn measures(&self) -> String {
        self.figures.iter().map(|(figure, _)| figure_name(*figure)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the jobs as fio options; for more than two jobs, the first job and their number.
    fn command_lines(&self) -> Vec<String> {
        let line = |(index, job): (usize, &Vec<(&str, &str)>)| {
            let number = if self.jobs.len() > 1 { format!("-{}", index + 1) } else { String::new() };
            let options = job.iter().map(|(key, value)| format!("--{key}={value}"));
            std::iter::once(format!("--name={}{number}", self.name)).chain(options).collect::<Vec<_>>().join(" ")
        };
        let mut lines: Vec<String> = self.jobs.iter().enumerate().map(line).collect();
        if self.jobs.len() > 2 {
            lines.truncate(1);
            lines.push(format!("... {} jobs like this one at the same time", self.jobs.len()));
        }
        lines
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Appends a list of texts about steps. Consecutive steps with the same text form one item.
fn grouped_list<'a>(out: &mut String, texts: impl Iterator<Item = (&'a str, &'a str)>) {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (step, text) in texts {
        match groups.last_mut().filter(|(known, _)| *known == text) {
            Some((_, steps)) => steps.push(step),
            None => groups.push((text, vec![step])),
        }
    }
    for (text, steps) in groups {
        let of = match steps.as_slice() {
            [first, .., last] => format!("{first} to {last}"),
            steps => steps.join(", "),
        };
        out.push_str(&format!("* **{of}**: {text}\n"));
    }
}

/// Format of suite files, appended to `docs/suites.md`.
const FORMAT: &str = r#"
## Writing your own suite

A file for `fathom suite run ./mine.toml`. All errors are reported at once, with their locations.

```toml
[suite]
name = "mine"
title = "What the data loader does"
source = "our own profile"
date = "2026-11"
size = "10g"                 # of a file or device that is used
preconditions = ["nothing else runs on the host"]

[options]                    # of every step, by fio's names
filename = "{target}"
size = "{size}"
ioengine = "io_uring"
direct = 1
time_based = 1
runtime = "60s"

[[step]]
name = "read-{bs}"
title = "random reads of {bs}"
means = "Samples a second."
measure = ["read.iops", "read.latency_p99"]
each = { bs = ["4k", "64k"] }   # a step for each combination
options = { rw = "randread", bs = "{bs}", iodepth = 32 }
figure = [{ measure = "read.iops", when = { bs = "4k" }, value = 50_000, unit = "IOPS", where = "the old array" }]
```

| where | key | meaning |
|---|---|---|
| `[suite]` | `name`, `title`, `source`, `date` | what it is and where it is from |
| | `size` | how much of the target is used; `--scale` makes it smaller, `--size` replaces it |
| | `whole` | devices and volumes are used as a whole, and only of files as much as `size` |
| | `model` | the volume that the published figures are of |
| | `drained` | models are simulated without the burst credit that they begin with |
| | `preconditions` | what has to be so, a list of texts |
| `[options]` | any job option | for every step |
| `[rounds]` | `follow`, `most` | steps are repeated until the first figure of these is steady: within 20 % of the mean of five rounds, their line within 10 % (SNIA) |
| `[[step]]` | `name`, `title`, `means` | what it is called, what it measures, what the result means |
| | `measure` | `read`, `write`, `trim`, `sync` or `all`, and one of `.iops`, `.bytes_per_second`, `.latency_mean`, `.latency_p99` |
| | `options`, `jobs` | job options; several jobs that run at the same time, each with options of its own |
| | `copies` | how many times the jobs run at the same time; `{copy}` counts them from 0 |
| | `each` | lists of values for names in braces |
| | `once` | before the rounds |
| | `figure` | what was published: `measure`, `value`, `to` (end of a range), `below` (an upper bound), `unit` (IOPS, MB/s, MiB/s, us, ms), `where`, `when` (values of `each`), `apart` (why the model differs) |

`{target}`, `{size}`, parts of it (`{size/2}` to `{size/16}`), `{copy}` and `{cpus}` (all processors) stand for what is asked for. `--scale` shortens `runtime`, `ramp_time` and sizes.

What is done is written to a file after each step, `$XDG_STATE_HOME/fathom/suites` or `~/.local/state/fathom/suites` unless
`--state` names one. After an interruption the same command goes on with the first step that is not done; a finished suite
takes the file away. On a model each step begins with the burst credits that the one before it left, and no time passes
between them.
"#;

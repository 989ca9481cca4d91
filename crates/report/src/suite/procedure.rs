//! Suites that can be run: the list, one suite, and the manual of all of them.

use results::suite::{ProcedureRounds, ProcedureStep, SuiteProcedure, SuiteTargets};
use units::Bytes;

use super::{figure_name, printed};
use crate::sheet::{Sheet, SheetStyle};

/// Returns the list of suites as text.
#[must_use]
pub fn suites_text(suites: &[SuiteProcedure<'_>]) -> String {
    let width = suites.iter().map(|suite| suite.name.len()).max().unwrap_or(0);
    let line = |suite: &SuiteProcedure<'_>| format!("{:<width$}  {}; {}\n", suite.name, suite.title, summary(suite));
    let lines: String = suites.iter().map(line).collect();
    format!("{lines}\n`fathom suite show NAME` describes one, `fathom suite run NAME` carries it out.\n")
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
        out.push_str(&format!("| [{name}](#{name}) | {} | {} |\n", suite.title, summary(suite)));
    }
    suites.iter().for_each(|suite| out.push_str(&format!("\n{}", section(suite, "##"))));
    out.push_str(FORMAT);
    out
}

/// Returns the number of steps and of those that write: `4 steps, 2 write`.
fn summary(suite: &SuiteProcedure<'_>) -> String {
    let (all, writing) = (suite.steps.len(), suite.steps.iter().filter(|step| step.writes).count());
    let writing = match writing {
        0 => "none writes".to_owned(),
        writing if writing == all => "all write".to_owned(),
        writing => format!("{writing} write"),
    };
    let rounds = suite.rounds.map_or_else(String::new, |rounds| format!(", in up to {} rounds", rounds.most));
    format!("{}{rounds}, {writing}", units::counted(all as u64, "step"))
}

/// Returns the suite as text.
#[must_use]
pub fn procedure_text(suite: &SuiteProcedure<'_>, style: SheetStyle) -> String {
    let mut page = Sheet::new(style.readable(), 0);
    page.wrapped("", &format!("{}: {}; {}", suite.name, suite.title, summary(suite)));
    page.wrapped("  source  ", &format!("{}, {}", suite.source, suite.date));
    if let Some(model) = suite.model {
        page.wrapped("  model   ", model);
    }
    let whole = if suite.whole { " of a file; devices and volumes as a whole" } else { "" };
    page.wrapped("  size    ", &format!("{}{whole}", suite.size));
    page.line("\nBefore it begins:");
    suite.preconditions.iter().for_each(|text| page.wrapped("  * ", text));
    for (number, step) in (1..).zip(&suite.steps) {
        let writes = if step.writes { " (writes)" } else { "" };
        page.gap();
        page.wrapped(&format!("{number}. "), &format!("{}: {}{writes}", step.name, step.title));
        page.wrapped("   ", &format!("Measures {}. {}", measures(step), step.means));
        for (text, apart) in published(step) {
            let apart = apart.map_or_else(String::new, |apart| format!("; {apart}"));
            page.wrapped("   published: ", &format!("{text}{apart}"));
        }
        command_lines(step).iter().for_each(|line| page.wrapped("   $ ", line));
    }
    page.finish()
}

/// Returns the suite as Markdown.
#[must_use]
pub fn procedure_markdown(suite: &SuiteProcedure<'_>) -> String {
    section(suite, "#")
}

/// Describes a run of the suite before it begins.
#[must_use]
pub fn preview(suite: &SuiteProcedure<'_>, targets: &SuiteTargets<'_>) -> String {
    let used = |bytes: Option<u64>| bytes.map_or_else(String::new, |bytes| format!(", {} of it", Bytes::new(bytes)));
    let mut text = format!("{}: {}\n", suite.name, summary(suite));
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

fn section(suite: &SuiteProcedure<'_>, level: &str) -> String {
    let escaped = |text: &str| text.replace('|', "\\|");
    let mut out = format!("{level} {}\n\n{}; {}.\n\n", suite.name, suite.title, summary(suite));
    out.push_str(&format!("From: {}, {}.", suite.source, suite.date));
    if let Some(model) = suite.model {
        out.push_str(&format!(" The volume of its figures: `{model}`."));
    }
    out.push_str("\n\nBefore it begins:\n\n");
    suite.preconditions.iter().for_each(|text| out.push_str(&format!("* {text}\n")));
    if let Some(ProcedureRounds { follow, most }) = suite.rounds {
        let follow = follow.join(", ");
        out.push_str(&format!("\nRepeated until {follow} is steady over five rounds, {most} times at most.\n"));
    }
    out.push_str("\n| step | measures | writes | published |\n|---|---|---|---|\n");
    for step in &suite.steps {
        let writes = if step.writes { "yes" } else { "no" };
        let published = published(step).into_iter().map(|(text, _)| text).collect::<Vec<_>>().join("; ");
        let cells = [step.name, &format!("{} ({})", step.title, measures(step)), writes, &published];
        out.push_str(&format!("| {} |\n", cells.map(escaped).join(" | ")));
    }
    out.push('\n');
    grouped_list(&mut out, suite.steps.iter().map(|step| (step.name, step.means)));
    let explained = suite
        .steps
        .iter()
        .flat_map(|step| published(step).into_iter().filter_map(|(_, apart)| Some((step.name, apart?))));
    let apart: Vec<(&str, &str)> = explained.collect();
    if !apart.is_empty() {
        out.push_str("\nFigures that the model does not come within 5% of:\n\n");
        grouped_list(&mut out, apart.into_iter());
    }
    out
}

/// Returns the published figures, `write IOPS 30.0k (SSD disks from ...)`, each with the reason why the model
/// differs.
fn published<'a>(step: &ProcedureStep<'a>) -> Vec<(String, Option<&'a str>)> {
    let figures = step.figures.iter().filter_map(|one| Some((one.figure, one.published?)));
    figures
        .map(|(figure, published)| {
            let text = format!("{} {} ({})", figure_name(figure), printed(published), published.conditions);
            (text, published.apart.as_deref())
        })
        .collect()
}

fn measures(step: &ProcedureStep<'_>) -> String {
    step.figures.iter().map(|one| figure_name(one.figure)).collect::<Vec<_>>().join(", ")
}

/// Returns the jobs as fio options; for more than two jobs, the first job and their number.
fn command_lines(step: &ProcedureStep<'_>) -> Vec<String> {
    let line = |(index, job): (usize, &Vec<(&str, &str)>)| {
        let number = if step.jobs.len() > 1 { format!("-{}", index + 1) } else { String::new() };
        let options = job.iter().map(|(key, value)| format!("--{key}={value}"));
        std::iter::once(format!("--name={}{number}", step.name)).chain(options).collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<String> = step.jobs.iter().enumerate().map(line).collect();
    if step.jobs.len() > 2 {
        lines.truncate(1);
        lines.push(format!("... {} jobs like this one at the same time", step.jobs.len()));
    }
    lines
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
| `[rounds]` | `follow`, `most` | steps are repeated until the first figure of these is steady: within 20% of the mean of five rounds, their line within 10% (SNIA) |
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

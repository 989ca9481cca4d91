//! Suites in words: the list, one of them, all of them.

use report::suite::figure_name;
use report::{Sheet, Style};
use serde_json::{Value, json};
use units::Bytes;

use super::ask::Question;
use super::schema::{Step, Suite};
use crate::args::PageFormat;

/// What all pages need of a suite: how many of its steps write.
fn steps_of(suite: &Suite) -> String {
    let (all, writing) = (suite.steps.len(), suite.steps.iter().filter(|step| step.writes()).count());
    let writing = match writing {
        0 => "none writes".to_owned(),
        writing if writing == all => "all write".to_owned(),
        writing => format!("{writing} write"),
    };
    let rounds = suite.rounds.as_ref().map_or_else(String::new, |of| format!(", in up to {} rounds", of.most));
    let word = if all == 1 { "step" } else { "steps" };
    format!("{all} {word}{rounds}, {writing}")
}

/// All suites.
pub(super) fn list(suites: &[Suite], format: PageFormat) -> String {
    match format {
        PageFormat::Text => {
            let width = suites.iter().map(|suite| suite.name.len()).max().unwrap_or(0);
            let line = |suite: &Suite| format!("{:<width$}  {}; {}\n", suite.name, suite.title, steps_of(suite));
            let lines: String = suites.iter().map(line).collect();
            format!("{lines}\n`fathom suite show NAME` describes one, `fathom suite run NAME` carries it out.\n")
        }
        PageFormat::Json => pretty(&Value::Array(suites.iter().map(document).collect())),
        PageFormat::Md => manual(suites),
    }
}

/// One suite.
pub(super) fn show(suite: &Suite, format: PageFormat, style: Style) -> String {
    match format {
        PageFormat::Text => page(suite, style),
        PageFormat::Json => pretty(&document(suite)),
        PageFormat::Md => section(suite, "#"),
    }
}

/// What is asked for, before a run is only talked about.
pub(super) fn plan(question: &Question) -> String {
    let used = |bytes: Option<u64>| bytes.map_or_else(String::new, |bytes| format!(", {} of it", Bytes::new(bytes)));
    let mut text = format!("{}: {}\n", question.suite.name, steps_of(&question.suite));
    if let Some(target) = &question.target {
        text.push_str(&format!("measured on {target}{}\n", used(question.target_bytes)));
    }
    if let Some(volume) = &question.on {
        text.push_str(&format!("modelled on {volume}{}\n", used(question.volume_bytes)));
    }
    if question.scale != 1.0 {
        let scale = question.scale;
        let rest = "times are this share of what the suite asks for, and so are sizes unless --size gave one";
        text.push_str(&format!("scale {scale}: {rest}\n"));
    }
    text
}

/// `write IOPS 30.0k (SSD disks from ...)`, each with why the model is apart from it.
fn published(step: &Step) -> Vec<(String, Option<&str>)> {
    let figures = step.figures.iter().filter_map(|one| one.published.as_ref().map(|published| (one, published)));
    figures
        .map(|(one, published)| {
            let text = format!("{} {} ({})", figure_name(one.figure), published.printed(), published.conditions);
            (text, published.apart.as_deref())
        })
        .collect()
}

fn measures(step: &Step) -> String {
    step.figures.iter().map(|one| figure_name(one.figure)).collect::<Vec<_>>().join(", ")
}

fn page(suite: &Suite, style: Style) -> String {
    let mut page = Sheet::new(style.readable(), 0);
    page.wrapped("", &format!("{}: {}; {}", suite.name, suite.title, steps_of(suite)));
    page.wrapped("  source  ", &format!("{}, {}", suite.source, suite.date));
    if let Some(model) = &suite.model {
        page.wrapped("  model   ", model);
    }
    let whole = if suite.whole { " of a file; devices and volumes as a whole" } else { "" };
    page.wrapped("  size    ", &format!("{}{whole}", suite.size));
    page.line("\nBefore it begins:");
    suite.preconditions.iter().for_each(|text| page.wrapped("  * ", text));
    for (number, step) in (1..).zip(&suite.steps) {
        let writes = if step.writes() { " (writes)" } else { "" };
        page.gap();
        page.wrapped(&format!("{number}. "), &format!("{}: {}{writes}", step.name, step.title));
        page.wrapped("   ", &format!("Measures {}. {}", measures(step), step.means));
        for (text, apart) in published(step) {
            let apart = apart.map_or_else(String::new, |apart| format!("; {apart}"));
            page.wrapped("   published: ", &format!("{text}{apart}"));
        }
        lines(step).iter().for_each(|line| page.wrapped("   $ ", line));
    }
    page.finish()
}

/// The jobs of a step as command lines; of many that are alike, the first.
fn lines(step: &Step) -> Vec<String> {
    let mut lines = Question::fio_line(step);
    let all = lines.len();
    if all > 2 {
        lines.truncate(1);
        lines.push(format!("... {all} jobs like this one at the same time"));
    }
    lines
}

fn document(suite: &Suite) -> Value {
    let step = |step: &Step| {
        let figure = |one: &super::schema::Measured| json!({ "figure": one.figure, "published": one.published });
        let job =
            |job: &Vec<super::schema::Setting>| job.iter().map(|one| json!([one.key, one.value])).collect::<Vec<_>>();
        json!({
            "name": step.name, "title": step.title, "means": step.means, "writes": step.writes(), "once": step.once,
            "figures": step.figures.iter().map(figure).collect::<Vec<_>>(),
            "jobs": step.jobs.iter().map(job).collect::<Vec<_>>(),
        })
    };
    json!({
        "name": suite.name, "title": suite.title, "source": suite.source, "date": suite.date, "model": suite.model,
        "size": suite.size, "whole": suite.whole, "drained": suite.drained, "preconditions": suite.preconditions,
        "rounds": suite.rounds.as_ref().map(|of| json!({ "follow": of.follow, "most": of.most })),
        "steps": suite.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn section(suite: &Suite, level: &str) -> String {
    let escaped = |text: &str| text.replace('|', "\\|");
    let mut out = format!("{level} {}\n\n{}; {}.\n\n", suite.name, suite.title, steps_of(suite));
    out.push_str(&format!("From: {}, {}.", suite.source, suite.date));
    if let Some(model) = &suite.model {
        out.push_str(&format!(" The volume of its figures: `{model}`."));
    }
    out.push_str("\n\nBefore it begins:\n\n");
    suite.preconditions.iter().for_each(|text| out.push_str(&format!("* {text}\n")));
    if let Some(of) = &suite.rounds {
        let (follow, most) = (of.follow.join(", "), of.most);
        out.push_str(&format!("\nRepeated until {follow} is steady over five rounds, {most} times at most.\n"));
    }
    out.push_str("\n| step | measures | writes | published |\n|---|---|---|---|\n");
    for step in &suite.steps {
        let writes = if step.writes() { "yes" } else { "no" };
        let published = published(step).into_iter().map(|(text, _)| text).collect::<Vec<_>>().join("; ");
        let cells = [&step.name, &format!("{} ({})", step.title, measures(step)), writes, &published];
        out.push_str(&format!("| {} |\n", cells.map(escaped).join(" | ")));
    }
    out.push('\n');
    list_of(&mut out, suite.steps.iter().map(|step| (step.name.as_str(), step.means.as_str())));
    let apart: Vec<(&str, &str)> = suite
        .steps
        .iter()
        .flat_map(|step| published(step).into_iter().filter_map(|(_, apart)| Some((step.name.as_str(), apart?))))
        .collect();
    if !apart.is_empty() {
        out.push_str("\nFigures that the model does not come within 5 % of:\n\n");
        list_of(&mut out, apart.into_iter());
    }
    out
}

/// What is so of steps, once for neighbours of which the same is.
fn list_of<'a>(out: &mut String, texts: impl Iterator<Item = (&'a str, &'a str)>) {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for (step, text) in texts {
        match told.last_mut().filter(|(known, _)| *known == text) {
            Some((_, steps)) => steps.push(step),
            None => told.push((text, vec![step])),
        }
    }
    for (text, steps) in told {
        let of = match steps.as_slice() {
            [first, .., last] => format!("{first} to {last}"),
            steps => steps.join(", "),
        };
        out.push_str(&format!("* **{of}**: {text}\n"));
    }
}

/// How to write one, in `docs/suites.md`.
const FORMAT: &str = r#"
## A suite of one's own

A file that `fathom suite run ./mine.toml` takes. Everything that is wrong with it is told at once, each with its place.

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
| | `measure` | `read`, `write`, `trim` or `all`, and one of `.iops`, `.bytes_per_second`, `.latency_mean`, `.latency_p99` |
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

/// All suites: `docs/suites.md`.
fn manual(suites: &[Suite]) -> String {
    let mut out = String::from(
        "# Suites\n\nGenerated from `suites/`; do not edit. `fathom suite run NAME` carries one out on a file, a device or \
         a modelled volume; `fathom suite show NAME` prints its steps with all options.\n\n| suite | what | steps |\n|---|---|---|\n",
    );
    for suite in suites {
        let name = &suite.name;
        out.push_str(&format!("| [{name}](#{name}) | {} | {} |\n", suite.title, steps_of(suite)));
    }
    suites.iter().for_each(|suite| out.push_str(&format!("\n{}", section(suite, "##"))));
    out.push_str(FORMAT);
    out
}

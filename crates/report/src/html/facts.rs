//! The section about how a run was made: command, job, host, model and devices.

use record::{JobResult, ModelledVolume, Run, RunOutcome};
use units::{Bytes, grouped};

use super::ReportedRun;
use super::common::when_and_where;
use super::findings::micro;
use super::markup::Markup;
use super::table::HtmlTable;
use crate::escape::shell_line;
use crate::stuck::{LISTED_MOST, stuck_lines};

const SECTOR_BYTES: u64 = 512;

/// Writes the section for each run.
pub(super) fn section(out: &mut Markup, runs: &[ReportedRun<'_>]) {
    out.leaf("h2", "", title(runs));
    if let [only] = runs {
        return of_run(out, only);
    }
    for shown in runs {
        out.inside("details", &[], |out| {
            out.inside("summary", &[], |out| out.name(shown.name));
            of_run(out, shown);
        });
    }
}

/// Writes the section for runs of one command, as the first of them was made.
pub(super) fn of_first(out: &mut Markup, runs: &[ReportedRun<'_>]) {
    out.leaf("h2", "", "How it was made");
    runs.first().into_iter().for_each(|first| of_run(out, first));
}

/// Returns the title of the section.
pub(super) const fn title(runs: &[ReportedRun<'_>]) -> &'static str {
    if runs.len() > 1 { "How they were run" } else { "How it was run" }
}

fn of_run(out: &mut Markup, shown: &ReportedRun<'_>) {
    let run = shown.run;
    if !run.command_line.is_empty() {
        out.leaf("h3", "", "Command to repeat it");
        out.leaf("pre", "", &command(run));
    }
    out.leaf("h3", "", "Job as written");
    out.leaf("pre", "", &shown.written.map_or_else(|| job_file(run), |text| text.trim_end().to_owned()));
    out.leaf("h3", "", "Where and when");
    out.class("dl", "facts", |out| out.facts(facts(run)));
    disks(out, run);
}

/// Returns the command line with the drawn seed, so that it reproduces the run.
pub(super) fn command(run: &Run) -> String {
    let command = shell_line(&run.command_line);
    let seeded = run.command_line.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let is_ours = run.command_line.first().is_some_and(|program| program == "fathom");
    let takes_seed = is_ours && !seeded && run.command_line.get(1).is_some_and(|word| word != "fio");
    match run.seed.filter(|_| takes_seed) {
        Some(seed) => format!("{command} --seed {seed}"),
        None => command,
    }
}

/// Returns the given options as a job file.
fn job_file(run: &Run) -> String {
    let section = |name: &str, options: &[(String, String)]| {
        let lines: String = options.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
        format!("[{name}]\n{lines}")
    };
    let globals = (!run.globals.is_empty()).then(|| section("global", &run.globals));
    let mut sections: Vec<String> = globals.into_iter().collect();
    for JobResult { name, echo, .. } in &run.jobs {
        let text = section(name, echo);
        // Without group_reporting each worker of a job has its own result.
        if !sections.contains(&text) {
            sections.push(text);
        }
    }
    sections.join("\n").trim_end().to_owned()
}

fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let mut facts =
        vec![("made by", format!("{} {}", run.tool.name, run.tool.version)), ("taken", when_and_where(run))];
    if !run.host.hostname.is_empty() {
        let cpus = if run.host.cpus > 0 { format!(", {} CPUs", run.host.cpus) } else { String::new() };
        facts.push(("machine", format!("{}{cpus}, {}", run.host.hostname, run.host.kernel)));
    }
    facts.extend(run.seed.map(|seed| ("seed", seed.to_string())));
    facts.push(("ended", outcome(run.outcome).to_owned()));
    facts.extend(stuck_lines(&run.stuck, LISTED_MOST).into_iter().map(|line| ("stuck", line)));
    for target in run.jobs.iter().flat_map(|job| &job.evidence.targets) {
        let text = format!("{}, {}", target.path, Bytes::new(target.size));
        if !facts.contains(&("file or device", text.clone())) {
            facts.push(("file or device", text));
        }
    }
    if let Some(model) = &run.model {
        facts.extend(model.volumes.iter().flat_map(volume));
    }
    for note in &run.notes {
        let whose = note.job.as_ref().map_or_else(String::new, |job| format!("{job}: "));
        facts.push(("note", format!("{whose}{}", micro(&note.text))));
    }
    facts
}

fn volume(volume: &ModelledVolume) -> Vec<(&'static str, String)> {
    let mut facts =
        vec![("modelled volume", format!("{}, {}: {}", volume.title, Bytes::new(volume.bytes), volume.name))];
    facts.extend(volume.notes.iter().map(|note| ("of the model", micro(note))));
    facts
}

const fn outcome(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Completed => "completed",
        RunOutcome::Interrupted => "interrupted: results up to the signal",
        RunOutcome::Failed => "a worker failed; results of the others are complete",
        RunOutcome::Running => "still running: results so far",
    }
}

/// Writes a table of disk counters.
fn disks(out: &mut Markup, run: &Run) {
    let head = ["device", "reads", "read", "writes", "written", "busy"];
    let mut table = HtmlTable::new("Device counters", &head, 1);
    for disk in &run.disks {
        let bytes = |sectors: u64| Bytes::new(sectors * SECTOR_BYTES).to_string();
        table.rows.push(vec![
            disk.name.clone(),
            grouped(disk.read_ios),
            bytes(disk.read_sectors),
            grouped(disk.write_ios),
            bytes(disk.write_sectors),
            format!("{:.1}%", disk.util_percent),
        ]);
    }
    if !table.rows.is_empty() {
        out.class("div", "card sheet", |out| table.write(out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell_and_include_the_seed() {
        let run = |words: &[&str]| Run {
            command_line: words.iter().map(|&word| word.to_owned()).collect(),
            seed: Some(7),
            ..Run::default()
        };
        assert_eq!(command(&run(&["fathom", "run", "a b.fio", "it's"])), "fathom run 'a b.fio' 'it'\\''s' --seed 7");
        assert_eq!(command(&run(&["fathom", "run", "--seed=3", "x"])), "fathom run --seed=3 x");
        assert_eq!(command(&run(&["fio", "x.fio"])), "fio x.fio");
    }
}

//! All that was kept of one run.

use analyse::analyse;
use record::{Device, Environment, Ground, Run};
use report::escape;
use report::{Sheet, Style};
use serde::Serialize;
use store::{Entry, Loaded};
use units::{Bytes, grouped};

use super::list::Listed;
use crate::keep;
use crate::recall::Recalled;

/// Where values begin.
const INDENT: usize = 16;

/// The text that the run printed; then what was kept beside it.
pub(super) fn text(recalled: &Recalled, style: Style) -> String {
    let printed = recalled.kept.as_ref().and_then(printed);
    let report = printed.unwrap_or_else(|| report::text(&recalled.run, &analyse(&recalled.run), style));
    let mut sheet = Sheet::new(style.readable(), INDENT);
    if let Some(kept) = &recalled.kept {
        sheet.gap();
        sheet.line(&sheet.strong("Kept"));
        kept_lines(&mut sheet, &kept.entry, kept);
    }
    sheet.gap();
    sheet.line(&sheet.strong("Where and how"));
    surroundings(&mut sheet, &environment(recalled));
    field(&mut sheet, "command", &quoted(&recalled.run.command_line));
    field(&mut sheet, "repeat it", &repetition(&recalled.run));
    if let Some(job) = recalled.kept.as_ref().and_then(|kept| kept.job().ok().flatten()) {
        sheet.gap();
        sheet.line(&sheet.strong("Job as written"));
        job.lines().for_each(|line| sheet.line(&format!("  {line}")));
    }
    format!("{report}{}", sheet.finish())
}

/// What a sweep, a grid or a suite printed.
fn printed(kept: &Loaded) -> Option<String> {
    String::from_utf8(kept.file(keep::TEXT).ok()?).ok()
}

fn environment(recalled: &Recalled) -> Environment {
    let kept = recalled.kept.as_ref().and_then(|kept| kept.environment().ok());
    kept.unwrap_or_else(|| Environment::of(&recalled.run))
}

fn field(sheet: &mut Sheet, label: &str, value: &str) {
    if !value.is_empty() {
        sheet.wrapped(&format!("  {label:<width$}", width = INDENT - 2), value);
    }
}

fn kept_lines(sheet: &mut Sheet, entry: &Entry, kept: &Loaded) {
    field(sheet, "id", &entry.id);
    if let Some(repeat) = &entry.repeat {
        field(sheet, "series", &format!("{}, {} of {}", repeat.series, repeat.number, repeat.of));
    }
    field(sheet, "folder", &kept.folder().to_string_lossy());
    let files = entry.files.iter().map(|(name, seal)| format!("{name} ({})", Bytes::new(seal.bytes)));
    field(sheet, "files", &files.collect::<Vec<_>>().join(", "));
    field(sheet, "retention", if entry.kept { "kept for good" } else { "" });
}

fn surroundings(sheet: &mut Sheet, environment: &Environment) {
    let host = &environment.host;
    let memory = (environment.memory_bytes > 0).then(|| format!("{} of memory", Bytes::new(environment.memory_bytes)));
    let cpus = (host.cpus > 0).then(|| format!("{} CPUs", host.cpus));
    let kernel = (!host.kernel.is_empty()).then(|| format!("Linux {}", host.kernel));
    let named = (!host.hostname.is_empty()).then(|| host.hostname.clone());
    let parts: Vec<String> = [named, cpus, memory, kernel].into_iter().flatten().collect();
    field(sheet, "host", &parts.join(", "));
    field(sheet, "program", &format!("{} {}", environment.tool.name, environment.tool.version));
    field(sheet, "directory", &environment.directory);
    environment.grounds.iter().for_each(|ground| field(sheet, "on", &told(ground)));
}

/// `/srv/data: ext4 on /srv; vdb, disk of 1 TiB, …`.
fn told(ground: &Ground) -> String {
    let filesystem = ground.filesystem.iter().map(|filesystem| format!("{} on {}", filesystem.kind, filesystem.at));
    let parts: Vec<String> = filesystem.chain(ground.devices.iter().map(device)).collect();
    format!("{}: {}", ground.path, parts.join("; "))
}

fn device(device: &Device) -> String {
    let named = |what: &str, value: &Option<String>| value.as_ref().map(|value| format!("{what}{value}"));
    let parts = [
        Some(format!("{}, {} of {}", device.name, device.kind, Bytes::new(device.bytes))),
        named("", &device.model),
        named("serial ", &device.serial),
        named("firmware ", &device.firmware),
        named("over ", &device.backing_file),
        named("scheduler ", &device.scheduler),
        device.nr_requests.map(|requests| format!("{} requests", grouped(requests))),
        device.device_depth.map(|depth| format!("{depth} commands at a time")),
        device
            .hardware_queues
            .map(|queues| format!("{queues} hardware {}", if queues == 1 { "queue" } else { "queues" })),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The command with its seed; of a repeat, with that of the first one.
fn repetition(run: &Run) -> String {
    let has_seed = run.command_line.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let is_ours = run.command_line.first().is_some_and(|program| program == "fathom");
    let later = run.repeat.as_ref().map_or(0, |repeat| u64::from(repeat.number.saturating_sub(1)));
    match run.seed.map(|seed| seed.wrapping_sub(later)) {
        Some(seed) if is_ours && !has_seed => format!("{} --seed={seed}", quoted(&run.command_line)),
        _ => String::new(),
    }
}

/// Words as a shell takes them.
fn quoted(words: &[String]) -> String {
    words.iter().map(|word| escape::shell(word)).collect::<Vec<_>>().join(" ")
}

#[derive(Serialize)]
struct Document<'a> {
    /// Tells readers what this is, and its layout.
    fathom_run: u32,
    /// What the list says of it; `null` of what is not from a store.
    entry: Option<Listed<'a>>,
    folder: Option<String>,
    environment: Environment,
    job: Option<String>,
    run: &'a Run,
}

impl<'a> Document<'a> {
    fn of(recalled: &'a Recalled) -> Self {
        let kept = recalled.kept.as_ref();
        Self {
            fathom_run: 1,
            entry: kept.map(|kept| Listed::of(&kept.entry)),
            folder: kept.map(|kept| kept.folder().to_string_lossy().into_owned()),
            environment: environment(recalled),
            job: kept.and_then(|kept| kept.job().ok().flatten()),
            run: &recalled.run,
        }
    }
}

/// The repeats of a series.
#[derive(Serialize)]
struct Documents<'a> {
    fathom_series: u32,
    runs: Vec<Document<'a>>,
}

/// One document with all of it; of a series with that of all its runs.
pub(super) fn json(recalled: &[Recalled]) -> String {
    let text = match recalled {
        [only] => serde_json::to_string_pretty(&Document::of(only)),
        several => {
            let runs = several.iter().map(Document::of).collect();
            serde_json::to_string_pretty(&Documents { fathom_series: 1, runs })
        }
    };
    format!("{}\n", text.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_such_as_a_shell_takes() {
        let run = Run {
            command_line: ["fathom", "run", "a b.fio", "--name=it's"].map(str::to_owned).to_vec(),
            seed: Some(7),
            ..Run::default()
        };
        assert_eq!(repetition(&run), r"fathom run 'a b.fio' '--name=it'\''s' --seed=7");
        let repeat = record::Repeat { series: "s".to_owned(), number: 3, of: 3 };
        let third = Run { repeat: Some(repeat), ..run.clone() };
        assert!(repetition(&third).ends_with(" --seed=5"), "{}", repetition(&third));
        let seeded = Run { command_line: ["fathom", "run", "--seed", "7"].map(str::to_owned).to_vec(), ..run };
        assert_eq!(repetition(&seeded), "");
    }
}

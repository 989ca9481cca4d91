//! The details of a saved run as text.

use record::{DeviceRecord, EnvironmentRecord, Run, SavedRun, TargetEnvironment};
use results::runs::RunDetails;
use units::{Bytes, counted, grouped};

use crate::escape;
use crate::sheet::{Sheet, SheetStyle};

/// Column in which values begin.
const INDENT: usize = 16;

/// Returns the results that the run printed, followed by the data saved beside them.
#[must_use]
pub fn run_details_text(details: &RunDetails<'_>, results: &str, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), INDENT);
    if let Some((entry, folder)) = details.entry.as_ref().zip(details.folder.as_ref()) {
        sheet.gap();
        sheet.line(&sheet.strong("Kept"));
        saved_lines(&mut sheet, entry.manifest, folder);
    }
    sheet.gap();
    sheet.line(&sheet.strong("Where and how"));
    environment_lines(&mut sheet, &details.environment);
    field(&mut sheet, "command", &escape::shell_line(&details.run.command_line));
    field(&mut sheet, "repeat it", &repetition(details.run));
    if let Some(job) = &details.job {
        sheet.gap();
        sheet.line(&sheet.strong("Job as written"));
        job.lines().for_each(|line| sheet.line(&format!("  {line}")));
    }
    format!("{results}{}", sheet.finish())
}

fn field(sheet: &mut Sheet, label: &str, value: &str) {
    if !value.is_empty() {
        sheet.wrapped(&format!("  {label:<width$}", width = INDENT - 2), value);
    }
}

fn saved_lines(sheet: &mut Sheet, saved: &SavedRun, folder: &str) {
    field(sheet, "id", &saved.id);
    if let Some(repeat) = &saved.repeat {
        field(sheet, "series", &format!("{}, {} of {}", repeat.series, repeat.number, repeat.of));
    }
    field(sheet, "folder", folder);
    let files = saved.files.iter().map(|(name, seal)| format!("{name} ({})", Bytes::new(seal.bytes)));
    field(sheet, "files", &files.collect::<Vec<_>>().join(", "));
    field(sheet, "retention", if saved.kept { "exempt from retention" } else { "" });
}

fn environment_lines(sheet: &mut Sheet, environment: &EnvironmentRecord) {
    let host = &environment.host;
    let memory = (environment.memory_bytes > 0).then(|| format!("{} of memory", Bytes::new(environment.memory_bytes)));
    let cpus = (host.cpus > 0).then(|| format!("{} CPUs", host.cpus));
    let kernel = (!host.kernel.is_empty()).then(|| format!("Linux {}", host.kernel));
    let named = (!host.hostname.is_empty()).then(|| host.hostname.clone());
    let parts: Vec<String> = [named, cpus, memory, kernel].into_iter().flatten().collect();
    field(sheet, "host", &parts.join(", "));
    field(sheet, "program", &format!("{} {}", environment.tool.name, environment.tool.version));
    field(sheet, "directory", &environment.directory);
    environment.grounds.iter().for_each(|target| field(sheet, "on", &storage(target)));
}

/// Describes a file system and its devices: `/srv/data: ext4 on /srv; vdb, disk of 1 TiB, …`.
fn storage(target: &TargetEnvironment) -> String {
    let filesystem = target.filesystem.iter().map(|filesystem| format!("{} on {}", filesystem.kind, filesystem.at));
    let parts: Vec<String> = filesystem.chain(target.devices.iter().map(device)).collect();
    format!("{}: {}", target.path, parts.join("; "))
}

fn device(device: &DeviceRecord) -> String {
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
        device.hardware_queues.map(|queues| counted(queues.into(), "hardware queue")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the command that reproduces the run, with its seed. For a repeat, it is the seed of the first run of the
/// series.
fn repetition(run: &Run) -> String {
    let has_seed = run.command_line.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let is_ours = run.command_line.first().is_some_and(|program| program == "fathom");
    let later = run.repeat.as_ref().map_or(0, |repeat| u64::from(repeat.number.saturating_sub(1)));
    match run.seed.map(|seed| seed.wrapping_sub(later)) {
        Some(seed) if is_ours && !has_seed => format!("{} --seed={seed}", escape::shell_line(&run.command_line)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_is_reproduced_with_the_seed_of_its_series() {
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

//! Converts saved runs to the data that `report` prints.

use jiff::tz::TimeZone;
use record::EnvironmentRecord;
use report::SheetStyle;
use report::runs::{RunDetails, SavedRun, SkippedRun};
use store::{Entry, Listing, StoredRun};

use super::when;
use crate::run_argument::ResolvedRun;
use crate::save;

/// Converts an entry of the store.
pub(super) fn run<'a>(entry: &'a Entry, zone: &TimeZone) -> SavedRun<'a, Entry> {
    SavedRun {
        manifest: entry,
        id: &entry.id,
        kind: entry.kind.to_string(),
        name: &entry.name,
        repeat: entry.repeat.as_ref(),
        targets: &entry.targets,
        started_unix_ms: entry.started_unix_ms,
        utc_offset_s: when::utc_offset_s(entry.started_unix_ms, zone),
        iops: entry.iops,
        p99_ns: entry.p99_ns,
        outcome: entry.outcome,
        verdict: entry.verdict.as_deref(),
        files: entry.files.iter().map(|(name, seal)| (name.as_str(), seal.bytes)).collect(),
        is_kept: entry.kept,
    }
}

/// Returns the entries of the store that are not readable runs.
pub(super) fn skipped(listing: &Listing) -> Vec<SkippedRun> {
    let skipped = |(name, error): &(String, store::Error)| SkippedRun {
        name: name.clone(),
        path: error.path.display().to_string(),
        problem: format!("{}: {}", error.reason, error.remedy),
    };
    listing.skipped.iter().map(skipped).collect()
}

/// Converts a run and the files saved beside its record.
pub(super) fn details<'a>(resolved: &'a ResolvedRun, zone: &TimeZone) -> RunDetails<'a, Entry> {
    let saved = resolved.loaded.as_ref();
    let environment = saved.and_then(|saved| saved.environment().ok());
    RunDetails {
        run: &resolved.run,
        saved: saved.map(|saved| (run(&saved.entry, zone), saved.folder().to_string_lossy().into_owned())),
        environment: environment.unwrap_or_else(|| EnvironmentRecord::of(&resolved.run)),
        job: saved.and_then(|saved| saved.job().ok().flatten()),
    }
}

/// Returns the saved text of a sweep, a grid or a suite, and the results of any other run.
pub(super) fn results(resolved: &ResolvedRun, style: SheetStyle) -> String {
    let printed = |saved: &StoredRun| String::from_utf8(saved.file(save::TEXT).ok()?).ok();
    let results = || report::text(&resolved.run, &analyse::analyse(&resolved.run), style);
    resolved.loaded.as_ref().and_then(printed).unwrap_or_else(results)
}

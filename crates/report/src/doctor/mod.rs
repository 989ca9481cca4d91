//! The doctor's findings as text, Markdown and JSON. Sentences are in `meaning.rs`.

mod answer;
mod commands;
mod meaning;
mod page;
mod programs;
mod values;

use analyse::doctor::{DoctorFinding, DoctorSubject, FactLayerKind, FilesystemFacts, LayerFacts, Purpose};
use results::doctor::{DoctorRemedy, DoctorTally};
use units::Bytes;

pub(crate) use page::doctor_text;
pub use programs::doctor_checks;
pub(crate) use programs::{doctor_json, doctor_page};

/// Replaces control characters, so that text from the host cannot control a terminal.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Returns `2 problems, 3 could be better, 19 good`.
fn tally_words(tally: DoctorTally) -> String {
    let problems = match tally.problem {
        0 => String::new(),
        n => units::counted(n as u64, "problem"),
    };
    let some = |n: usize, words: &str| if n == 0 { String::new() } else { format!("{n} {words}") };
    let parts = [
        problems,
        some(tally.could_be_better, "could be better"),
        some(tally.good, "good"),
        some(tally.unknown, "unknown"),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "nothing to check".to_owned() } else { parts.join(", ") }
}

/// Returns the name of a subject: as requested, without `/dev/`.
fn name(subject: &DoctorSubject) -> String {
    let bare = subject.asked.strip_prefix("/dev/").filter(|_| !subject.layers.is_empty());
    clean(bare.unwrap_or(&subject.asked))
}

/// Describes a storage stack, the highest layer first: `ext4 at / on vda (virtio_blk, 256 GiB)`.
fn stack(subject: &DoctorSubject) -> String {
    let filesystem = |of: &FilesystemFacts| format!("{} at {}", clean(&of.kind), clean(&of.at));
    let filesystems = subject.filesystems.iter().map(filesystem).collect::<Vec<_>>().join(", ");
    let devices = subject.layers.iter().map(layer).collect::<Vec<_>>().join(" on ");
    let known = [filesystems, devices].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" on ");
    match subject.bottom {
        Some(bottom) if known.is_empty() => meaning::bottom(bottom).to_owned(),
        Some(bottom) => format!("{known}: {}", meaning::bottom(bottom)),
        None => known,
    }
}

/// Describes a layer: `md0 (raid5, 4 TiB)`.
fn layer(layer: &LayerFacts) -> String {
    let size = Bytes::new(layer.bytes).to_string();
    let facts = match &layer.kind {
        FactLayerKind::Partition { .. } => vec![size],
        FactLayerKind::Mapping { name, kind } => {
            vec![clean(if kind.is_empty() { "device mapper" } else { kind }), clean(name), size]
        }
        FactLayerKind::Raid(state) => vec![state.as_ref().map_or("RAID".to_owned(), |(level, _)| clean(level)), size],
        FactLayerKind::Loop { file, .. } => vec![clean(file), size],
        FactLayerKind::Disk(disk) => vec![clean(&disk.model), clean(&disk.driver), size],
    };
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    format!("{} ({})", clean(&layer.name), facts.join(", "))
}

/// Returns the commands for a finding. If purposes need different values, each command states its purpose.
fn remedies(finding: &DoctorFinding, purpose: Option<Purpose>) -> Vec<DoctorRemedy> {
    let of =
        |purpose: Purpose, words: &'static str| finding.side(purpose).changes.iter().map(move |change| (change, words));
    let (iops, throughput) = (of(Purpose::Iops, "for IOPS"), of(Purpose::Throughput, "for throughput"));
    let changes: Vec<_> = match purpose {
        Some(Purpose::Iops) => iops.collect(),
        Some(Purpose::Throughput) => throughput.collect(),
        None if finding.iops.changes == finding.throughput.changes => iops.collect(),
        None => iops.chain(throughput).collect(),
    };
    // The purpose is stated only if each purpose has a different value.
    let differ = purpose.is_none() && !finding.iops.changes.is_empty() && !finding.throughput.changes.is_empty();
    let differ = differ && finding.iops.changes != finding.throughput.changes;
    let remedy = |(change, words): (&_, &'static str)| DoctorRemedy {
        now: commands::now(change),
        always: commands::always(change),
        purpose: if differ { Some(words) } else { None },
    };
    changes.into_iter().map(remedy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tally_is_one_phrase() {
        let tally = |problem, could_be_better, good, unknown| {
            tally_words(DoctorTally { problem, could_be_better, good, unknown })
        };
        assert_eq!(tally(2, 3, 19, 0), "2 problems, 3 could be better, 19 good");
        assert_eq!(tally(1, 0, 0, 1), "1 problem, 1 unknown");
        assert_eq!(tally(0, 0, 0, 0), "nothing to check");
    }

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(clean("a\u{1b}[31mb\n\u{7}"), "a?[31mb??");
    }
}

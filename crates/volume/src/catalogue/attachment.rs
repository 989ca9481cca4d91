//! Which machines take which volumes.

use super::cited;
use super::key::{KeyKind, SchemaKey};
use super::schema::{Provider, VolumeType};
use super::table::{self, NO, ON_REQUEST};
use crate::spec;

/// Reports whether a machine is known not to take a volume.
pub(super) fn is_refused(provider: &Provider, volume: &VolumeType, machine: &str) -> bool {
    let column = machine_key(volume).and_then(|key| key.attach.as_ref());
    let found = column.and_then(|column| table::attachment(&provider.tables, column, machine));
    found.is_some_and(|(word, _)| word == NO)
}

/// Returns why a machine cannot take a volume, and which volumes it takes; `None` if it can, or if nothing is known.
pub(super) fn refusal(provider: &Provider, volume: &VolumeType, machine: &str) -> Option<(String, String)> {
    let column = machine_key(volume)?.attach.as_ref()?;
    let (_, source) = table::attachment(&provider.tables, column, machine).filter(|(word, _)| *word == NO)?;
    let series = machine.split('-').next().unwrap_or_default();
    let of_series = |row: &&str| row.split('-').next().is_some_and(|known| known.eq_ignore_ascii_case(series));
    let only: Vec<&str> = takers(provider, column).into_iter().filter(of_series).collect();
    let only = if only.is_empty() { String::new() } else { format!("; in this series only to {}", only.join(", ")) };
    let message = format!("cannot be attached to {machine}{only}");
    let takes = |other: &&VolumeType| {
        let is_taken = |key: &SchemaKey| match (&key.attach, &key.kind) {
            (Some(column), _) => {
                table::attachment(&provider.tables, column, machine).is_some_and(|(word, _)| word != NO)
            }
            (None, KeyKind::Machine(id)) => table::find(&provider.tables, id, machine).is_some(),
            _ => false,
        };
        other.edition.is_none() && machine_key(other).is_some_and(is_taken)
    };
    let others: Vec<&str> = provider.types.iter().filter(takes).map(|other| other.id.as_str()).collect();
    let others = if others.is_empty() { "none of the volumes in the catalogue".to_owned() } else { others.join(", ") };
    Some((message, format!("it supports {others} ({})", cited(provider, source.as_ref()))))
}

/// Returns the note for a machine that takes a volume on request to the provider alone.
pub(super) fn on_request(provider: &Provider, key: &SchemaKey, id: &str, machine: &str) -> Option<String> {
    let (word, source) = table::attachment(&provider.tables, key.attach.as_ref()?, machine)?;
    let source = cited(provider, source.as_ref());
    let note = || format!("{}: {machine} supports {id} after a request to the provider ({source})", spec::ON_REQUEST);
    (word == ON_REQUEST).then(note)
}

/// Returns the machines that take a volume, as the tables name them.
pub(super) fn takers<'a>(provider: &'a Provider, column: &'a str) -> Vec<&'a str> {
    let rows = table::column(&provider.tables, table::ATTACHMENTS, column);
    rows.filter(|(_, word)| *word != NO).map(|(row, _)| row).collect()
}

/// Returns the key that names a volume's machine.
pub(super) fn machine_key(volume: &VolumeType) -> Option<&SchemaKey> {
    volume.keys.iter().find(|key| matches!(key.kind, KeyKind::Machine(_)))
}

//! The exports that clients see.

use nbd::server::Offer;
use nbd::store::{Store, StoreCapabilities};
use nbd::wire::{Export, ExportBlockSizes, TransmissionFlags as Flags};
use results::serve::ExportStats;
use volume::{Attachment, Behaviour, Limit};

use crate::addresses::BoundAddress;
use crate::requested::RequestedExport;
use crate::stats::ExportFacts;

/// Maximum length of a description (protocol document, "strings").
const MAX_DESCRIPTION: usize = 4096;

/// Returns the exports, each with its own store, and the attachments of those with a model.
pub(crate) fn offers(
    requested: &[RequestedExport],
    stores: &[Box<dyn Store>],
    read_only: bool,
) -> (Vec<Offer>, Vec<Attachment>) {
    let mut attachments = Vec::new();
    let offers = requested.iter().zip(stores).enumerate().map(|(store, (requested, bytes))| {
        let route = requested.model.as_ref().map(|model| {
            attachments.push(model.clone());
            attachments.len() - 1
        });
        Offer { export: export(requested, bytes.as_ref(), read_only), store, route }
    });
    (offers.collect(), attachments)
}

fn export(requested: &RequestedExport, store: &dyn Store, read_only: bool) -> Export {
    let mut description = match &requested.model {
        Some(model) => model.spec.name.clone(),
        None => format!("{} without a model", requested.store.text()),
    };
    while description.len() > MAX_DESCRIPTION {
        description.pop();
    }
    let turns = requested.model.as_ref().is_some_and(|model| matches!(model.spec.behaviour, Behaviour::Drive(_)));
    let flags = flags(store.abilities(), read_only);
    Export {
        name: requested.name.clone(),
        description,
        size: store.size(),
        flags: if turns { flags | Flags::ROTATIONAL } else { flags },
        block: ExportBlockSizes::DEFAULT,
    }
}

/// Returns the capabilities of an export. One thread serves all clients, so a flush applies to all connections
/// (`CAN_MULTI_CONN`).
fn flags(abilities: StoreCapabilities, read_only: bool) -> Flags {
    let all = Flags::HAS_FLAGS | Flags::SEND_FLUSH | Flags::SEND_DF | Flags::SEND_CACHE | Flags::CAN_MULTI_CONN;
    if read_only || !abilities.write {
        return all | Flags::READ_ONLY;
    }
    let mut flags = all | Flags::SEND_FUA | Flags::SEND_WRITE_ZEROES;
    if abilities.trim {
        flags = flags | Flags::SEND_TRIM;
    }
    if abilities.fast_zero {
        flags = flags | Flags::SEND_FAST_ZERO;
    }
    flags
}

/// Returns facts about the exports for statistics.
pub(crate) fn facts(
    requested: &[RequestedExport],
    offers: &[Offer],
    addresses: &[BoundAddress],
    faulty: bool,
) -> Vec<ExportFacts> {
    let all = requested.iter().zip(offers);
    let merges = |limit: &&Limit| limit.merging.is_some();
    let stats = |requested: &RequestedExport, offer: &Offer| ExportStats {
        name: requested.name.clone(),
        uris: addresses.iter().map(|bound| bound.uri(&requested.name).to_string()).collect(),
        volume: requested.model.as_ref().map(|model| model.spec.name.clone()),
        store: requested.store.text(),
        size_bytes: offer.export.size,
        read_only: offer.export.flags.contains(Flags::READ_ONLY),
        notes: requested.model.iter().filter_map(|model| model.spec.unknown_machine()).map(str::to_owned).collect(),
        ..ExportStats::default()
    };
    all.map(|(requested, offer)| ExportFacts {
        stats: stats(requested, offer),
        route: offer.route,
        merging: requested.model.iter().flat_map(|model| &model.spec.limits).filter(merges).cloned().collect(),
        faulty,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_exports_announce_no_writes() {
        let able = StoreCapabilities { write: true, trim: true, fast_zero: true };
        let writing = Flags::SEND_FUA | Flags::SEND_TRIM | Flags::SEND_WRITE_ZEROES | Flags::SEND_FAST_ZERO;
        assert!(flags(able, false).contains(writing) && !flags(able, false).contains(Flags::READ_ONLY));
        for flags in [flags(able, true), flags(StoreCapabilities::default(), false)] {
            assert!(flags.contains(Flags::READ_ONLY | Flags::CAN_MULTI_CONN));
            assert_eq!(flags.without(writing), flags);
        }
    }
}

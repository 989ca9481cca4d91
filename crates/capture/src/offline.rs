//! Requests out of pages that were saved, without a kernel that writes them.

use trace::TraceRequest;
use units::Problem;

use crate::event::{BIO_EVENTS, EventDecoder, REQUEST_EVENTS};
use crate::layout::PageLayout;
use crate::merge::{CpuEvents, merge};
use crate::names::ProcessNames;
use crate::page::RingPage;
use crate::pairing::{PairingCounts, RequestPairing};

/// Requests of saved pages.
#[derive(Clone, Debug, Default)]
pub struct DecodedPages {
    /// Requests, in the order of their issue as far as possible.
    pub requests: Vec<TraceRequest>,
    /// Names of processes.
    pub processes: Vec<String>,
    /// Counts of requests.
    pub counts: PairingCounts,
    /// Number of events that were overwritten or are in damaged pages.
    pub missed: u64,
}

/// Decodes the pages of the buffers of some CPUs. `formats` are names of events with their `format` files; events
/// that a capture does not record are skipped.
///
/// # Errors
/// Returns the file that is not understood and why.
pub fn decode_pages(header_page: &str, formats: &[(&str, &str)], cpus: &[Vec<&[u8]>]) -> Result<DecodedPages, Problem> {
    let layout = PageLayout::parse(header_page).map_err(|problem| problem.of("header_page"))?;
    let known = REQUEST_EVENTS.iter().chain(&BIO_EVENTS);
    let format = |name: &str| formats.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    let formats: Vec<_> = known.filter_map(|event| Some((*event, format(event.name)?))).collect();
    let decoder = EventDecoder::new(&formats)?;
    let mut names = ProcessNames::default();
    let mut decoded = DecodedPages::default();
    let mut queues = Vec::new();
    for pages in cpus {
        let mut events = CpuEvents::default();
        for bytes in pages {
            let mut page = RingPage::new(&layout, bytes);
            decoded.missed = decoded.missed.saturating_add(page.missed().unwrap_or(0));
            for event in page.by_ref() {
                if let Some(event) = decoder.decode(event.time_ns, event.bytes, &mut names) {
                    events.push(event);
                }
            }
            decoded.missed = decoded.missed.saturating_add(page.is_damaged().into());
        }
        events.set_drained(true);
        queues.push(events);
    }
    let mut pairing = RequestPairing::default();
    merge(&mut queues, u64::MAX, |event| {
        pairing.add(event, &mut decoded.requests);
    });
    pairing.finish(&mut decoded.requests);
    decoded.counts = pairing.counts();
    decoded.processes = names.names().to_vec();
    Ok(decoded)
}

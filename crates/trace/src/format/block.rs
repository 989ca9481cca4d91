//! Requests of one block, by columns.
//!
//! Instants are rounded down to whole ticks before differences are taken, so that a request issued after the completion
//! of another is not before it in the trace either: replays infer dependencies from that order. A duration is therefore
//! wrong by less than one tick in either direction, and right on average.

use super::bits::BlockFields;
use super::classes::Classes;
use super::column::{ColumnReader, ColumnWriter};
use super::offsets::{OffsetReader, OffsetWriter};
use crate::TraceRequest;

/// Classes with their own distribution of times, by the number of requests: a table costs about 100 bytes.
fn time_contexts(requests: usize) -> usize {
    match requests {
        0..2_048 => 1,
        2_048..8_192 => 2,
        _ => 4,
    }
}

/// Appends `requests`, which are sorted by the instant of issue; `first_tick` is that of the first.
pub(super) fn encode(requests: &[TraceRequest], tick_ns: u64, first_tick: u64, bytes: &mut Vec<u8>) {
    let (classes, ids) = Classes::of(requests);
    classes.write(bytes);
    let contexts = time_contexts(requests.len());
    let mut class_column = ColumnWriter::<4>::default();
    let mut lengths = ColumnWriter::<2>::default();
    let mut gaps = ColumnWriter::<2>::default();
    let mut queued: [ColumnWriter<2>; 4] = Default::default();
    let mut service: [ColumnWriter<2>; 4] = Default::default();
    let mut offsets = OffsetWriter::new(&classes);
    let unit = if classes.has_lengths { length_unit(requests) } else { 0 };
    bytes.push(unit as u8);
    let mut tick = first_tick;
    for (request, id) in requests.iter().zip(&ids) {
        class_column.push(u64::from(*id));
        if classes.has_lengths {
            lengths.push(u64::from(request.length) >> unit);
        }
        let issued = request.issued_ns / tick_ns;
        gaps.push(issued - tick);
        tick = issued;
        let context = (*id as usize).min(contexts - 1);
        queued[context].push(
            request
                .queued_ns
                .map_or(0, |queued| (issued - request.issued_ns.saturating_sub(queued) / tick_ns).saturating_add(1)),
        );
        service[context].push(
            request
                .service_ns
                .map_or(0, |service| (request.issued_ns.saturating_add(service) / tick_ns - issued).saturating_add(1)),
        );
        offsets.push(*id, &classes.classes[*id as usize], request.offset, request.length);
    }
    class_column.finish(bytes);
    lengths.finish(bytes);
    gaps.finish(bytes);
    queued.into_iter().for_each(|column| column.finish(bytes));
    service.into_iter().for_each(|column| column.finish(bytes));
    offsets.finish(bytes);
}

/// Returns the number of low bits that are zero in all lengths.
fn length_unit(requests: &[TraceRequest]) -> u32 {
    let bits = requests.iter().fold(0, |bits, request| bits | request.length);
    if bits == 0 { 0 } else { bits.trailing_zeros() }
}

/// Appends `count` requests to `requests`. `None` means that the content is not valid.
pub(super) fn decode(
    content: &[u8],
    count: usize,
    tick_ns: u64,
    first_tick: u64,
    requests: &mut Vec<TraceRequest>,
) -> Option<()> {
    let mut fields = BlockFields(content);
    let classes = Classes::read(&mut fields)?;
    let unit = u32::from(fields.byte()?);
    let mut class_column = ColumnReader::<4>::new(&mut fields, count)?;
    let ids: Vec<u32> = (0..count).map(|_| class_column.next() as u32).collect();
    if ids.iter().any(|id| *id as usize >= classes.classes.len()) {
        return None;
    }
    let mut lengths = ColumnReader::<2>::new(&mut fields, if classes.has_lengths { count } else { 0 })?;
    let mut gaps = ColumnReader::<2>::new(&mut fields, count)?;
    let contexts = time_contexts(count);
    let mut counts = [0; 4];
    ids.iter().for_each(|id| counts[(*id as usize).min(contexts - 1)] += 1);
    let mut queued = columns(&mut fields, counts)?;
    let mut service = columns(&mut fields, counts)?;
    let mut offsets = OffsetReader::new(&mut fields, &classes, &ids)?;
    let templates: Vec<TraceRequest> = classes.classes.iter().map(super::classes::RequestClass::request).collect();
    let mut tick = first_tick;
    requests.reserve(count);
    for id in ids {
        let mut request = templates[id as usize];
        if classes.has_lengths {
            request.length = u32::try_from(lengths.next().checked_shl(unit)?).ok()?;
        }
        tick = tick.checked_add(gaps.next())?;
        request.issued_ns = tick.saturating_mul(tick_ns);
        let context = (id as usize).min(contexts - 1);
        request.queued_ns = queued[context].next().checked_sub(1).map(|ticks| ticks.saturating_mul(tick_ns));
        request.service_ns = service[context].next().checked_sub(1).map(|ticks| ticks.saturating_mul(tick_ns));
        request.offset = offsets.next(id, &classes.classes[id as usize], request.length);
        requests.push(request);
    }
    Some(())
}

fn columns<'a>(fields: &mut BlockFields<'a>, counts: [usize; 4]) -> Option<[ColumnReader<'a, 2>; 4]> {
    let [first, second, third, fourth] = counts;
    Some([
        ColumnReader::new(fields, first)?,
        ColumnReader::new(fields, second)?,
        ColumnReader::new(fields, third)?,
        ColumnReader::new(fields, fourth)?,
    ])
}

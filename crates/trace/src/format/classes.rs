//! Classes of requests: what a request does, for which process, on which device, and mostly also its length.
//!
//! A block has few of them, so that one symbol stands for all these fields. Where lengths vary too much for that, they
//! have a column of their own.

use std::collections::BTreeMap;

use super::bits::{BlockFields, push_varint};
use crate::{TraceOperation, TraceRequest};

/// Maximum number of classes that include the length.
const JOINT_MAX: usize = 512;

/// A class and the offsets of its requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestClass {
    /// All fields but times, offset and length.
    attributes: u64,
    /// Length in bytes; zero if lengths have a column.
    length: u32,
    count: u32,
    /// Lowest and highest offset in bytes.
    base: u64,
    top: u64,
    /// Bits in which offsets differ.
    varying: u64,
    /// Number of low bits in which offsets do not differ.
    pub(super) shift: u32,
    /// Number of bits of an offset relative to the base, without those.
    pub(super) width: u32,
    /// Index of the stream: the operation, process and device, within which requests are often sequential.
    pub(super) stream: u32,
}

impl RequestClass {
    fn new(request: &TraceRequest, has_length: bool) -> Self {
        Self {
            attributes: attributes(request),
            length: if has_length { request.length } else { 0 },
            count: 0,
            base: request.offset,
            top: request.offset,
            varying: 0,
            shift: 0,
            width: 0,
            stream: 0,
        }
    }

    fn add(&mut self, offset: u64) {
        self.count += 1;
        self.varying |= offset ^ self.base;
        self.base = self.base.min(offset);
        self.top = self.top.max(offset);
    }

    /// Returns the offset in units of the class, relative to its base.
    #[inline]
    pub(super) fn relative(&self, offset: u64) -> u64 {
        (offset - self.base) >> self.shift
    }

    /// Reverses [`Self::relative`].
    #[inline]
    pub(super) fn absolute(&self, relative: u64) -> u64 {
        self.base.wrapping_add(relative << self.shift)
    }

    /// Returns a request of the class, without times and offset.
    pub(super) fn request(&self) -> TraceRequest {
        let bit = |bit: u32| self.attributes >> bit & 1 == 1;
        TraceRequest {
            length: self.length,
            operation: operation_of(self.attributes & 7),
            is_sync: bit(3),
            is_meta: bit(4),
            is_fua: bit(5),
            is_preflush: bit(6),
            is_readahead: bit(7),
            has_failed: bit(8),
            process: (self.attributes >> 9) as u16,
            device: (self.attributes >> 25) as u16,
            ..TraceRequest::default()
        }
    }

    fn stream_key(&self) -> u64 {
        self.attributes & !0x1f8
    }
}

fn attributes(request: &TraceRequest) -> u64 {
    let operation = match request.operation {
        TraceOperation::Read => 0,
        TraceOperation::Write => 1,
        TraceOperation::Flush => 2,
        TraceOperation::Discard => 3,
        TraceOperation::WriteZeroes => 4,
        TraceOperation::Other => 5,
    };
    operation
        | u64::from(request.is_sync) << 3
        | u64::from(request.is_meta) << 4
        | u64::from(request.is_fua) << 5
        | u64::from(request.is_preflush) << 6
        | u64::from(request.is_readahead) << 7
        | u64::from(request.has_failed) << 8
        | u64::from(request.process) << 9
        | u64::from(request.device) << 25
}

/// Operations that a later version adds are others to this one.
fn operation_of(code: u64) -> TraceOperation {
    match code {
        0 => TraceOperation::Read,
        1 => TraceOperation::Write,
        2 => TraceOperation::Flush,
        3 => TraceOperation::Discard,
        4 => TraceOperation::WriteZeroes,
        _ => TraceOperation::Other,
    }
}

/// The classes of a block, the most frequent first.
#[derive(Debug)]
pub(super) struct Classes {
    pub(super) classes: Vec<RequestClass>,
    pub(super) streams: usize,
    /// Whether lengths have a column.
    pub(super) has_lengths: bool,
}

impl Classes {
    /// Returns the classes of `requests` and the index of the class of each.
    pub(super) fn of(requests: &[TraceRequest]) -> (Self, Vec<u32>) {
        let mut ids = Vec::with_capacity(requests.len());
        let (classes, has_lengths) = match joint(requests, &mut ids) {
            Some(classes) => (classes, false),
            None => (separate(requests, &mut ids), true),
        };
        let mut order: Vec<u32> = (0..classes.len() as u32).collect();
        order.sort_by_key(|id| std::cmp::Reverse(classes[*id as usize].count));
        let mut rank = vec![0; classes.len()];
        order.iter().enumerate().for_each(|(index, id)| rank[*id as usize] = index as u32);
        ids.iter_mut().for_each(|id| *id = rank[*id as usize]);
        let mut classes: Vec<RequestClass> = order.iter().map(|id| classes[*id as usize]).collect();
        for class in &mut classes {
            // Equal offsets differ nowhere.
            class.shift = if class.varying == 0 { 0 } else { class.varying.trailing_zeros() };
            class.width = u64::BITS - class.relative(class.top).leading_zeros();
        }
        let streams = number_streams(&mut classes);
        (Self { classes, streams, has_lengths }, ids)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.has_lengths));
        push_varint(bytes, self.classes.len() as u64);
        for class in &self.classes {
            push_varint(bytes, class.attributes);
            push_varint(bytes, u64::from(class.length));
            push_varint(bytes, class.base);
            bytes.extend_from_slice(&[class.shift as u8, class.width as u8]);
        }
    }

    /// `None` means that the content is not valid.
    pub(super) fn read(fields: &mut BlockFields) -> Option<Self> {
        let has_lengths = fields.byte()? != 0;
        let count = fields.varint()?;
        let mut classes = Vec::new();
        for _ in 0..count {
            let (attributes, length) = (fields.varint()?, u32::try_from(fields.varint()?).ok()?);
            let base = fields.varint()?;
            let (shift, width) = (u32::from(fields.byte()?), u32::from(fields.byte()?));
            if shift + width > u64::BITS || shift == u64::BITS {
                return None;
            }
            let class =
                RequestClass { attributes, length, count: 0, base, top: 0, varying: 0, shift, width, stream: 0 };
            classes.push(class);
        }
        let streams = number_streams(&mut classes);
        Some(Self { classes, streams, has_lengths })
    }
}

fn number_streams(classes: &mut [RequestClass]) -> usize {
    let mut streams = BTreeMap::new();
    for class in classes {
        let next = streams.len() as u32;
        class.stream = *streams.entry(class.stream_key()).or_insert(next);
    }
    streams.len()
}

/// Returns classes with lengths, in the order of their first request; `None` if there are too many.
fn joint(requests: &[TraceRequest], ids: &mut Vec<u32>) -> Option<Vec<RequestClass>> {
    const SLOTS: usize = 4 * JOINT_MAX;
    const FREE: u32 = u32::MAX;
    let mut slots = [FREE; SLOTS];
    let mut classes: Vec<RequestClass> = Vec::new();
    for request in requests {
        let key = attributes(request);
        let hash = (key ^ u64::from(request.length) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (hash >> 53) as usize % SLOTS;
        let id = loop {
            let id = slots[slot];
            if id == FREE {
                if classes.len() == JOINT_MAX {
                    ids.clear();
                    return None;
                }
                slots[slot] = classes.len() as u32;
                classes.push(RequestClass::new(request, true));
                break slots[slot];
            }
            let class = &classes[id as usize];
            if class.attributes == key && class.length == request.length {
                break id;
            }
            slot = (slot + 1) % SLOTS;
        };
        classes[id as usize].add(request.offset);
        ids.push(id);
    }
    Some(classes)
}

/// Returns classes without lengths, in the order of their first request.
fn separate(requests: &[TraceRequest], ids: &mut Vec<u32>) -> Vec<RequestClass> {
    let mut known = BTreeMap::new();
    let mut classes: Vec<RequestClass> = Vec::new();
    for request in requests {
        let id = *known.entry(attributes(request)).or_insert(classes.len());
        if id == classes.len() {
            classes.push(RequestClass::new(request, false));
        }
        classes[id].add(request.offset);
        ids.push(id as u32);
    }
    classes
}

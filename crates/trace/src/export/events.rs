//! Events of blktrace, binary or as `blkparse` prints them.
//!
//! A request becomes `Q`, `I` if its time in the queue is known, `D`, and `C` if it completed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::{SECTOR, device_name, push_text};
use crate::import::{BlockAction, RawEvent, category};
use crate::{TraceInfo, TraceOperation, TraceRequest};

/// Maximum number of events that wait for earlier ones.
const WAITING_MAX: usize = 1 << 16;

/// Major number of devices without one: that of extended block devices.
const MAJOR: u32 = 259;

/// `EIO`: traces do not keep which error it was.
const FAILED: u16 = 5;

/// A request as its events name it.
#[derive(Clone, Copy, Debug)]
struct Named {
    request: TraceRequest,
    device: (u32, u32),
    pid: u32,
}

/// Writes events in the order of their times.
#[derive(Debug)]
pub(super) struct EventExport {
    is_binary: bool,
    /// By time; events of the same time in the order of their number. Those without an action name the process.
    waiting: BinaryHeap<Reverse<(u64, u64, Option<BlockAction>)>>,
    /// Requests by the number of their events.
    requests: BTreeMap<u64, (Named, u8)>,
    count: u64,
    sequence: u32,
    has_clock: bool,
    /// Commands by process identifier.
    commands: BTreeMap<u32, String>,
}

impl EventExport {
    pub(super) fn new(is_binary: bool) -> Self {
        Self {
            is_binary,
            waiting: BinaryHeap::new(),
            requests: BTreeMap::new(),
            count: 0,
            sequence: 0,
            has_clock: false,
            commands: BTreeMap::new(),
        }
    }

    /// Returns whether the format can express the request.
    pub(super) fn push(&mut self, request: &TraceRequest, info: &TraceInfo, output: &mut Vec<u8>) -> bool {
        if request.operation == TraceOperation::Other {
            return false;
        }
        self.write_clock(info, output);
        let (pid, is_new) = self.process(request, info);
        let name = device_name(info, request.device);
        let number = name.split_once(',').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let device = number.unwrap_or((MAJOR, request.device.into()));
        let issued = request.issued_ns;
        let queued = issued.saturating_sub(request.queued_ns.unwrap_or(0));
        let events = [
            Some((queued, None)).filter(|_| is_new && self.is_binary),
            Some((queued, Some(BlockAction::Queue))),
            request.queued_ns.map(|_| (queued, Some(BlockAction::Insert))),
            Some((issued, Some(BlockAction::Issue))),
            request.service_ns.map(|service| (issued.saturating_add(service), Some(BlockAction::Complete))),
        ];
        let id = self.count;
        self.count += 1;
        self.requests.insert(id, (Named { request: *request, device, pid }, events.iter().flatten().count() as u8));
        self.waiting.extend(events.into_iter().flatten().map(|(time, action)| Reverse((time, id, action))));
        while self.waiting.len() > WAITING_MAX {
            self.write_next(output);
        }
        true
    }

    pub(super) fn finish(mut self, output: &mut Vec<u8>) {
        while !self.waiting.is_empty() {
            self.write_next(output);
        }
    }

    fn write_next(&mut self, output: &mut Vec<u8>) {
        let Some(Reverse((time, id, action))) = self.waiting.pop() else { return };
        let Some((named, left)) = self.requests.get_mut(&id) else { return };
        *left -= 1;
        let named = *named;
        if *left == 0 {
            self.requests.remove(&id);
        }
        let Some(action) = action else { return self.write_note(time, named.pid, output) };
        self.sequence = self.sequence.wrapping_add(1);
        if self.is_binary {
            self.write_binary(time, action, &named, output);
        } else {
            self.write_text(time, action, &named, output);
        }
    }

    fn write_binary(&self, time: u64, action: BlockAction, named: &Named, output: &mut Vec<u8>) {
        let (number, class) = match action {
            BlockAction::Issue => (7, category::ISSUE),
            BlockAction::Complete => (8, category::COMPLETE),
            BlockAction::Insert => (12, category::QUEUE),
            _ => (1, category::QUEUE),
        };
        let TraceRequest { operation, offset, length, .. } = named.request;
        let mut categories = class;
        let mut add = |condition: bool, category: u64| categories |= if condition { category } else { 0 };
        let is_read = matches!(operation, TraceOperation::Read | TraceOperation::Flush);
        add(is_read, category::READ);
        add(!is_read, category::WRITE);
        add(operation == TraceOperation::Discard, category::DISCARD);
        add(operation == TraceOperation::Flush || named.request.is_preflush, category::FLUSH);
        add(named.request.is_fua, category::FUA);
        add(named.request.is_sync, category::SYNC);
        add(named.request.is_meta, category::META);
        add(named.request.is_readahead, category::AHEAD);
        let failed = action == BlockAction::Complete && named.request.has_failed;
        let event = RawEvent {
            time_ns: time,
            sector: offset / SECTOR,
            bytes: length,
            action: number,
            categories,
            pid: named.pid,
            device: named.device.0 << 20 | named.device.1 & 0xf_ffff,
            error: if failed { FAILED } else { 0 },
            ..RawEvent::default()
        };
        event.write(self.sequence, output);
    }

    fn write_text(&self, time: u64, action: BlockAction, named: &Named, output: &mut Vec<u8>) {
        let (major, minor) = named.device;
        let letter = match action {
            BlockAction::Issue => "D",
            BlockAction::Complete => "C",
            BlockAction::Insert => "I",
            _ => "Q",
        };
        let (seconds, nanoseconds) = (time / 1_000_000_000, time % 1_000_000_000);
        let (sequence, pid) = (self.sequence, named.pid);
        push_text(
            output,
            format_args!(
                "{major:3},{minor:<3}  0 {sequence:8} {seconds:5}.{nanoseconds:09} {pid:5}  {letter} {:>3} ",
                letters(&named.request)
            ),
        );
        let (sector, sectors) = (named.request.offset / SECTOR, u64::from(named.request.length).div_ceil(SECTOR));
        if sectors > 0 {
            push_text(output, format_args!("{sector} + {sectors} "));
        } else if action == BlockAction::Complete {
            push_text(output, format_args!("{sector} "));
        }
        match self.commands.get(&pid) {
            _ if action == BlockAction::Complete => {
                push_text(output, format_args!("[{}]\n", if named.request.has_failed { FAILED } else { 0 }));
            }
            command => push_text(output, format_args!("[{}]\n", command.map_or("", String::as_str))),
        }
    }

    /// Writes the time of day of the start, which is time 0 of the events.
    fn write_clock(&mut self, info: &TraceInfo, output: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_clock, true) || !self.is_binary {
            return;
        }
        let Some(started_ms) = info.started_unix_ms else { return };
        let seconds = (started_ms / 1_000) as u32;
        let nanoseconds = (started_ms % 1_000) as u32 * 1_000_000;
        let data = [seconds.to_le_bytes(), nanoseconds.to_le_bytes()].concat();
        let note = RawEvent { action: 1, categories: category::NOTIFY, data, ..RawEvent::default() };
        note.write(0, output);
    }

    /// Returns the number of the process, and whether this is its first request.
    fn process(&mut self, request: &TraceRequest, info: &TraceInfo) -> (u32, bool) {
        let name = info.processes.get(usize::from(request.process)).map_or("", String::as_str);
        let named = name.rsplit_once('/').and_then(|(command, pid)| Some((command, pid.parse().ok()?)));
        let (command, pid) = named.unwrap_or((name, u32::from(request.process) + 1));
        let is_new = !self.commands.contains_key(&pid);
        if is_new {
            self.commands.insert(pid, command.replace(['[', ']', '\n'], "_"));
        }
        (pid, is_new)
    }

    fn write_note(&self, time: u64, pid: u32, output: &mut Vec<u8>) {
        let command = self.commands.get(&pid).map_or("", String::as_str);
        // What the import calls a process without a command.
        if matches!(command, "" | "pid") {
            return;
        }
        let mut data = vec![0; 16];
        // `TASK_COMM_LEN` bytes, the last of which is zero.
        data.iter_mut().take(15).zip(command.bytes()).for_each(|(to, from)| *to = from);
        let note = RawEvent { time_ns: time, categories: category::NOTIFY, pid, data, ..RawEvent::default() };
        note.write(0, output);
    }
}

/// Returns operation and flags as letters.
fn letters(request: &TraceRequest) -> String {
    let mut letters = String::new();
    let mut add = |condition: bool, letter: char| {
        if condition {
            letters.push(letter);
        }
    };
    add(request.operation == TraceOperation::Flush || request.is_preflush, 'F');
    add(
        true,
        match request.operation {
            TraceOperation::Read => 'R',
            TraceOperation::Write | TraceOperation::WriteZeroes => 'W',
            TraceOperation::Discard => 'D',
            TraceOperation::Flush | TraceOperation::Other => 'N',
        },
    );
    add(request.operation == TraceOperation::WriteZeroes, 'Z');
    add(request.is_fua, 'F');
    add(request.is_readahead, 'A');
    add(request.is_sync, 'S');
    add(request.is_meta, 'M');
    letters
}

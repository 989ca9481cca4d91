//! Reads the counters of SPDK's block devices, which the method `bdev_get_iostat` returns as JSON.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Deserializer, Value};
use units::Problem;

use super::Input;
use super::stated::{StatedLoad, input, mean_of, result};
use super::text::{InputText, json_error};
use crate::{DataKind, JobResult};

const REMEDY: &str = "pass the output of `rpc.py bdev_get_iostat` from before and after the load";

#[derive(Deserialize)]
struct SpdkCounters {
    tick_rate: u64,
    #[serde(default)]
    ticks: u64,
    #[serde(default)]
    bdevs: Vec<SpdkDevice>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct SpdkDevice {
    name: String,
    num_read_ops: u64,
    bytes_read: u64,
    read_latency_ticks: u64,
    num_write_ops: u64,
    bytes_written: u64,
    write_latency_ticks: u64,
    num_unmap_ops: u64,
    bytes_unmapped: u64,
    unmap_latency_ticks: u64,
}

impl SpdkDevice {
    /// Returns operations, bytes and ticks of each kind.
    const fn kinds(&self) -> [(DataKind, [u64; 3]); 3] {
        [
            (DataKind::Read, [self.num_read_ops, self.bytes_read, self.read_latency_ticks]),
            (DataKind::Write, [self.num_write_ops, self.bytes_written, self.write_latency_ticks]),
            (DataKind::Trim, [self.num_unmap_ops, self.bytes_unmapped, self.unmap_latency_ticks]),
        ]
    }

    /// Returns the increase since an earlier copy; `None` if counters were reset.
    fn since(&self, before: &Self) -> Option<[(DataKind, [u64; 3]); 3]> {
        let mut increase = self.kinds();
        for ((_, now), (_, before)) in increase.iter_mut().zip(before.kinds()) {
            for (now, before) in now.iter_mut().zip(before) {
                *now = now.checked_sub(before)?;
            }
        }
        Some(increase)
    }
}

/// Reports whether a document has these counters.
pub(super) fn is_in(document: &Value) -> bool {
    of_answer(document).get("tick_rate").is_some()
}

/// Returns the counters out of an answer of JSON-RPC.
fn of_answer(document: &Value) -> &Value {
    document.get("result").unwrap_or(document)
}

/// Reads the documents on some lines: one copy of the counters, or several of a series.
pub(super) fn read(text: &InputText, lines: Range<usize>) -> Result<Input, Problem> {
    let body = &text.whole[text.start_of(lines.start)..text.start_of(lines.end)];
    let mut copies: Vec<SpdkCounters> = Vec::new();
    for document in Deserializer::from_str(body).into_iter::<Value>() {
        match document.and_then(|document| SpdkCounters::deserialize(of_answer(&document))) {
            Ok(copy) => copies.push(copy),
            // Text may follow the documents.
            Err(_) if !copies.is_empty() => break,
            Err(error) => return Err(json_error(text, lines, &error, REMEDY)),
        }
    }
    let last = copies.pop().filter(|last| last.tick_rate > 0);
    let Some(last) = last else { return Err(text.error(lines.start, "", "`tick_rate` is zero", REMEDY)) };
    let first = copies.first();
    let ns_per_tick = 1e9 / last.tick_rate as f64;
    let passed_ticks = first.and_then(|first| last.ticks.checked_sub(first.ticks)).filter(|ticks| *ticks > 0);
    let seconds = passed_ticks.map(|ticks| ticks as f64 * ns_per_tick / 1e9);
    let (mut jobs, mut is_reset): (Vec<JobResult>, bool) = (Vec::new(), false);
    for device in &last.bdevs {
        let before = first.and_then(|first| first.bdevs.iter().find(|before| before.name == device.name));
        let Some(kinds) = device.since(&before.cloned().unwrap_or_default()) else {
            is_reset = true;
            continue;
        };
        // Devices may lie on others here, whose requests must not count twice: each is a group of its own.
        let number = jobs.len();
        let mut job = result(&device.name, u32::try_from(number).unwrap_or(u32::MAX), number, &StatedLoad::default());
        job.declared.engine = "spdk".to_owned();
        for (kind, [ios, bytes, ticks]) in kinds.into_iter().filter(|(_, [ios, ..])| *ios > 0) {
            let latency = mean_of(ios, ticks as f64 * ns_per_tick);
            match seconds {
                Some(s) => job.set_rate(kind, ios as f64 / s, bytes as f64 / s, Some(s), latency),
                None => job.set_count(kind, ios, bytes, latency),
            }
        }
        if job.result.ios() > 0 {
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        let what = "no device of `bdev_get_iostat` has an operation";
        return Err(text.error(lines.start, "", what, REMEDY));
    }
    let mut notes =
        vec!["devices may be stacked: the lower ones then count the requests of the upper ones too".to_owned()];
    if seconds.is_none() {
        notes.push("counted since the start: rates are unknown. Add a second copy from after the load".to_owned());
    }
    if is_reset {
        notes.push("devices whose counters were reset between the copies are ignored".to_owned());
    }
    Ok(input("spdk", jobs, &notes))
}

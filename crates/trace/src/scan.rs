//! Reading of a whole trace from its first to its last request.

use units::Problem;

use crate::{TraceEnd, TraceFormat, TraceInfo, TraceInput, TraceRequest, TraceStep, WaitingProcesses};

/// Number of requests that are held to be sorted: traces of completions are not in the order of issue.
const HELD: usize = 32_768;
/// Number of errors that are kept; all are counted.
const ERRORS_KEPT: usize = 10;
/// Number of errors without any request after which the rest is not read: the format is a different one.
const ERRORS_ONLY: u64 = 100;

/// In what condition a trace was found.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceCondition {
    pub format: TraceFormat,
    /// Metadata of the trace.
    pub info: TraceInfo,
    pub end: TraceEnd,
    /// The first errors in it, at most ten.
    pub errors: Vec<Problem>,
    pub error_count: u64,
    /// Number of requests that are known to be missing.
    pub missing: u64,
    /// Number of requests whose time is lost, because they are far out of order: [`TraceInput::early`].
    pub early: u64,
    /// Number of requests that were read.
    pub requests: u64,
}

impl TraceCondition {
    /// Reports whether requests are missing, so figures do not cover the whole load.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let is_truncated = matches!(self.end, TraceEnd::Truncated { .. });
        is_truncated || self.error_count > 0 || self.missing > 0 || self.info.lost.is_some_and(|lost| lost > 0)
    }
}

/// Part of a trace, in nanoseconds since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceWindow {
    /// First instant.
    pub from_ns: u64,
    /// First instant after it.
    pub end_ns: u64,
}

impl TraceWindow {
    /// The whole trace.
    pub const ALL: Self = Self { from_ns: 0, end_ns: u64::MAX };
}

/// Reads a trace and passes its requests on in the order of issue. Those in a window count their time from its start.
///
/// `feed` gives an input the following bytes of a file, or ends the file. Requests that are more than 32,768 requests
/// late stay out of order. Memory does not grow with the trace.
///
/// # Errors
///
/// Fails if `feed` or `each` does. Errors in the trace are returned with its condition.
pub fn scan_trace<E>(
    mut input: TraceInput,
    window: TraceWindow,
    mut feed: impl FnMut(&mut TraceInput, usize) -> Result<(), E>,
    mut each: impl FnMut(&[TraceRequest], &TraceInfo) -> Result<(), E>,
) -> Result<TraceCondition, E> {
    let mut scan = Scan { window, held: Vec::new(), info: TraceInfo::default(), waiting: WaitingProcesses::default() };
    let (mut errors, mut error_count, mut requests) = (Vec::new(), 0u64, 0u64);
    let end = loop {
        let before = scan.held.len();
        match input.next(&mut scan.held) {
            Ok(TraceStep::Requests) => requests += (scan.held.len() - before) as u64,
            Ok(TraceStep::NeedsInput(file)) => feed(&mut input, file)?,
            Ok(TraceStep::End(end)) => break end,
            Err(error) => {
                error_count += 1;
                if errors.len() < ERRORS_KEPT {
                    errors.push(error);
                }
                if requests == 0 && error_count >= ERRORS_ONLY {
                    break TraceEnd::Complete;
                }
            }
        }
        scan.learn(input.info());
        if scan.held.len() >= 2 * HELD && scan.pass_on(HELD, &mut each)? {
            break TraceEnd::Complete;
        }
    };
    scan.learn(input.info());
    scan.pass_on(0, &mut each)?;
    let (format, missing, early) = (input.format(), input.missing(), input.early());
    Ok(TraceCondition { format, info: scan.info, end, errors, error_count, missing, early, requests })
}

struct Scan {
    window: TraceWindow,
    /// Requests that have not been passed on.
    held: Vec<TraceRequest>,
    /// What is known of the part that is passed on.
    info: TraceInfo,
    waiting: WaitingProcesses,
}

impl Scan {
    fn learn(&mut self, info: &TraceInfo) {
        let started = info.started_unix_ms.map(|ms| ms.saturating_add(self.window.from_ns / 1_000_000));
        if self.info.started_unix_ms != started || is_different(&self.info, info) {
            self.info = TraceInfo { started_unix_ms: started, ..info.clone() };
        }
    }

    /// Passes on the earliest requests, until `keep` are left; returns whether the window has ended.
    fn pass_on<E>(
        &mut self,
        keep: usize,
        each: &mut impl FnMut(&[TraceRequest], &TraceInfo) -> Result<(), E>,
    ) -> Result<bool, E> {
        if !self.held.is_sorted_by_key(|request| request.issued_ns) {
            self.held.sort_by_key(|request| request.issued_ns);
        }
        let count = self.held.len().saturating_sub(keep);
        let ready = &mut self.held[..count];
        ready.iter_mut().for_each(|request| self.waiting.set(request, &self.info.processes));
        // A request may be late, so that those that are ready do not all follow what was passed on before.
        let end = ready.partition_point(|request| request.issued_ns < self.window.end_ns);
        let start = ready.partition_point(|request| request.issued_ns < self.window.from_ns).min(end);
        let inside = &mut ready[start..end];
        inside.iter_mut().for_each(|request| request.issued_ns -= self.window.from_ns);
        each(inside, &self.info)?;
        self.held.drain(..count);
        Ok(end < count)
    }
}

/// Compares all but the start.
fn is_different(known: &TraceInfo, info: &TraceInfo) -> bool {
    known.lost != info.lost
        || known.source != info.source
        || known.is_anonymous != info.is_anonymous
        || known.devices != info.devices
        || known.processes != info.processes
}

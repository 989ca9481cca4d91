//! Reading of whole traces.

use trace::{
    TraceCondition, TraceEnd, TraceExport, TraceFormat, TraceInput, TraceRequest, TraceWindow, TraceWriterOptions,
    scan_trace,
};

use crate::common::{database, info, write};

/// Reads a trace in pieces of 4,099 bytes.
fn scan(format: TraceFormat, bytes: &[u8], window: TraceWindow) -> (TraceCondition, Vec<TraceRequest>) {
    let mut pieces = bytes.chunks(4_099);
    let mut requests = Vec::new();
    let feed = |input: &mut TraceInput, file: usize| {
        match pieces.next() {
            Some(piece) => input.feed(file, piece),
            None => input.end_input(file),
        }
        Ok::<(), ()>(())
    };
    let condition = scan_trace(TraceInput::new("test", format, 1), window, feed, |some, _| {
        requests.extend_from_slice(some);
        Ok(())
    });
    (condition.unwrap(), requests)
}

#[test]
fn requests_that_are_in_the_order_of_completion_are_passed_on_in_that_of_issue() {
    let requests = database(100_000, 3);
    let mut export = TraceExport::new(TraceFormat::Blkparse, &info());
    let mut bytes = Vec::new();
    requests.iter().for_each(|request| export.push(request, &info(), &mut bytes));
    export.finish(&info(), &mut bytes);
    let (condition, found) = scan(TraceFormat::Blkparse, &bytes, TraceWindow::ALL);
    assert_eq!((condition.requests, condition.error_count, condition.missing), (100_000, 0, 0));
    assert!(found.is_sorted_by_key(|request| request.issued_ns));
    assert!(!condition.is_incomplete());
    let sum = |requests: &[TraceRequest]| requests.iter().map(|request| u64::from(request.length)).sum::<u64>();
    assert_eq!(sum(&found), sum(&requests));
}

#[test]
fn a_window_is_a_trace_of_its_own() {
    let requests = database(200_000, 4);
    let bytes = write(&requests, TraceWriterOptions { tick_ns: 1, ..TraceWriterOptions::default() });
    let window = TraceWindow { from_ns: 3_000_000_000, end_ns: 4_000_000_000 };
    let (condition, found) = scan(TraceFormat::Fathom, &bytes, window);
    let expected: Vec<TraceRequest> = requests
        .iter()
        .filter(|request| (3_000_000_000..4_000_000_000).contains(&request.issued_ns))
        .map(|request| TraceRequest { issued_ns: request.issued_ns - 3_000_000_000, ..*request })
        .collect();
    assert!(expected.len() > 10_000);
    assert_eq!(found, expected);
    assert_eq!(condition.info.started_unix_ms, info().started_unix_ms.map(|ms| ms + 3_000));
    // What follows the window is not read.
    assert!(condition.requests < 180_000, "{}", condition.requests);
}

#[test]
fn damage_is_counted_and_the_rest_is_read() {
    let requests = database(100_000, 5);
    let mut bytes = write(&requests, TraceWriterOptions { block_requests: 1_000, ..TraceWriterOptions::default() });
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let (condition, found) = scan(TraceFormat::Fathom, &bytes, TraceWindow::ALL);
    assert_eq!((condition.error_count, condition.missing, found.len()), (1, 1_000, 99_000));
    assert_eq!(condition.end, TraceEnd::Complete);
    assert!(condition.is_incomplete());
    let cut = &bytes[..bytes.len() - 1];
    assert!(matches!(scan(TraceFormat::Fathom, cut, TraceWindow::ALL).0.end, TraceEnd::Truncated { .. }));
}

#[test]
fn reading_in_a_different_format_ends_early() {
    let text = "1,2,3,4,5,6,7,8\n".repeat(100_000);
    let (condition, found) = scan(TraceFormat::Msr, text.as_bytes(), TraceWindow::ALL);
    assert_eq!((condition.error_count, condition.errors.len(), found.len()), (100, 10, 0));
}

/// All times before the first 4,096 requests became zero, which was not said.
#[test]
fn requests_from_before_the_start_are_counted() {
    let line = |index: u64| format!("{},hm,0,Read,{},4096,1000\n", 128_166_372_003_061_629 - index * 10_000_000, index);
    let text: String = (0..10_000).map(line).collect();
    let (condition, found) = scan(TraceFormat::Msr, text.as_bytes(), TraceWindow::ALL);
    assert_eq!((condition.requests, condition.early), (10_000, 10_000 - 4_096));
    assert_eq!(found.iter().filter(|request| request.issued_ns == 0).count(), 10_000 - 4_095);
    let sorted: String = (0..10_000).rev().map(line).collect();
    assert_eq!(scan(TraceFormat::Msr, sorted.as_bytes(), TraceWindow::ALL).0.early, 0);
}

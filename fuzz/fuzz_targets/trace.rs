//! Reads any bytes as a trace, in the format that they have or that the first byte says, and writes what was read. The
//! result is requests or located errors, never a panic; what was read in Fathom's format survives another turn, and every
//! characteristic is a finite number.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::{Characterizer, TraceExport, TraceFormat, TraceInput, TraceRequest, TraceStep, trace_findings};

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let format = TraceFormat::ALL.get(usize::from(choice & 15)).copied();
    let mut bytes = bytes.to_vec();
    if choice & 32 == 0 {
        repair(&mut bytes);
    }
    let files = 1 + usize::from(choice >> 6 & 1);
    let input = match format {
        Some(format) => TraceInput::new("fuzz", format, files),
        None => match TraceInput::detect("fuzz", &bytes) {
            Ok(input) => input,
            Err(_) => return,
        },
    };
    let (requests, input) = read(input, &bytes, files);
    if requests.len() > 10_000 {
        return;
    }
    let mut characterizer = Characterizer::new();
    requests.iter().for_each(|request| characterizer.add(request));
    let profile = characterizer.finish();
    assert!(profile.arrivals.rate_per_s.is_none_or(f64::is_finite));
    assert!(profile.reuse.as_ref().is_none_or(|reuse| reuse.footprint_bytes.is_finite()));
    assert!(trace_findings(&profile, 1 << 36).iter().all(|finding| !finding.code().is_empty()));
    let target = TraceFormat::ALL[usize::from(choice >> 4) % TraceFormat::ALL.len()];
    for format in [TraceFormat::Fathom, target] {
        let mut export = TraceExport::new(format, input.info());
        let mut output = Vec::new();
        requests.iter().for_each(|request| export.push(request, input.info(), &mut output));
        export.finish(input.info(), &mut output);
        let (again, _) = read(TraceInput::new("again", format, 1), &output, 1);
        if format == TraceFormat::Fathom {
            assert_eq!(again.len(), requests.len());
        }
    }
});

/// Reads everything; pieces alternate between the files.
fn read(mut input: TraceInput, bytes: &[u8], files: usize) -> (Vec<TraceRequest>, TraceInput) {
    let mut all = Vec::new();
    let mut pieces = bytes.chunks(97);
    // Blocks may stand for very many requests: enough of them is enough.
    while all.len() < 1 << 20 {
        match input.next(&mut all) {
            Ok(TraceStep::End(_)) => break,
            Ok(TraceStep::NeedsInput(file)) => match pieces.next() {
                Some(piece) => input.feed(file, piece),
                None => (0..files).for_each(|file| input.end_input(file)),
            },
            Ok(TraceStep::Requests) => {}
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    (all, input)
}

/// Makes the checksums of blocks right: no search finds them by chance.
fn repair(bytes: &mut [u8]) {
    let mut at = 0;
    while bytes[at..].starts_with(&trace::TRACE_MARK) && bytes.len() - at >= trace::TRACE_HEADER_BYTES {
        let (header, rest) = bytes[at..].split_at_mut(trace::TRACE_HEADER_BYTES);
        let length = u32::from_le_bytes([header[12], header[13], header[14], header[15]]) as usize;
        let Some(content) = rest.get(..length) else { return };
        header[48..52].copy_from_slice(&crc32c::crc32c(content).to_le_bytes());
        let checksum = crc32c::crc32c(&header[..52]);
        header[52..].copy_from_slice(&checksum.to_le_bytes());
        at += trace::TRACE_HEADER_BYTES + length;
    }
}

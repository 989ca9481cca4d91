//! Decodes any bytes as requests of an NBD client. Decoded requests encode to the same bytes, and nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbd::wire::NbdRequest;

fuzz_target!(|bytes: &[u8]| {
    let [choice, input @ ..] = bytes else { return };
    let extended = choice % 2 == 1;
    let header = NbdRequest::header_bytes(extended);
    let mut input = input;
    while let Ok(Some(request)) = NbdRequest::decode(input, extended) {
        let mut written = Vec::new();
        request.encode(extended, &mut written);
        assert_eq!(written, input[..header]);
        assert_eq!(NbdRequest::decode(&input[..header - 1], extended), Ok(None));
        let payload = usize::try_from(request.payload(extended)).unwrap_or(usize::MAX);
        assert!(payload as u64 <= request.length);
        input = input.get(header.saturating_add(payload)..).unwrap_or_default();
    }
});

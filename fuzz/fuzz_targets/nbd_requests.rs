//! Any bytes are requests of a client of network block devices: they are read as they would be written, or none begins
//! there, and never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbd::wire::NbdRequest;

fuzz_target!(|bytes: &[u8]| {
    let [choice, said @ ..] = bytes else { return };
    let extended = choice % 2 == 1;
    let header = NbdRequest::header_bytes(extended);
    let mut said = said;
    while let Ok(Some(request)) = NbdRequest::decode(said, extended) {
        let mut written = Vec::new();
        request.encode(extended, &mut written);
        assert_eq!(written, said[..header]);
        assert_eq!(NbdRequest::decode(&said[..header - 1], extended), Ok(None));
        let payload = usize::try_from(request.payload(extended)).unwrap_or(usize::MAX);
        assert!(payload as u64 <= request.length);
        said = said.get(header.saturating_add(payload)..).unwrap_or_default();
    }
});

//! Parses any text as the name of a volume and as a model file. The result is volumes or problems, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use volume::catalogue::resolve_all;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    // The text after a NUL is the content of the named file.
    let (name, file) = text.split_once('\0').unwrap_or((&text, ""));
    for name in [name, "a.toml", "a.toml#b,size=1TiB"] {
        for problem in resolve_all(&[name, name], &|_| Ok(file.to_owned())).err().into_iter().flatten() {
            assert!(problem.place.is_none_or(|place| place.line >= 1) && !problem.what.is_empty());
        }
    }
});

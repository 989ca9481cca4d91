//! Any text is a volume's name, and any text a file of volumes: they give volumes or problems, and never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use volume::catalogue::resolve_all;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    // What follows a NUL is the file that the name before it names.
    let (name, file) = text.split_once('\0').unwrap_or((&text, ""));
    for name in [name, "a.toml", "a.toml#b,size=1TiB"] {
        for problem in resolve_all(&[name, name], &|_| Ok(file.to_owned())).err().into_iter().flatten() {
            assert!(problem.line().0 >= 1 && !problem.message.is_empty());
        }
    }
});

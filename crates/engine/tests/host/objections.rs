//! Objections of the write gate to files and devices that are in use.

use std::path::Path;

use crate::loops::Loop;
use crate::scratch::Scratch;
use engine::gate::{Denied, Objection, Permissions, WriteGate};
use probe::Occupant;

/// Returns the objections to writing to a device, or to a file regardless of its content.
fn objections(path: &Path) -> Vec<Objection> {
    match WriteGate::new(Permissions { any_file: true, ..Permissions::default() }, None).admit(path) {
        Ok(_) => Vec::new(),
        Err(Denied::Refused(refusal)) => refusal.objections,
        Err(Denied::Failed(error)) => panic!("{error}"),
    }
}

#[test]
fn a_file_behind_a_loop_device_is_in_use() {
    let scratch = Scratch::new("backing");
    let image = scratch.file("image", 1 << 20);
    assert_eq!(objections(&image), []);
    let Some(device) = Loop::over(&image) else {
        return;
    };
    let name = device.path().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(objections(&image), [Objection::Occupied(Occupant::LoopBacking { device: name })]);
    let number = probe::number_of(Path::new("/"), device.path()).unwrap();
    assert_eq!(probe::device(Path::new("/"), number).unwrap().backing_file, Some(image));
}

#[test]
fn missing_and_harmless_files_have_no_objections() {
    assert_eq!(objections(Path::new("/not/there")), []);
    assert_eq!(objections(Path::new("/dev/null")), []);
}

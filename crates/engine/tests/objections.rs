//! Objections of the write gate to files and devices that are in use.

use std::path::Path;
use units::Problem;

use crate::gate::gate_of_any_content;
use crate::loops::Loop;
use crate::scratch::Scratch;
use engine::gate::{Denied, Existing, Objection, Permissions, WriteGate, create_output};
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

/// Revision fe0242d1 let a job write to the new file of `--output`, and replaced the new file of a job by a log.
#[test]
fn results_and_data_of_new_files_replaced_each_other() {
    let scratch = Scratch::new("results");
    std::os::unix::fs::symlink(scratch.path("."), scratch.path("link")).unwrap();
    let gate = gate_of_any_content();
    let (results, data) = (scratch.path("results"), scratch.path("data"));
    let file = create_output(&results, Existing::Replace).unwrap();
    for name in [&results, &scratch.path("link/results")] {
        let refused = Problem::from(gate.admit(name).unwrap_err()).to_string();
        assert!(refused.contains("this command writes to it"), "{refused}");
    }
    gate.create(&data).unwrap();
    for name in [&data, &scratch.path("link/data")] {
        let refused = Problem::from(create_output(name, Existing::Replace).unwrap_err()).to_string();
        assert!(refused.contains("results would overwrite it"), "{refused}");
    }
    // Another file of that name is none.
    std::fs::write(scratch.path("other"), "x").unwrap();
    drop(file);
    std::fs::rename(scratch.path("other"), &results).unwrap();
    gate.admit(&results).unwrap();
}

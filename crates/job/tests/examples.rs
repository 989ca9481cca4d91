//! The job files in `examples/` parse in both dialects, and report variables that are not set.

#![allow(clippy::disallowed_methods, reason = "reads the repository's own files")]

use std::path::{Path, PathBuf};

use job::{Dialect, parse_files};
use units::ProblemCode;

use crate::support::{World, lines};

fn examples() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(directory).expect("the examples");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "fio"));
    paths.sort();
    paths
}

fn world(path: &Path) -> (World, String) {
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("an example");
    (World::default().with_file(&name, &text), name)
}

#[test]
fn every_example_parses_in_both_dialects() {
    assert_eq!(examples().len(), 19);
    for path in examples() {
        let (mut world, name) = world(&path);
        for (variable, value) in [("TARGET", "scratch.tmp"), ("SIZE", "64m"), ("RUNTIME", "1s"), ("CPUS", "0-1")] {
            world = world.with_variable(variable, value);
        }
        for dialect in [Dialect::Fio, Dialect::Strict] {
            let parsed = parse_files(std::slice::from_ref(&name), &[], dialect, &world);
            assert_eq!(lines(&parsed.diagnostics), [""; 0], "{name}");
        }
    }
}

#[test]
fn an_unset_variable_is_an_error_at_its_place() {
    for path in examples().into_iter().filter(|path| !path.ends_with("first-try.fio")) {
        let (world, name) = world(&path);
        let parsed = parse_files(std::slice::from_ref(&name), &[], Dialect::Strict, &world);
        let unset: Vec<_> = parsed.diagnostics.iter().filter(|d| d.code == ProblemCode::UnsetVariable).collect();
        assert!(unset.len() >= 2, "{name}: {:?}", lines(&parsed.diagnostics));
        assert!(unset.iter().all(|d| d.place.is_some() && d.what.contains("is not set")), "{name}");
    }
}

#[test]
fn the_index_lists_every_example() {
    let index = std::fs::read_to_string(examples()[0].with_file_name("README.md")).expect("the index");
    for path in examples() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(index.contains(&format!("`{name}`")), "{name}");
    }
}

//! Tests that limits on job text are reported with their place, and soon.

use job::{Dialect, Parsed, Plan, limits, parse_files, parse_job_arguments};
use units::ProblemCode;

use crate::support::World;

/// Parses the file `a.fio`.
fn read(world: &World, dialect: Dialect) -> Parsed<Plan> {
    parse_files(&["a.fio".to_owned()], &[], dialect, world)
}

/// Checks that a job file is refused with this code at this line, and with few diagnostics.
fn refused(text: &str, code: &str, line: usize) {
    let world = World::default().with_file("a.fio", text);
    for dialect in [Dialect::Fio, Dialect::Strict] {
        let parsed = read(&world, dialect);
        let problem = parsed.diagnostics.iter().find(|problem| problem.code.name() == code);
        let problem = problem.unwrap_or_else(|| panic!("{code}: {:?}", parsed.diagnostics.first()));
        assert_eq!(problem.place.as_ref().map(|place| place.line), Some(line), "{code}");
        assert!(problem.help.is_some() && parsed.diagnostics.len() <= limits::PROBLEMS_MAX + 1, "{code}");
    }
}

/// f52613e read `/dev/zero` until memory was exhausted.
#[test]
fn endless_job_text_is_refused() {
    let text = "\0".repeat(limits::TEXT_BYTES_MAX + 1);
    refused(&text, "too-much-text", 1);
}

/// f52613e took more than 15 s for a million options, as it read the host's memory size for each.
#[test]
fn a_million_options_are_refused() {
    let text = format!("[a]\nioengine=null\n{}", "bs=4k\n".repeat(600_000));
    refused(&text, "too-many-options", limits::OPTIONS_MAX + 2);
}

#[test]
fn sections_and_inherited_options_are_limited() {
    let sections: String = (0..100_000).map(|i| format!("[{i}]\n")).collect();
    refused(&sections, "too-many-jobs", limits::SECTIONS_MAX + 1);
    let heavy = format!("[global]\n{}{}", "bs=4k\n".repeat(5000), "[a]\nsize=1m\n".repeat(1000));
    refused(&heavy, "too-many-options", 5002 + 2 * (limits::INHERITED_MAX / 20_008));
}

/// f52613e read a file that includes itself twice 65,536 times.
#[test]
fn an_include_loop_ends_early() {
    for text in ["[a]\ninclude a.fio\n", "[a]\ninclude b.fio\ninclude b.fio\n"] {
        let world = World::default().with_file("a.fio", text).with_file("b.fio", "include b.fio\ninclude b.fio\n");
        let parsed = read(&world, Dialect::Fio);
        let deep = parsed.diagnostics.iter().filter(|problem| problem.what == "includes are nested too deep");
        assert_eq!(deep.count(), 1);
    }
    let flat =
        World::default().with_file("b.fio", "").with_file("a.fio", &format!("[a]\n{}", "include b.fio\n".repeat(300)));
    let codes: Vec<_> = read(&flat, Dialect::Strict).diagnostics.iter().map(|problem| problem.what.clone()).collect();
    assert!(codes.contains(&"more than 256 included files".to_owned()), "{codes:?}");
}

#[test]
fn parsing_stops_after_a_hundred_errors() {
    refused(&format!("[a]\n{}", "iodepthh=1\n".repeat(40_000)), "unknown-option", 2);
    let words: Vec<String> =
        ["--name=a".to_owned()].into_iter().chain((0..40_000).map(|i| format!("--foo{i}=1"))).collect();
    let parsed = parse_job_arguments(&words, &[], &job::InjectedOptions::default(), Dialect::Strict, &World::default());
    assert!(parsed.diagnostics.len() <= limits::PROBLEMS_MAX + 1, "{}", parsed.diagnostics.len());
}

#[test]
fn long_lines_and_many_names_are_refused() {
    refused(&format!("[a]\nfilename={}\n", "x".repeat(2 << 20)), "too-much-text", 2);
    refused(&format!("[a]\n{}", format!("filename={}\n", "f:".repeat(4000)).repeat(20)), "too-many-files", 18);
    let words = vec![
        "--name=a".to_owned(),
        format!("--filename={}", "f:".repeat(60_000)),
        format!("--filename={}", "f:".repeat(60_000)),
    ];
    let parsed = parse_job_arguments(&words, &[], &job::InjectedOptions::default(), Dialect::Fio, &World::default());
    assert!(parsed.diagnostics.iter().any(|problem| problem.code == ProblemCode::TooManyFiles));
}

#[test]
fn options_of_a_command_line_are_limited_as_in_a_file() {
    let words: Vec<String> =
        ["--name=a".to_owned()].into_iter().chain((0..60_000).map(|_| "--bs=4k".to_owned())).collect();
    let parsed = parse_job_arguments(&words, &[], &job::InjectedOptions::default(), Dialect::Strict, &World::default());
    assert!(parsed.diagnostics.iter().any(|problem| problem.code == ProblemCode::TooManyOptions));
}

#[test]
fn expanded_options_are_limited_in_length() {
    let world =
        World::default().with_variable("A", &"x".repeat(100_000)).with_file("a.fio", "[a]\nfilename=${A}${A}${A}\n");
    let parsed = read(&world, Dialect::Fio);
    assert_eq!(parsed.diagnostics[0].code.name(), "unset-variable");
    assert!(parsed.diagnostics[0].what.contains("longer than 128 KiB"));
}

/// f52613e replaced invalid bytes by U+FFFD in fio's dialect, so the job wrote to another file.
#[test]
fn a_file_name_that_is_not_utf8_is_refused() {
    let latin = b"[a]\nsize=1m\nfilename=caf\xe9\n".as_slice();
    for dialect in [Dialect::Fio, Dialect::Strict] {
        let parsed = job::parse_file_text("a.fio", latin, dialect, &World::default());
        let problem = &parsed.diagnostics[0];
        assert_eq!((problem.code.name(), problem.place.as_ref().map(|place| place.line)), ("encoding", Some(3)));
        assert!(parsed.has_errors());
    }
    let comment = b"[a]\nsize=1m ; caf\xe9\n".as_slice();
    assert!(!job::parse_file_text("a.fio", comment, Dialect::Fio, &World::default()).has_errors());
    let whole = "[a]\nsize=1m\nfilename=caf\u{fffd}\n";
    let parsed = job::parse_file_text("a.fio", whole.as_bytes(), Dialect::Fio, &World::default());
    assert_eq!(parsed.into_result().unwrap().0.jobs[0].files.filenames, ["caf\u{fffd}"]);
}

//! Manual pages, checked by groff and mandoc.

use std::process::Command;

use crate::common::{Scratch, fathom, require, run};

/// Writes all manual pages, and returns their paths.
pub(super) fn written_pages(scratch: &Scratch) -> Vec<String> {
    run(fathom(["man", "--into"]).arg(scratch.path(""))).expect_clean();
    let mut pages = Vec::new();
    for section in ["man1", "man5"] {
        for page in std::fs::read_dir(scratch.path(section)).expect("both sections have pages") {
            pages.push(format!("{section}/{}", page.expect("it can be read").file_name().display()));
        }
    }
    pages
}

#[test]
fn groff_and_mandoc_have_no_warnings() {
    require!(Man, Mandoc);
    let scratch = Scratch::new();
    for page in written_pages(&scratch) {
        let path = scratch.path(&page);
        let shown = run(Command::new("man").args(["--warnings", "-E", "UTF-8", "-l"]).arg(&path).env("MANWIDTH", "80"));
        let shown = shown.expect_code(0);
        assert_eq!(shown.stderr, "", "{page}: man has warnings");
        assert!(shown.stdout.contains("NAME") && shown.stdout.contains("SEE ALSO"), "{page}:\n{}", shown.stdout);
        let warnings = run(Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&path));
        // Pages have a version and no date.
        let warnings: Vec<&str> = warnings.stdout.lines().filter(|line| !line.contains("missing date")).collect();
        assert_eq!(warnings, Vec::<&str>::new(), "{page}: mandoc has warnings");
    }
}

#[test]
fn the_program_prints_the_pages_that_it_writes() {
    let scratch = Scratch::new();
    let pages = written_pages(&scratch);
    assert!(pages.len() > 10 && pages.contains(&"man5/fathom-options.5".to_owned()), "{pages:?}");
    let shown = run(&mut fathom(["man", "run"])).expect_clean();
    assert_eq!(shown.stdout, scratch.read("man1/fathom-run.1"));
}

#[test]
fn unknown_pages_are_refused_with_a_list() {
    let refused = run(&mut fathom(["man", "rum"])).expect_code(2);
    assert!(
        refused.stderr.contains("unknown manual page `rum`") && refused.stderr.contains("sweep"),
        "{}",
        refused.stderr
    );
    let refused = run(&mut fathom(["man", "--into", "/proc/nowhere"])).expect_code(3);
    assert!(refused.stderr.contains("/proc/nowhere"), "{}", refused.stderr);
}

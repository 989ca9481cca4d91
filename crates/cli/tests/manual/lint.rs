//! Manual pages, checked by groff and mandoc.

use std::process::Command;

use crate::common::{Scratch, fathom, require, run};
use crate::{files_below, top};

#[test]
fn groff_and_mandoc_have_no_warnings() {
    require!(Man, Mandoc);
    let pages = files_below("man");
    assert!(pages.len() > 10, "{pages:?}");
    for page in pages {
        let path = top().join(&page);
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
fn the_program_prints_the_committed_pages() {
    let scratch = Scratch::new();
    run(fathom(["man", "--into"]).arg(scratch.path("man"))).expect_clean();
    for page in files_below("man") {
        assert_eq!(scratch.read(&page), crate::text_of(&page), "{page}: run `cargo xtask generate`");
    }
    let shown = run(&mut fathom(["man", "run"])).expect_clean();
    assert_eq!(shown.stdout, crate::text_of("man/man1/fathom-run.1"));
}

#[test]
fn unknown_pages_are_refused_with_a_list() {
    let refused = run(&mut fathom(["man", "rum"])).expect_code(2);
    assert!(refused.stderr.contains("no manual page `rum`") && refused.stderr.contains("sweep"), "{}", refused.stderr);
    let refused = run(&mut fathom(["man", "--into", "/proc/nowhere"])).expect_code(3);
    assert!(refused.stderr.contains("/proc/nowhere"), "{}", refused.stderr);
}

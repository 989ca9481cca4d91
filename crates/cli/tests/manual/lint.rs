//! Manual pages, as those who lay them out see them.

use std::process::Command;

use crate::common::{Scratch, fathom, require, run};
use crate::{files_below, top};

#[test]
fn neither_groff_nor_mandoc_has_anything_to_say_of_a_page() {
    require!(Man, Mandoc);
    let pages = files_below("man");
    assert!(pages.len() > 10, "{pages:?}");
    for page in pages {
        let path = top().join(&page);
        let shown = run(Command::new("man").args(["--warnings", "-E", "UTF-8", "-l"]).arg(&path).env("MANWIDTH", "80"));
        let shown = shown.expect_code(0);
        assert_eq!(shown.stderr, "", "{page}: man has warnings");
        assert!(shown.stdout.contains("NAME") && shown.stdout.contains("SEE ALSO"), "{page}:\n{}", shown.stdout);
        let told = run(Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&path));
        // These pages have no date: they are those of a version.
        let told: Vec<&str> = told.stdout.lines().filter(|line| !line.contains("missing date")).collect();
        assert_eq!(told, Vec::<&str>::new(), "{page}: mandoc has warnings");
    }
}

#[test]
fn the_program_prints_the_pages_that_are_kept() {
    let scratch = Scratch::new();
    run(fathom(["man", "--into"]).arg(scratch.path("man"))).expect_clean();
    for page in files_below("man") {
        let printed = std::fs::read_to_string(scratch.path(&page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert_eq!(printed, crate::text_of(&page), "{page}: run `cargo xtask generate`");
    }
    let shown = run(&mut fathom(["man", "run"])).expect_clean();
    assert_eq!(shown.stdout, crate::text_of("man/man1/fathom-run.1"));
}

#[test]
fn pages_that_are_not_there_are_refused_with_those_that_are() {
    let refused = run(&mut fathom(["man", "rum"])).expect_code(2);
    assert!(refused.stderr.contains("no manual page `rum`") && refused.stderr.contains("sweep"), "{}", refused.stderr);
    let refused = run(&mut fathom(["man", "--into", "/proc/nowhere"])).expect_code(3);
    assert!(refused.stderr.contains("/proc/nowhere"), "{}", refused.stderr);
}

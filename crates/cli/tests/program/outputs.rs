//! Files that commands write results to.

use crate::common::{Scratch, fathom, flat, run, words};

/// Revision 5aa1e091 compared the names of `--output` alone.
#[test]
fn results_and_events_replaced_each_other() {
    let scratch = Scratch::new();
    let job = "sim --on hdd/7200rpm --name=j --rw=randread --size=1g --runtime=1";
    scratch.write("old.json", "{}");
    std::fs::hard_link(scratch.path("old.json"), scratch.path("hard.html")).unwrap();
    std::os::unix::fs::symlink("old.json", scratch.path("soft.html")).unwrap();
    std::os::unix::fs::symlink("new.json", scratch.path("dangling.html")).unwrap();
    for (options, other, first) in [
        ("-o old.json --events old.json", "--events old.json", "--output old.json"),
        ("-o new.json --events new.json", "--events new.json", "--output new.json"),
        ("-o old.json -o hard.html", "--output hard.html", "--output old.json"),
        ("-o old.json -o soft.html", "--output soft.html", "--output old.json"),
        ("-o new.json -o dangling.html", "--output dangling.html", "--output new.json"),
        ("-o ./new.json -o new.json --dry-run", "--output new.json", "--output ./new.json"),
        ("--write_bw_log=log --events log_bw.1.log --dry-run", "write_bw_log of job `j`", "--events log_bw.1.log"),
    ] {
        let outcome = run(fathom(words(&format!("{job} {options}"))).current_dir(&scratch)).expect_code(2);
        let expected = format!("error[output]: {other}: {first} also writes to this file");
        let text = flat(&outcome.stderr);
        assert!(text.contains(&expected) && text.contains("use a separate file for each output"), "{options}: {text}");
    }
    assert_eq!(scratch.names(), ["dangling.html", "hard.html", "old.json", "soft.html"]);
    assert_eq!(scratch.read("old.json"), "{}");
}

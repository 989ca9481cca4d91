//! Names that are not UTF-8, and names with control sequences, formulas or markup.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::common;
use crate::common::{Scratch, fathom, run, run_saved};

/// `café` in Latin-1.
const LATIN: &[u8] = b"caf\xe9";

fn bytes(parts: &[&[u8]]) -> OsString {
    OsStr::from_bytes(&parts.concat()).to_owned()
}

fn command(scratch: &Scratch, words: &[OsString]) -> Command {
    let mut command = fathom(words);
    command.current_dir(scratch);
    command
}

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn names(scratch: &Scratch) -> Vec<OsString> {
    let mut names: Vec<_> =
        std::fs::read_dir(scratch.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// f52613e wrote to a new file `caf\u{fffd}`, from the command line, from job files in fio's dialect and from
/// variables.
#[test]
fn a_name_that_is_not_utf8_became_another_file() {
    let line = "--name=a --rw=write --size=64k";
    for (face, code) in [("run", 2), ("fio", 1)] {
        let scratch = Scratch::new();
        std::fs::write(scratch.path(".").join(OsStr::from_bytes(LATIN)), "precious").unwrap();
        let before = names(&scratch);
        let mut given = words(&format!("{face} {line}"));
        given.push(bytes(&[b"--filename=", LATIN]));
        let outcome = run(&mut command(&scratch, &given)).expect_code(code);
        assert!(outcome.stderr.contains(r"`--filename=caf\xE9` is not UTF-8"), "{}", outcome.stderr);
        assert_eq!(names(&scratch), before);

        std::fs::write(scratch.path("job.fio"), [b"[a]\nrw=write\nsize=64k\nfilename=", LATIN, b"\n"].concat())
            .unwrap();
        let outcome = run(&mut command(&scratch, &words(&format!("{face} job.fio")))).expect_code(code);
        assert!(
            outcome.stderr.contains("error[encoding]") && outcome.stderr.contains("job.fio:4"),
            "{}",
            outcome.stderr
        );

        scratch.write("job.fio", "[a]\nrw=write\nsize=64k\nfilename=${PLACE}\n");
        let mut from_variable = command(&scratch, &words(&format!("{face} job.fio")));
        let outcome = run(from_variable.env("PLACE", OsStr::from_bytes(LATIN))).expect_code(code);
        assert!(outcome.stderr.contains("the environment variable `PLACE` is not UTF-8 text"), "{}", outcome.stderr);
        assert_eq!(names(&scratch).len(), before.len() + 1);
    }
}

/// f52613e wrote results and events to `caf\u{fffd}.json`.
#[test]
fn results_are_written_to_the_named_file() {
    let scratch = Scratch::new();
    let mut given = words("run --name=a --ioengine=null --size=64k --progress=off -o");
    given.push(bytes(&[LATIN, b".json"]));
    given.push(bytes(&[b"--events=", LATIN, b".events"]));
    let outcome = run(&mut command(&scratch, &given));
    assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:#?}");
    assert_eq!(names(&scratch), [bytes(&[LATIN, b".events"]), bytes(&[LATIN, b".json"])]);
    let explained = run(&mut command(&scratch, &[OsString::from("explain"), bytes(&[LATIN, b".json"])]));
    assert_eq!(explained.code(), Some(0), "{explained:#?}");
    let lossy = run(&mut command(&scratch, &words("explain caf\u{fffd}.json")));
    assert_ne!(lossy.code(), Some(0), "{lossy:#?}");
}

#[test]
fn runs_are_saved_below_a_home_that_is_not_utf8() {
    let scratch = Scratch::new();
    let home = scratch.path(".").join(OsStr::from_bytes(LATIN));
    let kept = |line: &str| {
        let mut command = command(&scratch, &words(line));
        command.env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", &home);
        run_saved(&mut command)
    };
    assert!(matches!(kept("run --name=a --ioengine=null --size=64k --progress=off").code(), Some(0 | 4)));
    assert!(kept("runs list").expect_code(0).stdout.contains("\n1 run, "));
    assert_eq!(names(&scratch), [OsString::from(OsStr::from_bytes(LATIN))]);
}

/// A name with special characters of every output format.
const NAME: &str = "=1+1|`x`<script>&\u{1b}[2J\u{1b}]0;t\u{7}\r\u{202e}\"[a](http://b)\u{9b}31m\n# EOF";

/// Reports whether a character must not reach a terminal.
fn is_hidden(letter: char) -> bool {
    letter != '\n'
        && letter != '\t'
        && (letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// f52613e printed such names unchanged.
#[test]
fn job_names_send_no_control_sequences_to_a_terminal() {
    let scratch = Scratch::new();
    let job = |face: &[&str], rest: &str| {
        let mut given: Vec<OsString> = face.iter().map(OsString::from).collect();
        given.extend(words("--ioengine=null --size=64k"));
        given.push(OsString::from(format!("--name={NAME}")));
        given.extend(words(rest));
        run(&mut command(&scratch, &given))
    };
    let faces: [&[&str]; 9] = [
        &["run", "--progress=off"],
        &["run", "--progress=plain"],
        &["run", "--progress=off", "--format=json"],
        &["run", "--progress=off", "--format=fio"],
        &["run", "--progress=off", "--format=fio-json+"],
        &["run", "--dry-run"],
        &["run", "--show-jobs"],
        &["sim", "--on", "aws/gp3"],
        &["fio"],
    ];
    let bogus = "--bogus=\u{1b}[2J";
    let mistakes = [(faces[0], bogus), (faces[8], bogus), (faces[0], "--numjobs=1000000000")];
    for (face, rest) in faces.into_iter().map(|face| (face, "")).chain(mistakes) {
        let outcome = job(face, rest);
        for text in [&outcome.stdout, &outcome.stderr] {
            assert!(!text.chars().any(is_hidden), "{face:?} {rest:?}: {text:?}");
        }
        if face.contains(&"--format=json") {
            common::json::Json::read(&outcome.stdout);
        }
    }
}

/// f52613e wrote the formula into the cell, the markup into the table and the line break into the report.
#[test]
fn names_in_fio_output_are_escaped_in_every_format() {
    let scratch = Scratch::new();
    let printed =
        run(&mut command(&scratch, &words("fio --name=HOSTILE --ioengine=null --size=64k --output-format=json")))
            .expect_code(0);
    let quoted = serde_json::to_string(NAME).expect("a string");
    scratch.write("fio.json", printed.stdout.replace("\"HOSTILE\"", &quoted));
    let formats = ["a.html", "a.csv", "a.md", "a.txt", "a.prom", "a.json", "a.fio.json"];
    let outputs: String = formats.iter().map(|name| format!(" -o {name}")).collect();
    let outcome = run(&mut command(&scratch, &words(&format!("report fio.json{outputs}"))));
    assert_eq!(outcome.code(), Some(0), "{outcome:#?}");
    for name in formats {
        let text = scratch.read(name);
        let is_page = name.ends_with("html") || name.ends_with("md");
        assert!(!text.chars().any(is_hidden), "{name}: {text}");
        assert!(!(is_page && text.contains("<script")), "{name}: {text}");
        assert!(text.lines().filter(|line| line.starts_with("# EOF")).count() <= 1, "{name}: {text}");
    }
    assert!(
        scratch.read("a.csv").lines().skip(1).all(|line| line.starts_with("\"'=1+1|")),
        "{}",
        scratch.read("a.csv")
    );
    assert!(scratch.read("a.md").contains(r"=1+1\|\`x\`&lt;script>"), "{}", scratch.read("a.md"));
    assert!(scratch.read("a.prom").contains(r##"\\u000d\\u202e\"[a]"##), "{}", scratch.read("a.prom"));
    let texts = [
        "explain fio.json",
        "explain fio.json --format md",
        "explain fio.json --format json",
        "compare fio.json fio.json",
        "gate fio.json --assert read.iops>=1 --junit gate.xml",
    ];
    for line in texts {
        let outcome = run(&mut command(&scratch, &words(line)));
        assert!(!outcome.stdout.chars().chain(outcome.stderr.chars()).any(is_hidden), "{line}: {outcome:#?}");
        assert!(!outcome.stdout.lines().any(|line| line.starts_with("# EOF")), "{line}: {outcome:#?}");
    }
    assert!(!scratch.read("gate.xml").contains("<script"));
}

//! Invalid arguments, and addresses that cannot be used.

use std::net::TcpListener;

use super::place::Place;
use crate::common::{Outcome, Scratch, fathom, run};

#[track_caller]
fn refused(line: &str, code: i32) -> String {
    let place = Place::new();
    let outcome: Outcome = run(&mut place.command(line)).expect_code(code);
    assert_eq!(outcome.stdout, "");
    assert!(!place.path("fathom").exists() || code != 2, "`{line}` touched something");
    outcome.stderr
}

#[test]
fn all_errors_are_reported_with_place_and_remedy() {
    let line = "gcp/pd-ssdd --export foo --backing b=patern --backing c=zero --size 0 --faults eio=3 --listen 0.0.0.0:1 \
                --listen x --memory-limit 5 --metrics 10.0.0.1:80 --round-trip 5";
    let error = refused(line, 2);
    let expected = "\
error[serve]: `foo` has no export name
 --> command line:1:10
  |
1 | --export=foo
  |          ^^^
  |
  = help: add a name: --export data=foo
";
    assert!(error.contains(expected), "{error}");
    for part in [
        "unknown backing `patern`",
        "unknown export `c`",
        "did you mean `pd-ssd`?",
        "`3` is not a probability",
        "use 127.0.0.1:1, encrypt with --tls-certificate and --tls-key, require client certificates with --tls-clients",
        "`x` is not an address with a port",
        "--memory-limit=5",
        "`5` has no unit",
        "use, for example, --round-trip 20us",
        "other hosts can reach 10.0.0.1:80",
        "fathom: 11 errors; nothing was touched",
    ] {
        assert!(error.contains(part), "`{part}` is missing from:\n{error}");
    }
}

#[test]
fn sizes_must_be_known_and_agree() {
    let scratch = Scratch::new();
    let (file, none) = (scratch.sparse("disk", 2 << 20), scratch.text("none"));
    let error = refused("", 2);
    assert!(error.contains("the export has no size") && error.contains("--size 10GiB"), "{error}");
    let error = refused("--export a= --export b= --size a=1GiB", 2);
    assert!(error.contains("the export `b` has no size") && error.contains("--size b=10GiB"), "{error}");
    let error = refused(&format!("custom,size=1MiB --backing file:{file}"), 2);
    for part in ["it has 2 MiB (2097152 bytes)", "the volume has 1 MiB", "size=2048KiB", "truncate -s 1048576"] {
        assert!(error.contains(part), "`{part}` is missing from:\n{error}");
    }
    let error = refused(&format!("--size 1MiB --backing copy:{file}"), 2);
    assert!(error.contains("omit --size"), "{error}");
    assert!(refused(&format!("--backing copy:{none}"), 2).contains("no such image"));
    assert!(refused(&format!("--backing file:{none}"), 2).contains("the export has no size"));
    assert!(refused("custom,size=1MiB --size 2MiB", 2).contains("sets its size"));
    assert!(!scratch.path("none").exists());
}

#[test]
fn two_exports_never_write_to_one_file() {
    let scratch = Scratch::new();
    let file = scratch.sparse("disk", 1 << 20);
    let error = refused(&format!("--export a= --export b= --backing file:{file}"), 2);
    assert!(error.contains("the exports `a` and `b` would write to the same file"), "{error}");
    let place = Place::new();
    place.serve_while(&format!("--export a= --export b= --read-only --backing file:{file}"), "true").expect_code(0);
    let twice = refused("--export a=custom --export a=custom", 2);
    assert!(twice.contains("duplicate export `a`"), "{twice}");
}

#[test]
fn unusable_addresses_are_environment_errors() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = refused(&format!("custom,size=1MiB --listen 127.0.0.1:{port}"), 3);
    assert!(error.contains("this one is in use"), "{error}");
    let long = format!("/tmp/{}", "x".repeat(120));
    assert!(refused(&format!("custom,size=1MiB --socket {long}"), 3).contains("limited to 107 bytes"));
    assert!(refused("custom,size=1MiB --socket /nowhere/at/all", 3).contains("create its directory"));
}

#[test]
fn a_directory_open_to_other_users_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    std::fs::create_dir(place.path("fathom")).unwrap();
    std::fs::set_permissions(place.path("fathom"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = run(&mut place.command("custom,size=1MiB")).expect_code(3).stderr;
    assert!(
        error.contains("is not a private directory of this user\n |\n = help: set a socket with --socket"),
        "{error}"
    );
}

#[test]
fn statistics_without_a_server_are_an_error() {
    let place = Place::new();
    let error = run(&mut fathom(["serve", "--stats", &place.text("s")])).expect_code(3).stderr;
    assert!(error.contains("no server responds at"), "{error}");
    let error = run(&mut fathom(["serve", "--stats", "nbd+unix:///"])).expect_code(3).stderr;
    assert!(error.contains("add ?socket=PATH"), "{error}");
}

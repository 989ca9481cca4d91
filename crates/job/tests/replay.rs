//! Tests of jobs that replay a trace.

use job::{Dialect, EngineKind, InjectedOptions, Plan, ReplayFit, ReplayLoop, ReplayOptions, parse_job_arguments};
use units::{Nanos, ProblemCode};

use crate::support::{World, lines, parse};

fn arguments(words: &[&str], volume: Option<&str>) -> (Plan, Vec<String>) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let before = volume.map_or_else(Vec::new, |volume| {
        vec![("ioengine".to_owned(), "model".to_owned()), ("volume".to_owned(), volume.to_owned())]
    });
    let around = InjectedOptions { before, after: Vec::new() };
    let parsed = parse_job_arguments(&words, &[], &around, Dialect::Strict, &World::default());
    let found = lines(&parsed.diagnostics);
    (parsed.value, found)
}

fn replay(plan: &Plan) -> &ReplayOptions {
    plan.jobs[0].replay.as_ref().expect("a replay")
}

#[test]
fn one_option_is_a_job() {
    let (plan, problems) = arguments(&["--replay", "db.trace", "--filename=/dev/x"], None);
    assert_eq!(problems, [""; 0]);
    let job = &plan.jobs[0];
    assert_eq!((job.name.as_str(), job.engine.kind, job.engine.direct), ("replay", EngineKind::IoUring, true));
    let expected = ReplayOptions { trace: "db.trace".into(), chooses_depth: true, ..ReplayOptions::default() };
    assert_eq!(*replay(&plan), expected);
    let (plan, problems) = arguments(&["--replay=db.trace"], Some("aws/gp3"));
    assert_eq!((problems.as_slice(), plan.jobs[0].engine.kind), ([].as_slice(), EngineKind::Model));
    let (plan, _) = arguments(&["--replay=t", "--filename=f", "--ioengine=libaio", "--iodepth=7"], None);
    let job = &plan.jobs[0];
    assert_eq!((job.engine.kind, job.engine.direct, job.pace.iodepth), (EngineKind::Libaio, false, 7));
    assert!(!replay(&plan).chooses_depth);
}

#[test]
fn options_have_their_values() {
    let words = ["--replay=t", "--filename=f", "--speed=2.5x", "--replay-loop=closed", "--replay-fit=fold"];
    let (plan, problems) = arguments(&[&words[..], &["--replay-start=10m", "--replay-for=90"]].concat(), None);
    assert_eq!(problems, [""; 0]);
    let found = replay(&plan);
    assert_eq!((found.speed_ppm, found.dependence, found.fit), (Some(2_500_000), ReplayLoop::Closed, ReplayFit::Fold));
    assert_eq!((found.start, found.end()), (Nanos::from_secs(600), Nanos::from_secs(690)));
    assert_eq!(replay(&arguments(&["--replay=t", "--filename=f", "--speed=max"], None).0).speed_ppm, None);
    for speed in ["0", "fast", "-1", "1.0000001", "x", ".", "99999999999999999999"] {
        let (_, problems) = arguments(&["--replay=t", "--filename=f", &format!("--speed={speed}")], None);
        assert!(problems.iter().any(|line| line.contains("is not a speed")), "{speed}: {problems:?}");
    }
}

#[test]
fn fio_has_its_own_options_only() {
    let text = "[a]\nread_iolog=t\nreplay_time_scale=50\nreplay_scale=4\nreplay_align=4k\nreplay_skip=read,trim\n\
                replay_redirect=/dev/y\nfilename=x";
    let parsed = parse(text, Dialect::Fio);
    assert_eq!(lines(&parsed.diagnostics), [""; 0]);
    let job = &parsed.value.jobs[0];
    assert_eq!(
        (job.engine.kind, job.pace.iodepth, job.files.filenames.as_slice()),
        (EngineKind::Psync, 1, ["/dev/y".to_owned()].as_slice())
    );
    let found = replay(&parsed.value);
    assert_eq!((found.speed_ppm, found.scale, found.align), (Some(500_000), 4, 4096));
    assert!((found.skip.read, found.skip.write, found.skip.trim, found.skip.sync) == (true, false, true, false));
    assert!(!found.chooses_depth);
    for unknown in ["replay=t", "replay_speed=2x", "replay_loop=closed"] {
        let parsed = parse(&format!("[a]\n{unknown}"), Dialect::Fio);
        assert_eq!(parsed.diagnostics[0].code, ProblemCode::UnknownOption, "{unknown}");
    }
}

#[test]
fn what_has_no_effect_is_refused() {
    for (words, expected) in [
        (&["--replay=t"][..], "a replay needs a target"),
        (&["--replay=t", "--filename=f", "--rw=read"], "`rw` has no effect on a replay"),
        (&["--replay=t", "--filename=f", "--rate_iops=5"], "`rate_iops` has no effect on a replay"),
        (&["--replay=t", "--filename=f", "--verify=crc32c"], "a replay cannot be verified"),
        (&["--name=a", "--filename=f", "--speed=2x"], "`replay_speed` has no effect without a trace"),
        (&["--replay=t", "--filename=f", "--replay_align=3000"], "is not a power of two"),
        (&["--replay=t", "--filename=f", "--replay_skip=all"], "`all` is not a request type"),
    ] {
        let (_, problems) = arguments(words, None);
        assert!(problems.iter().any(|line| line.contains(expected)), "{words:?}: {problems:?}");
    }
}

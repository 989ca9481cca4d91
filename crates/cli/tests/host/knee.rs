//! `fathom sweep`: precision and work of its search, output and errors.

use volume::RequestKind;
use volume::closed::{Load, predict};

use crate::common::cases::at_night;
use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::{Outcome, Scratch, fathom, flat, run, words};

const HYPERDISK: &str = "gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s";

fn sweep(text: &str) -> Outcome {
    run(fathom(["sweep", "--progress", "off"]).args(words(text)))
}

/// Operations that a search may simulate, some seconds of work. A probe has up to four million.
const OPERATIONS_MAX: f64 = 100e6;

/// Returns the operations that all probes of a search have simulated.
fn operations(sweep: &Json) -> f64 {
    let of = |probe: &Json| (probe.number("warm_up_s") + probe.number("seconds")) * probe.number("iops");
    sweep.items("probes").iter().map(of).sum()
}

#[test]
fn the_knee_of_every_volume_of_the_catalogue_is_found() {
    let mut wrong = Vec::new();
    // By day every third.
    for listed in volume::catalogue::list().into_iter().step_by(if at_night() { 1 } else { 3 }) {
        // `custom` has no limits by default.
        let name = if listed.name == "custom" { "custom,iops=5000,latency=1ms".to_owned() } else { listed.name };
        let outcome = sweep(&format!("--on {name} --format json")).expect_clean();
        let document = Json::read(&outcome.stdout);
        let sweep = &document.items("sweeps")[0];
        let (fit, operations) = (sweep.at("fit"), operations(sweep));
        let spec = volume::catalogue::resolve(&name).expect("a listed volume");
        let prediction =
            predict(&spec, &Load::of(RequestKind::Read, 4096, 1.0)).expect("random reads have a closed form");
        let error = match (prediction.knee(), fit.text("shape")) {
            (Some(knee), "knee") if knee > 1.0 => fit.number("depth/value") / knee - 1.0,
            (Some(knee), "flat") if knee < 1.05 => fit.number("xmax/value") / prediction.caps[0].iops - 1.0,
            (None, "power_law") => 0.0,
            _ => f64::NAN,
        };
        if error.abs() > 0.05 || error.is_nan() {
            wrong.push(format!("{name}: {:?} {error:+.3} {}", prediction.knee(), outcome.stdout));
        }
        if operations > OPERATIONS_MAX {
            wrong.push(format!("{name}: {operations:.0} operations"));
        }
        eprintln!("{name}: {} {error:+.4} {operations:.0} operations, {:?}", fit.text("shape"), outcome.took);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_answer_comes_first_with_the_depth_to_set() {
    let outcome = sweep(&format!("--on {HYPERDISK}")).expect_clean();
    let paragraphs: Vec<String> = outcome.stdout.split("\n\n").map(flat).collect();
    assert!(
        paragraphs[0].starts_with("ANSWER The knee is at depth 21") && paragraphs[0].contains(": 160k IOPS at 1.3"),
        "{paragraphs:?}"
    );
    assert!(paragraphs[0].contains("(volume IOPS)") && paragraphs[0].contains("--iodepth=21"), "{paragraphs:?}");
    for width in ["60", "80", "120"] {
        for more in [&[][..], &["--details"]] {
            let narrow = run(fathom(["sweep", "--on", HYPERDISK]).args(more).env("COLUMNS", width)).expect_clean();
            let max = width.parse::<usize>().expect("a number");
            // The name of a volume is one word, so that it can be copied.
            let is_wide = |line: &&str| line.chars().count() > max && line.trim().contains(' ');
            let wide = narrow.stdout.lines().find(is_wide);
            assert_eq!(wide, None, "at {width} columns {more:?}");
        }
    }
}

#[test]
fn equal_seeds_give_equal_documents() {
    let document = || sweep("--on aws/gp3 --seed 5 --format json").expect_clean().stdout;
    let first = document();
    assert!(first.contains("\"fathom_sweep\": 1"), "{first}");
    assert_eq!(first, document());
}

#[test]
fn sustained_and_burst_performance_are_reported_separately() {
    for (volume, answer, burst) in [
        ("vultr/nvme-block", "The knee is at depth 10: 10.0k IOPS", "15.0k IOPS for the first 59.9 s"),
        ("aws/gp2", "No knee: depth 1 already saturates the device at 300 IOPS", "3.00k IOPS for the first 33.3 min"),
    ] {
        let text = flat(&sweep(&format!("--on {volume}")).expect_clean().stdout);
        assert!(text.starts_with(&format!("ANSWER {answer}")), "{text}");
        assert!(text.contains(&format!("burst: {burst}")), "{text}");
    }
}

#[test]
fn a_drive_has_a_power_law_and_no_knee() {
    let outcome = sweep("--on hdd/7200rpm").expect_clean();
    let text = flat(&outcome.stdout);
    assert!(text.contains("No knee: IOPS grow as depth^0.2"), "{text}");
}

/// Seed 1 reported a change of "-86 %" from nine operations in 50 ms, and that a probe at depth 1 was disturbed.
#[test]
fn short_probes_of_a_drive_report_no_changes() {
    for seed in 1..=2 {
        let outcome = sweep(&format!("--on hdd/7200rpm --details --seed {seed}")).expect_clean();
        for news in ["drifted", "slower than the ones", "changed level"] {
            assert!(!outcome.stdout.contains(news), "seed {seed}: {}", outcome.stdout);
        }
    }
}

#[test]
fn each_value_of_a_setting_has_a_curve_and_a_row() {
    let scratch = Scratch::new();
    let mut command = fathom(words("sweep --progress off --on vultr/nvme-block --vary bs=4k,256k --vary on.size=1TB"));
    let outcome = run(command.args(words("-o all.svg -o all.csv -o all.json")).current_dir(&scratch)).expect_clean();
    let rows: Vec<&str> = outcome.stdout.lines().filter(|line| line.starts_with("  bs=")).collect();
    assert!(rows.len() == 2 && rows[0].contains("10.0k") && rows[1].contains("1.53k"), "{rows:?}");
    assert_eq!(Json::read(&scratch.read("all.json")).items("sweeps").len(), 2);
    assert!(scratch.read("all.csv").starts_with("bs,on.size,depth,iops,iops_error,latency_ns\n4k,1TB,1,"));
    let picture = scratch.read("all.svg");
    assert!(picture.starts_with("<svg ") && picture.contains("Latency against IOPS") && picture.ends_with("</svg>\n"));
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[test]
fn a_model_in_real_time_has_the_knee_of_a_full_grid() {
    // A sixtieth of 60 s for each of 11 depths would take 11 s; a tenth of that is too short to measure.
    timed("knee::a_model_in_real_time_has_the_knee_of_a_full_grid", || {
        let line = "--on custom,iops=4000,latency=2ms --real-time --time-limit 5s --depth-max 64 --format json";
        // The exit code is 4 if no curve fits.
        let outcome = sweep(line);
        if outcome.code() != Some(0) || !outcome.stderr.is_empty() {
            return Err(format!("{outcome:?}"));
        }
        let document = Json::read(&outcome.stdout);
        let spent = document.number("sweeps/0/spent_s");
        assert!(spent <= 5.1, "{spent} s of probes within a limit of 5 s");
        let fit = document.items("sweeps")[0].at("fit");
        let found = if fit.text("shape") == "knee" { fit.number("depth/value") } else { f64::NAN };
        // A comparison with NaN is false.
        if (found / 8.0 - 1.0).abs() < 0.1 { Ok(()) } else { Err(format!("{found} for 8: {}", outcome.stdout)) }
    });
}

#[test]
fn files_are_swept_and_synchronous_engines_by_workers() {
    let scratch = Scratch::new();
    let file = "--filename=a.bin --size=8m --direct=0";
    let ask = |line: &str| {
        let line = format!("sweep --progress off {file} {line} --format json");
        // On a busy host the exit code may be 4.
        let outcome = run(fathom(words(&line)).current_dir(&scratch)).expect_one_of(&[0, 4]);
        Json::read(&outcome.stdout)
    };
    let document = ask("--ioengine=psync --time-limit 2s --depth-max 8");
    let sweep = &document.items("sweeps")[0];
    assert!(sweep.items("probes").len() >= 3 && sweep.text("engine") == "psync");
    let spent = sweep.number("spent_s");
    assert!((0.2..=2.1).contains(&spent), "{spent}");
    let document = ask("--ioengine=libaio --numjobs=2 --time-limit 2s --depth-max 16");
    assert!(document.items("sweeps/0/points").iter().all(|point| point.whole("depth") % 2 == 0));
}

#[test]
fn nothing_is_touched_before_every_check_has_passed() {
    let scratch = Scratch::new();
    let refused = |line: &str, message: &str| {
        let outcome = run(fathom(words(&format!("sweep {line}"))).current_dir(&scratch)).expect_code(2);
        assert!(outcome.stderr.contains(message), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.ends_with("nothing was touched\n"), "{line}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.matches("nothing was touched").count(), 1, "once is enough: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{line}");
    };
    let file = "--filename=a.bin --size=1m";
    refused(&format!("{file} --rate_iops=100"), "limits the rate");
    refused(&format!("{file} --name=a --name=b"), "needs exactly one job");
    refused(&format!("{file} --time-limit 5x"), "--time-limit 60s");
    refused(&format!("{file} --precision 0"), "--precision 5%");
    refused(&format!("{file} --vary iodepth=1,2"), "already varies it");
    refused(&format!("{file} -o a.prom"), ".json");
    refused("--filename=a.bin --size=1p --rw=randwrite", " short");
    refused("--filename=missing.bin", "missing.bin");
    refused("--on unknown/nothing", "unknown");
    let dry =
        run(fathom(words(&format!("sweep {file} --rw=randwrite --dry-run"))).current_dir(&scratch)).expect_clean();
    assert!(dry.stdout.contains("depths from 1 to 1024, at most 60.0 s"), "{}", dry.stdout);
    assert!(dry.stdout.contains("WRITES a.bin") && dry.stdout.contains("nothing was touched"), "{}", dry.stdout);
    assert!(!scratch.path("a.bin").exists() && !scratch.path("a.prom").exists());
}

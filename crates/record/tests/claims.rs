//! Claims: accepted values and reported problems.

use record::{Claim, Claimed};
use units::random::Random;

#[track_caller]
fn claim(text: &str) -> Claim {
    Claim::parse(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

#[track_caller]
fn problems(text: &str) -> Vec<(usize, &'static str, String)> {
    let problems = Claim::parse(text).expect_err(text);
    problems
        .into_iter()
        .map(|problem| (problem.place.unwrap().column, problem.code.name(), problem.help.unwrap_or_default()))
        .collect()
}

fn figure(claimed: Option<Claimed>) -> Option<(f64, f64)> {
    claimed.map(|claimed| (claimed.value(), claimed.step))
}

#[test]
fn figures_have_units_and_steps() {
    let all = claim(
        "iops=10000,lat=3ms,qd=4,jobs=4,bs=4k,bw=40MiB/s,read=70%,p99=8.5ms,cpus=1.5,vcpus=8,time=60s,rw=randread",
    );
    assert_eq!((figure(all.iops), figure(all.latency_ns)), (Some((10_000.0, 1.0)), Some((3e6, 1e6))));
    assert_eq!((figure(all.depth), figure(all.jobs)), (Some((4.0, 0.0)), Some((4.0, 0.0))));
    assert_eq!(
        (figure(all.block_bytes), figure(all.bytes_per_second)),
        (Some((4096.0, 0.0)), Some((40.0 * 1_048_576.0, 1_048_576.0)))
    );
    assert_eq!((figure(all.read_share), figure(all.cpus)), (Some((0.7, 0.01)), Some((1.5, 0.1))));
    assert_eq!((figure(all.vcpus), figure(all.time_ns)), (Some((8.0, 0.0)), Some((60e9, 1e9))));
    assert_eq!((all.percentiles_ns.len(), all.percentiles_ns[0].0, all.rw), (1, 99.0, Some("randread")));
    assert_eq!(figure(Some(all.percentiles_ns[0].1)), Some((8.5e6, 1e5)));

    let iops = claim("iops=10k").iops.unwrap();
    assert_eq!((iops.low(), iops.high(), iops.column, iops.length), (9_500.0, 10_500.0, 6, 3));
    let latency = claim("lat=3.00ms").latency_ns.unwrap();
    assert!((latency.high() - 3.005e6).abs() < 1e-3, "{latency:?}");
    let approximate = claim("iops=~10000").iops.unwrap();
    assert_eq!((approximate.low(), approximate.high()), (9_000.0, 11_000.0));
}

#[test]
fn ranges_have_one_unit_or_two() {
    for text in ["lat=2.7ms-3.2ms", "lat=2.7-3.2ms", "lat=2.7..3.2ms", "lat=2700us-3200us", "lat = 2.7 - 3.2 ms"] {
        let latency = claim(text).latency_ns.unwrap();
        assert_eq!((latency.min.round(), latency.max.round()), (2.7e6, 3.2e6), "{text}");
    }
}

#[test]
fn decimal_and_binary_units_differ() {
    let bytes = |text: &str| claim(text).bytes_per_second.map(|claimed| (claimed.value(), claimed.binary)).unwrap();
    assert_eq!((bytes("bw=40MiB/s"), bytes("bw=40MB/s")), ((40.0 * 1_048_576.0, true), (40e6, false)));
    assert_eq!((bytes("throughput=8Gbit/s"), bytes("bw=1GB")), ((1e9, false), (1e9, false)));
    let (column, code, remedy) = problems("bw=40M").remove(0);
    assert_eq!((column, code), (4, "claim"));
    assert!(remedy.contains("MiB/s") && remedy.contains("MB/s"), "{remedy}");
    assert_eq!(claim("bs=4KB").block_bytes.map(|claimed| claimed.value()), Some(4096.0));
}

#[test]
fn aliases_are_equivalent() {
    let short = claim("lat=1ms,qd=2,jobs=3,bw=4MB/s,bs=8k,time=5s");
    let long = claim("latency=1ms,iodepth=2,numjobs=3,throughput=4MB/s,blocksize=8KiB,runtime=5sec");
    let values = |claim: &Claim| {
        [claim.latency_ns, claim.depth, claim.jobs, claim.bytes_per_second, claim.block_bytes, claim.time_ns]
            .map(figure)
    };
    assert_eq!(values(&short), values(&long));
}

#[test]
fn all_problems_are_reported_with_their_columns() {
    let found = problems("iops=10k, latt=3ms,qd=x,qd=4,qd=5,lat=3,frob=1,ten,read=70,jobs=1.5");
    let places: Vec<_> = found.iter().map(|(column, code, _)| (*column, *code)).collect();
    assert_eq!(
        places,
        [
            (11, "claim"),
            (23, "claim"),
            (30, "claim"),
            (39, "claim"),
            (41, "claim"),
            (48, "claim"),
            (57, "claim"),
            (65, "claim"),
        ]
    );
    assert_eq!(found[0].2, "did you mean `lat`?");
    assert!(found[3].2.contains("`3ms`"), "{}", found[3].2);
    assert!(found[4].2.starts_with("use one of iops, lat,"), "{}", found[4].2);
    assert!(found[5].2.contains("pairs with commas"), "{}", found[5].2);
    assert!(found[6].2.contains("70%"), "{}", found[6].2);
    for (text, code) in
        [("", "claim"), (" , ", "claim"), ("lat=3ms-2ms", "claim"), ("iops=0", "claim"), ("p100=1ms", "claim")]
    {
        assert_eq!(problems(text)[0].1, code, "{text}");
    }
}

#[test]
fn printed_claims_round_trip() {
    let claim = claim(" IOPS = ~10k , lat=2.7ms - 3.2ms,p99.9=8ms ,rw=RandRead,");
    assert_eq!(claim.to_string(), "IOPS=~10k,lat=2.7ms-3.2ms,p99.9=8ms,rw=RandRead");
    let again: Claim = claim.to_string().parse().unwrap();
    assert_eq!(again.to_string(), claim.to_string());
    assert_eq!((figure(again.iops), figure(again.latency_ns)), (figure(claim.iops), figure(claim.latency_ns)));
}

/// Random pairs, half of them with an inserted word, are parsed or refused with places inside the text. Parsed claims
/// survive printing.
#[test]
fn random_claims_are_parsed_or_refused() {
    const KEYS: &[&str] = &["iops", "lat", "qd", "bs", "bw", "read", "p99", "p50", "time", "cpus", "mean", "frob"];
    const VALUES: &[&str] =
        &["10", "3.5", "4k", "3ms", "~2us", "40MiB/s", "8MB/s", "70%", "1-2ms", "1..4", "5s", "1.25h", "9", "0.001s"];
    const WORDS: &[&str] = &["=", ",", "~", "-", "..", " ", "µ", "–", "999999999999999999999999999999", "\n", "é", "."];
    const SEED: u64 = 0x00c1_a135;
    let mut random = Random::new(SEED, 0);
    let mut below = |bound: usize| random.below(bound as u64) as usize;
    let mut read = 0;
    for _ in 0..20_000 {
        let pairs = (0..=below(3)).map(|_| format!("{}={}", KEYS[below(KEYS.len())], VALUES[below(VALUES.len())]));
        let mut text = pairs.collect::<Vec<_>>().join(",");
        if below(2) == 0 {
            let at = below(text.len() + 1);
            text.insert_str(at, WORDS[below(WORDS.len())]);
        }
        match Claim::parse(&text) {
            Ok(claim) => {
                read += 1;
                let printed = claim.to_string();
                assert_eq!(Claim::parse(&printed).map(|again| again.to_string()), Ok(printed), "seed {SEED}: {text:?}");
            }
            Err(problems) => {
                let width = text.chars().count();
                let inside =
                    |place: &units::Place| place.column >= 1 && place.column - 1 + place.length <= width.max(1);
                let placed = problems.iter().all(|problem| problem.place.as_deref().is_some_and(inside));
                assert!(placed, "seed {SEED}: {text:?}: {problems:?}");
            }
        }
    }
    assert!((1_000..19_000).contains(&read), "seed {SEED}: {read} claims were parsed");
}

/// Columns of `iostat -x` were refused, although its rows are what database administrators have at hand.
#[test]
fn iostat_columns_are_claimed_by_name_in_their_units() {
    let all = claim(
        "r/s=1214.68,rkB/s=15124.92,r_await=2.74,rareq-sz=12.45,w/s=490.86,wkB/s=9880.95,w_await=2.01,wareq-sz=20.13,\
         aqu-sz=4.31,%util=43.40",
    );
    let values = |kind: record::ClaimedKind| {
        [kind.per_second, kind.bytes_per_second, kind.await_ns, kind.request_bytes]
            .map(|claimed| claimed.unwrap().value())
    };
    assert_eq!(values(all.reads), [1214.68, 15124.92 * 1024.0, 2.74e6, 12.45 * 1024.0]);
    assert_eq!(values(all.writes), [490.86, 9880.95 * 1024.0, 2.01 * 1e6, 20.13 * 1024.0]);
    let near = |claimed: Option<Claimed>, value: f64| (claimed.unwrap().value() - value).abs() < 1e-12;
    assert!(near(all.in_flight, 4.31) && near(all.busy, 0.434), "{all:?}");
    assert!((all.reads.await_ns.unwrap().step - 1e4).abs() < 1e-6, "two decimals of a millisecond");
    // Names of other versions, explicit units, and zeros for idle kinds.
    let old = claim("tps=334,await=9.01,avgrq-sz=16.00,avgqu-sz=2.97,util=100.00,rMB/s=2.61,w/s=0,w_await=0.00");
    assert_eq!((figure(old.iops).unwrap().0, figure(old.latency_ns).unwrap().0), (334.0, 9.01e6));
    assert_eq!((old.request_bytes.unwrap().value(), old.in_flight.unwrap().value()), (8192.0, 2.97));
    assert_eq!((old.busy.unwrap().value(), old.writes.await_ns.unwrap().value()), (1.0, 0.0));
    assert_eq!(old.reads.bytes_per_second.unwrap().value(), 2.61 * 1_048_576.0);
    let units = claim("r_await=850us,rkB/s=40MiB/s,R/S=3.5k,%util=42%");
    assert_eq!((units.reads.await_ns.unwrap().value(), units.reads.per_second.unwrap().value()), (850e3, 3500.0));
    assert_eq!(units.busy.unwrap().value(), 0.42);
    // A time for one of Fathom's own keys still needs its unit; only iostat omits milliseconds.
    assert!(problems("lat=9.01")[0].2.contains("ms"));
    assert_eq!(problems("r_awit=3")[0].2, "did you mean `r_await`?");
    assert_eq!(problems("aqu-sz=3,avgqu-sz=3")[0].1, "claim");
}

/// A decimal comma, thousands, blanks between pairs and names of other tools were refused, in part with a wrong remedy.
#[test]
fn figures_may_be_written_as_people_write_them() {
    let same = |a: &str, b: &str| {
        let read = |text: &str| {
            let claim = Claim::parse(text).unwrap_or_else(|problems| panic!("{text}: {}", problems[0].what));
            let value = |of: Option<Claimed>| of.map(|claimed| claimed.value());
            (
                value(claim.iops),
                value(claim.latency_ns),
                value(claim.depth),
                value(claim.block_bytes),
                value(claim.reads.per_second),
            )
        };
        assert_eq!(read(a), read(b), "{a}");
    };
    same("lat=0,5ms,qd=1", "lat=0.5ms,qd=1");
    same("iops=16,000,qd=8", "iops=16000,qd=8");
    same("iops=16_000,bs=4KB", "iops=16000,bs=4096");
    same("iops=1000 qd=1", "iops=1000,qd=1");
    same("iops = 1000 , lat = 1ms", "iops=1000,lat=1ms");
    same("iops=3000, avg_latency=1ms, queue_depth=3", "iops=3000,lat=1ms,qd=3");
    same("read_iops=1000,qd=8", "r/s=1000,qd=8");
    for (wrong, message) in
        [("lat=1,250us,qd=1", "is ambiguous: a decimal comma"), ("iops=1000,p50=5ms,p99=1ms", "p50 exceeds p99")]
    {
        let problems = Claim::parse(wrong).unwrap_err();
        assert!(problems.len() == 1 && problems[0].what.contains(message), "{wrong}: {}", problems[0].what);
    }
}

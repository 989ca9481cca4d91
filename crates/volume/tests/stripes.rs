//! Volumes in RAID 0: which part of a request is on which volume, and what they sustain together.

use units::{Bytes, Nanos};
use volume::closed::{Load, predict};
use volume::{Attachment, Request, RequestKind, Spec, Striping, System, catalogue};

const KIB: u32 = 1024;

fn striped(words: &str, members: u32, unit: u32) -> Spec {
    catalogue::resolve(&format!("{words},stripe={members}/{}KiB", unit / KIB)).expect("a volume")
}

/// Returns the requests per second of a closed loop at random offsets over ten seconds, and the stages.
fn rate(spec: &Spec, length: u32, in_flight: u32) -> (f64, Vec<volume::ServiceStage>) {
    let mut random = units::random::Random::new(7, 0);
    let blocks = spec.size.get() / u64::from(length);
    let mut system = System::new(&[Attachment { spec: spec.clone(), volume: "disk".to_owned() }], 1);
    system.measure(Nanos::ZERO, 0, true);
    let mut read =
        |id| Request { id, kind: RequestKind::Read, offset: random.below(blocks) * u64::from(length), length };
    (0..in_flight).for_each(|id| system.arrive(Nanos::ZERO, 0, read(id)));
    let (mut done, end) = (0, Nanos::from_secs(10));
    while let Some((at, id)) = system.next_done(end) {
        done += 1;
        system.arrive(at, 0, read(id));
    }
    (f64::from(done) / 10.0, system.stages(end))
}

#[test]
fn parts_of_a_range_cover_it_once() {
    for members in 2..5_u32 {
        let striping = Striping { members, unit: 4 };
        for offset in 0..40_u64 {
            for length in 1..40_u32 {
                // Byte by byte, as RAID 0 is defined.
                let mut expected = std::collections::BTreeMap::<usize, Vec<u64>>::new();
                for byte in offset..offset + u64::from(length) {
                    let (unit, within) = (byte / 4, byte % 4);
                    let member = (unit % u64::from(members)) as usize;
                    expected.entry(member).or_default().push(unit / u64::from(members) * 4 + within);
                }
                let mut found = std::collections::BTreeMap::new();
                for (member, start, bytes) in striping.parts(offset, length) {
                    let range: Vec<u64> = (start..start + u64::from(bytes)).collect();
                    assert!(found.insert(member, range).is_none(), "one part on each volume");
                }
                assert_eq!(found, expected, "{members} members, {length} bytes at {offset}");
            }
        }
    }
}

#[test]
fn volumes_in_a_stripe_add_their_limits_where_the_load_is_even() {
    for (length, in_flight, wanted) in [(4 * KIB, 256, 4_000.0), (64 * KIB, 256, 4_000.0)] {
        let spec = striped("custom,iops=1000,latency=1ms,size=1GiB", 4, 64 * KIB);
        let (rate, stages) = rate(&spec, length, in_flight);
        let predicted = predict(&spec, &Load::of(RequestKind::Read, length, f64::from(in_flight))).unwrap();
        assert!((rate / wanted - 1.0).abs() < 0.02, "{rate} of {wanted}");
        assert!((predicted.iops - wanted).abs() < 1.0, "{predicted:?}");
        assert_eq!(stages.len(), 4, "each volume has its limit: {stages:?}");
    }
}

/// A request of several units takes an operation of each volume that it touches, and is as slow as the slowest of them.
#[test]
fn large_requests_are_split() {
    let spec = striped("custom,iops=1000,latency=1ms,size=1GiB", 4, 64 * KIB);
    let (rate, _) = rate(&spec, 256 * KIB, 64);
    let predicted = predict(&spec, &Load::of(RequestKind::Read, 256 * KIB, 64.0)).unwrap();
    assert!(
        (rate / 1_000.0 - 1.0).abs() < 0.01 && (predicted.iops / 1_000.0 - 1.0).abs() < 0.01,
        "{rate}, {predicted:?}"
    );
    let single = predict(&spec, &Load::of(RequestKind::Read, 512 * KIB, 64.0)).unwrap();
    assert!((single.iops / 1_000.0 - 1.0).abs() < 0.01, "two units of one volume are one operation: {single:?}");
}

#[test]
fn the_machine_limits_a_stripe_as_a_whole() {
    let words = "aws/gp3,size=1TiB,iops=16000,machine=m5.large";
    let (one, spec) = (catalogue::resolve(words).expect("a volume"), striped(words, 4, 256 * KIB));
    let load = Load::of(RequestKind::Read, 4 * KIB, f64::INFINITY);
    let machine = |spec: &Spec| {
        let caps = volume::closed::caps(spec, &load);
        caps.into_iter().find(|cap| volume::names_machine(&cap.name)).expect("a limit of the machine").iops
    };
    assert!((machine(&spec) - machine(&one)).abs() < 1.0);
    assert!(predict(&spec, &load).unwrap().iops < 20_000.0);
}

/// Few requests in flight leave some of the volumes idle: the rate of a stripe is simulated, not multiplied.
#[test]
fn a_stripe_needs_more_in_flight_than_its_volumes_alone() {
    let spec = striped("custom,iops=1000,latency=1ms,size=1GiB", 8, 64 * KIB);
    let (shallow, _) = rate(&spec, 4 * KIB, 8);
    let (deep, _) = rate(&spec, 4 * KIB, 256);
    assert!(shallow < 0.9 * deep && deep > 7_900.0, "{shallow} and {deep}");
}

#[test]
fn a_flush_waits_for_all_volumes() {
    let spec = striped("custom,latency=1ms,size=1GiB", 3, 64 * KIB);
    let mut system = System::new(&[Attachment { spec, volume: "disk".to_owned() }], 1);
    system.arrive(Nanos::ZERO, 0, Request { id: 1, kind: RequestKind::Flush, offset: 0, length: 0 });
    assert_eq!(system.next_done(Nanos::MAX).map(|(_, id)| id), Some(1));
    assert_eq!(system.next_done(Nanos::MAX), None, "it completes once");
}

#[test]
fn a_stripe_is_requested_by_a_key() {
    let of = |words: &str| catalogue::resolve(words);
    let (one, spec) =
        (of("aws/gp3,size=100GiB,iops=4000").unwrap(), of("aws/gp3,size=100GiB,iops=4000,stripe=3").unwrap());
    assert_eq!(spec.striping, Some(Striping { members: 3, unit: 512 * KIB }));
    assert_eq!(spec.size, Bytes::new(300 << 30));
    assert_eq!(spec.limits, one.limits, "each volume has its own");
    let price = |spec: &Spec| spec.price.as_ref().expect("a price").per_month;
    assert!((price(&spec) / price(&one) - 3.0).abs() < 1e-9);
    assert!(spec.notes.iter().any(|note| note.contains("the loss of one loses all data")), "{:?}", spec.notes);
    for wrong in ["1", "0", "2.5", "1000", "x", "4/1KiB", "4/5000", "4/1GiB", "4/", "-2", "nan"] {
        let refused = of(&format!("aws/gp3,stripe={wrong}"));
        assert!(refused.is_err(), "stripe={wrong}");
    }
    assert!(of("hdd/7200rpm,stripe=2").is_err());
}

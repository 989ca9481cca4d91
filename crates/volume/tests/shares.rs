//! Several users of one volume: their total is its limit, and no kind of request starves another.

use units::Nanos;
use volume::catalogue::resolve;
use volume::{Attachment, Request, RequestKind, Share, System};

/// A user who keeps a number of requests of one length outstanding.
#[derive(Clone, Copy)]
struct User {
    depth: u32,
    length: u32,
}

/// Returns the operations of each user in `secs` seconds.
fn operations(volume: &str, users: &[User], secs: u64) -> Vec<u64> {
    let spec = resolve(volume).expect("a volume");
    let mut system = System::new(&[Attachment { spec, volume: "shared".into() }], 20_261_121);
    let owners: Vec<u32> = (0u32..).zip(users).flat_map(|(user, it)| vec![user; it.depth as usize]).collect();
    let ask = |system: &mut System, now, id: u32| {
        let user = owners[id as usize];
        let request = Request { id, kind: RequestKind::Read, offset: 0, length: users[user as usize].length };
        system.arrive_shared(now, 0, request, Share { user, among: users.len() as u32 });
    };
    (0..owners.len() as u32).for_each(|id| ask(&mut system, Nanos::ZERO, id));
    let mut counts = vec![0; users.len()];
    while let Some((now, id)) = system.next_done(Nanos::from_secs(secs)) {
        counts[owners[id as usize] as usize] += 1;
        ask(&mut system, now, id);
    }
    counts
}

const BIG: User = User { depth: 4, length: 1 << 20 };
const SMALL: User = User { depth: 1, length: 4096 };
/// 4.096 MB/s.
const SLOW: &str = "custom,throughput=4096kB/s,latency=100us";

#[test]
fn large_and_small_requests_do_not_starve_each_other() {
    let counts = operations(SLOW, &[BIG, SMALL], 60);
    let (big, small) = (counts[0] as f64 / 60.0, counts[1] as f64 / 60.0);
    // In order of arrival the small request would always wait for four large ones: one operation per second.
    assert!(small > 300.0, "{small} small operations a second");
    assert!(big > 1.5, "{big} large operations a second");
    let total = big * f64::from(BIG.length) + small * f64::from(SMALL.length);
    assert!((total / 4.096e6 - 1.0).abs() < 0.05, "{total} bytes a second");
}

#[test]
fn many_requests_of_one_user_leave_another_its_share() {
    let volume = "custom,iops=1000,latency=100us";
    let counts = operations(volume, &[User { depth: 256, length: 4096 }, User { depth: 4, length: 4096 }], 30);
    let (many, few) = (counts[0] as f64 / 30.0, counts[1] as f64 / 30.0);
    assert!(few > 450.0, "{few} operations a second of the one with four");
    assert!((many + few - 1000.0).abs() < 20.0, "{many} and {few}");
}

#[test]
fn unused_shares_go_to_other_users() {
    let volume = "custom,iops=1000,latency=20ms";
    // One request at a time with 20 ms is at most 50 per second.
    let counts = operations(volume, &[User { depth: 256, length: 4096 }, User { depth: 1, length: 4096 }], 30);
    let (many, one) = (counts[0] as f64 / 30.0, counts[1] as f64 / 30.0);
    assert!((many + one - 1000.0).abs() < 20.0, "{many} and {one}");
    assert!(one > 47.0, "{one} of 50 possible");
}

#[test]
fn a_new_user_cannot_spend_credits_that_another_has_used() {
    let volume = "aws/gp2,size=100GiB";
    let alone = operations(volume, &[User { depth: 64, length: 4096 }], 3000)[0];
    let both = operations(volume, &[User { depth: 32, length: 4096 }, User { depth: 32, length: 4096 }], 3000);
    let total: u64 = both.iter().sum();
    assert!(total.abs_diff(alone) * 50 < alone, "{total} of two, {alone} of one");
}

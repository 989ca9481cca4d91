//! How many random reads of the 7,200 rpm drive are modelled in a second, ten outstanding.
//!
//!     cargo run --release -p volume --example drive_speed [DEPTH]

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a program that takes the real time")]

use std::time::Instant;

use units::{Bytes, Nanos, random::Random};
use volume::disk::Drive;
use volume::{Attachment, Behaviour, Kind, Request, Spec, System};

fn main() {
    let depth = std::env::args().nth(1).and_then(|depth| depth.parse().ok()).unwrap_or(10);
    let spec = Spec {
        name: "hdd/7200rpm".into(),
        title: "hard disk".into(),
        size: Bytes::new(1 << 40),
        host: "machine".into(),
        limits: Vec::new(),
        stations: Vec::new(),
        behaviour: Behaviour::Drive(Drive::sata_7200rpm()),
        buffering: volume::Buffering::default(),
        price: None,
        notes: Vec::new(),
    };
    let mut system = System::new(&[Attachment { spec, volume: "disk".into() }], 1);
    let mut random = Random::new(1, 0);
    let mut ask = |id| Request { id, kind: Kind::Read, offset: random.below(1 << 28) << 12, length: 4096 };
    let (count, start) = (5_000_000, Instant::now());
    for id in 0..depth {
        system.arrive(Nanos::ZERO, 0, ask(id));
    }
    for _ in 0..count {
        let (now, id) = system.next_done(Nanos::MAX).expect("the loop is closed");
        system.arrive(now, 0, ask(id));
    }
    let speed = f64::from(count) / start.elapsed().as_secs_f64() / 1e6;
    println!("depth {depth}: {speed:.2} M I/O per second");
}

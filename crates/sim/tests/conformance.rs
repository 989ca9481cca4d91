//! Simulated worlds as targets: without the page cache, with it, and with little memory.

use sim::{Buffered, ClientPlace, ModelClient, Virtual, World};
use target::conformance::{TestedTarget, check};
use units::{Bytes, Nanos};
use volume::{Attachment, Behaviour, Buffering, HardDisk, Spec, System};

use crate::common;

const FILE_BYTES: u64 = 1 << 20;

fn conforms(spec: &Spec, buffered: Option<Buffered>) {
    for depth in [1, 2, 32, 300] {
        let spec = spec.clone();
        let system = System::new(&[Attachment { spec, volume: "volume".to_owned() }], 1);
        let mut world = World::new(system, Virtual::default());
        let files = vec![ClientPlace { route: 0, base: 1 << 20, bytes: FILE_BYTES }];
        world.connect(vec![ModelClient { depth, files, buffered }]);
        check(
            &mut world,
            &TestedTarget { depth, file_bytes: FILE_BYTES, keeps_bytes: false, ..TestedTarget::default() },
        );
    }
}

fn memory(bytes: u64) -> Spec {
    let buffering = Buffering { memory: Some(Bytes::new(bytes)), ..Buffering::default() };
    Spec { buffering, ..common::constant(Nanos::from_micros(100)) }
}

#[test]
fn without_the_page_cache() {
    conforms(&memory(1 << 30), None);
    conforms(&Spec { behaviour: Behaviour::Drive(HardDisk::sata_7200rpm()), ..memory(1 << 30) }, None);
}

#[test]
fn through_the_page_cache() {
    for blocking in [true, false] {
        for durable in [true, false] {
            for bytes in [1 << 30, 256 << 10, 4096] {
                let buffered = Some(Buffered { blocking, durable, ..Buffered::default() });
                conforms(&memory(bytes), buffered);
            }
        }
    }
    let drive = Spec { behaviour: Behaviour::Drive(HardDisk::sata_7200rpm()), ..memory(256 << 10) };
    conforms(&drive, Some(Buffered::default()));
}

//! Stores of exports: files, copies, patterns, memory, faults.

use super::place::{Place, noise, python};
use crate::common::{Scratch, require};

#[test]
fn files_keep_writes_and_copied_images_do_not() {
    require!(NbdTools);
    let (place, scratch) = (Place::new(), Scratch::new());
    let file = scratch.text("disk");
    let write = "qemu-io -f raw -c 'write -P 0xcd 1M 64k' -c flush \"$uri\"";
    place.serve_while(&format!("custom,size=4MiB --backing file:{file}"), write).expect_code(0);
    let written = std::fs::read(&file).unwrap();
    assert_eq!(written.len(), 4 << 20);
    assert!(written[1 << 20..][..64 << 10].iter().all(|byte| *byte == 0xcd));
    let over = "qemu-io -f raw -c 'write -P 1 0 2M' -c 'read -P 1 0 2M' -c 'read -P 0 2M 2M' \"$uri\"";
    for manner in ["", " --direct"] {
        place.serve_while(&format!("--backing copy:{file}{manner}"), over).expect_code(0);
        assert!(std::fs::read(&file).unwrap() == written, "the image was changed");
    }
}

#[test]
fn a_file_with_a_model_is_read_unchanged() {
    require!(NbdTools);
    let (place, scratch) = (Place::new(), Scratch::new());
    let data = noise(&scratch.path("disk"), 1 << 20);
    let line = format!("custom,size=1MiB --read-only --backing file:{}", scratch.text("disk"));
    place.serve_while(&line, &format!("nbdcopy \"$uri\" {}", place.text("out"))).expect_code(0);
    assert!(std::fs::read(place.path("out")).unwrap() == data);
}

#[test]
fn each_export_has_its_own_store() {
    require!(NbdPython);
    let place = Place::new();
    let _server = place.serve("--export a= --export b= --size 1MiB --size b=2MiB --backing b=pattern");
    assert_eq!(
        python(&place.uri("b"), "print(h.get_size(), h.pread(16, 4096).hex())"),
        "2097152 00000000000010000000000000001008\n"
    );
    assert_eq!(python(&place.uri("a"), "print(h.get_size(), h.pread(4, 4096).hex())"), "1048576 00000000\n");
}

#[test]
fn faults_have_the_requested_rate_and_repeat_by_seed() {
    require!(NbdPython);
    let script = "errors = 0\n\
                  for at in range(2000):\n\
                  \x20   try: h.pread(512, 0)\n\
                  \x20   except nbd.Error as e: errors += e.errno == 'EIO'\n\
                  print(errors)";
    let counted = |seed: u32| {
        let place = Place::new();
        let _server = place.serve(&format!("--size 1MiB --faults eio=10% --seed {seed}"));
        python(&place.uri(""), script).trim().parse::<u32>().unwrap()
    };
    let first = counted(1);
    assert!((140..260).contains(&first), "{first} of 2000");
    assert_eq!(counted(1), first);
}

#[test]
fn injected_stalls_and_disconnections_reach_the_client() {
    require!(NbdPython);
    let timed = "import time\nbegan = time.time(); h.pread(512, 0); print(time.time() - began >= 0.3)";
    let broken = "try: h.pread(512, 0)\nexcept nbd.Error: print(h.aio_is_dead() or h.aio_is_closed())";
    for (faults, script) in [("stall=100%:300ms", timed), ("disconnect=1", broken)] {
        let place = Place::new();
        let _server = place.serve(&format!("--size 1MiB --faults {faults}"));
        assert_eq!(python(&place.uri(""), script), "True\n", "{faults}");
    }
}

#[test]
fn exhausted_memory_is_enospc_for_clients() {
    require!(NbdPython);
    let place = Place::new();
    let _server = place.serve("custom,size=1GiB --memory-limit 16MiB");
    let script = "try:\n\x20   for at in range(512): h.pwrite(b'x' * 65536, at << 16)\nexcept nbd.Error as e: print(e.errno, at > 100)";
    assert_eq!(python(&place.uri(""), script), "ENOSPC True\n");
}

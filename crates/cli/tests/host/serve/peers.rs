//! Other NBD clients: libnbd, QEMU and fio.

use super::place::{Place, noise, python, stopped};
use crate::common::devices::tool;
use crate::common::json::Json;
use crate::common::{fio, require, run};

const FAST: &str = "custom,size=64MiB,iops=100000,latency=50us";

#[test]
fn nbdinfo_shows_the_properties_of_exports() {
    require!(NbdTools);
    let place = Place::new();
    let _server =
        place.serve(&format!("{FAST} --export disk=hdd/7200rpm --export code=custom,size=1GiB --backing code=pattern"));
    let info = Json::read(&tool("nbdinfo", &["--json", &place.uri("")]));
    assert_eq!(info.whole("exports/0/export-size"), 64 << 20);
    assert_eq!(info.text("exports/0/description"), FAST);
    assert_eq!(info.whole("exports/0/block_size_maximum"), 32 << 20);
    let can =
        |export: &str, what: &str| run(std::process::Command::new("nbdinfo").args(["--can", what, &place.uri(export)]));
    for what in ["multi-conn", "fua", "df", "trim", "zero", "fast-zero", "cache", "flush", "write"] {
        can("", what).expect_code(0);
    }
    for what in ["write", "trim", "zero", "fua"] {
        assert_ne!(can("code", what).code(), Some(0), "a pattern can {what}");
    }
    let is = |export: &str, what: &str| {
        run(std::process::Command::new("nbdinfo").args(["--is", what, &place.uri(export)])).code()
    };
    assert_eq!((is("disk", "rotational"), is("", "rotational")), (Some(0), Some(2)));
    assert_eq!((is("code", "read-only"), is("", "read-only")), (Some(0), Some(2)));
    let list = Json::read(&tool("nbdinfo", &["--list", "--json", &place.uri("")]));
    let names: Vec<&str> = list.items("exports").iter().map(|export| export.text("export-name")).collect();
    assert_eq!(names, ["", "disk", "code"]);
}

#[test]
fn holes_are_mapped_until_something_is_written() {
    require!(NbdTools);
    let place = Place::new();
    let _server = place.serve(FAST);
    let map = || tool("nbdinfo", &["--map", &place.uri("")]);
    assert_eq!(map().split_whitespace().collect::<Vec<_>>(), ["0", "67108864", "3", "hole,zero"]);
    tool("qemu-io", &["-f", "raw", "-c", "write -P 7 1M 64k", &place.uri("")]);
    assert_eq!(map().lines().count(), 3, "{}", map());
    let map = tool("qemu-img", &["map", "--output=json", "-f", "raw", &place.uri("")]);
    let qemu = Json::read(&format!("{{\"map\": {map}}}"));
    assert_eq!((qemu.whole("map/1/start"), qemu.whole("map/1/length")), (1 << 20, 64 << 10));
}

#[test]
fn qemu_io_reads_what_it_wrote() {
    require!(NbdTools);
    let commands = [
        "write -P 0xaa 4k 64k",
        "read -P 0xaa 4k 64k",
        "write -z -u 4k 64k",
        "read -P 0 4k 64k",
        "discard 0 1M",
        "flush",
        "write -f -P 3 0 4k",
        "read -P 3 0 4k",
        "write -P 5 1023 2049",
        "read -P 5 1023 2049",
        "write -P 9 67108352 512",
    ];
    let line: String = commands.iter().map(|command| format!(" -c '{command}'")).collect();
    let outcome = Place::new().serve_while(FAST, &format!("qemu-io -f raw {line} \"$uri\"")).expect_code(0);
    assert!(!outcome.stdout.contains("failed"), "{}", outcome.stdout);
}

#[test]
fn images_are_copied_in_and_out_unchanged() {
    require!(NbdTools);
    let place = Place::new();
    let data = noise(&place.path("in"), 64 << 20);
    let _server = place.serve(FAST);
    let (uri, text) = (place.uri(""), |name: &str| place.text(name));
    tool("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", &text("in"), &uri]);
    tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", &text("in"), &uri]);
    tool("nbdcopy", &["--connections=4", "--requests=64", &uri, &text("out")]);
    assert!(std::fs::read(place.path("out")).unwrap() == data, "nbdcopy copied other bytes");
    tool("nbdcopy", &["--no-extents", "--request-size=4096", "--requests=64", "--connections=2", &uri, "null:"]);
    let info = tool("qemu-img", &["info", "-f", "raw", &uri]);
    assert!(info.contains("64 MiB (67108864 bytes)"), "{info}");
}

#[test]
fn fio_verifies_what_it_wrote() {
    require!(Fio);
    let place = Place::new();
    let server = place.serve(FAST);
    let job = "--name=v --ioengine=nbd --rw=randrw --bs=4k --size=16M --iodepth=16 --verify=crc32c --do_verify=1 --thread \
               --verify_state_save=0";
    let uri = format!("--uri={}", place.uri(""));
    run(&mut fio(job.split(' ').chain([uri.as_str(), "--output-format=json"]))).expect_code(0);
    let end = stopped(server).expect_code(0);
    assert!(end.stdout.contains("  write ") && end.stdout.contains("  read "), "{}", end.stdout);
}

#[test]
fn libnbd_negotiates_all_features() {
    require!(NbdPython);
    let place = Place::new();
    let _server = place.serve(FAST);
    let printed = python(
        &place.uri(""),
        "print(h.get_protocol(), h.get_structured_replies_negotiated(), h.can_meta_context('base:allocation'))\n\
         h.pwrite(b'x' * 4096, 8192, nbd.CMD_FLAG_FUA)\n\
         assert h.pread(4096, 8192) == b'x' * 4096\n\
         h.zero(4096, 8192); assert h.pread(4096, 8192) == bytes(4096)\n\
         h.trim(1 << 20, 0); h.cache(4096, 0); h.flush()\n\
         h.set_strict_mode(0)\n\
         for call in [lambda: h.pread(4096, 1 << 26), lambda: h.pwrite(bytes(4096), 1 << 26)]:\n\
         \x20   try: call()\n\
         \x20   except nbd.Error as e: print(e.errno)\n\
         assert h.pread(512, 0) == bytes(512)\n\
         h.shutdown()",
    );
    assert_eq!(printed, "newstyle-fixed True True\nEINVAL\nENOSPC\n");
}

#[test]
fn read_only_exports_serve_many_readers_and_refuse_writes() {
    require!(NbdPython);
    let place = Place::new();
    let server = place.serve("gcp/hyperdisk-ml,size=64GiB --read-only --backing random --seed 4");
    let printed = python(
        &place.uri(""),
        &format!(
            "all = [nbd.NBD() for _ in range(40)]\n\
             for c in all: c.connect_uri('{}')\n\
             print(len({{bytes(c.pread(65536, 1 << 30)) for c in all}}), h.is_read_only())\n\
             h.set_strict_mode(0)\n\
             try: h.pwrite(bytes(4096), 0)\n\
             except nbd.Error as e: print(e.errno)",
            place.uri("")
        ),
    );
    assert_eq!(printed, "1 True\nEPERM\n");
    let end = stopped(server).expect_code(0).stdout;
    assert!(end.contains("read-only, 41 connections") && end.contains("random"), "{end}");
}

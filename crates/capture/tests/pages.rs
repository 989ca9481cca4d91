//! Pages that a kernel (6.18) wrote: 120 random reads and writes of 4 KiB by fio on a loop device, with a flush after ten
//! writes. The expected numbers are the differences of the device's counters.

use capture::{DecodedPages, decode_pages};
use trace::TraceOperation;

use crate::cases::at_night;

macro_rules! formats {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("data/", $name, ".format")))),*] };
}

const HEADER_PAGE: &str = include_str!("data/header_page");
const FORMATS: [(&str, &str); 8] = formats![
    "block_rq_issue",
    "block_rq_complete",
    "block_rq_insert",
    "block_rq_requeue",
    "block_rq_merge",
    "block_bio_frontmerge",
    "block_bio_queue",
    "block_bio_complete"
];
const CPUS: [&[u8]; 2] = [include_bytes!("data/cpu0.pages"), include_bytes!("data/cpu1.pages")];

fn decoded(cpus: [&[u8]; 2]) -> DecodedPages {
    decode_pages(HEADER_PAGE, &FORMATS, &cpus.map(|pages| pages.chunks(4096).collect())).unwrap()
}

#[test]
fn all_requests_are_in_the_pages() {
    let found = decoded(CPUS);
    let count = |wanted: TraceOperation| {
        let requests = found.requests.iter().filter(|request| request.operation == wanted);
        let (mut number, mut sectors) = (0, 0);
        requests.for_each(|request| (number, sectors) = (number + 1, sectors + request.length / 512));
        (number, sectors)
    };
    assert_eq!(count(TraceOperation::Read), (58, 464));
    assert_eq!(count(TraceOperation::Write), (62, 496));
    assert_eq!(count(TraceOperation::Flush), (11, 0));
    assert_eq!((found.counts.flush_waits, found.counts.unmatched, found.missed), (11, 0, 0));
    assert!(found.requests.iter().all(|request| request.service_ns.is_some_and(|time| time < 1_000_000_000)));
    assert!(found.requests.is_sorted_by_key(|request| request.issued_ns));
    assert!(found.processes.iter().any(|name| name.starts_with("fio/")), "{:?}", found.processes);
}

#[test]
fn damaged_pages_give_less_and_never_panic() {
    let mut random = units::random::Random::new(11, 0);
    let mut with_damage = 0;
    for _ in 0..500 {
        let damaged = CPUS.map(|pages| {
            let mut pages = pages.to_vec();
            for _ in 0..random.below(20) {
                let at = random.below(pages.len() as u64) as usize;
                pages[at] = random.bits() as u8;
            }
            pages.truncate(random.below(pages.len() as u64 + 1) as usize);
            pages
        });
        let found = decoded([&damaged[0], &damaged[1]]);
        assert!(found.requests.len() < 300);
        with_damage += u64::from(found.missed > 0);
    }
    assert!(with_damage > 100, "{with_damage}");
}

#[test]
fn hostile_formats_are_errors_or_skipped_events() {
    // By day every seventh letter, in each format others.
    let step = if at_night() { 1 } else { 7 };
    for (first, (name, format)) in FORMATS.into_iter().enumerate() {
        for at in (first % step..format.len()).step_by(step) {
            let damaged = format!("{}{}{}", &format[..at], '7', &format[at + 1..]);
            let formats =
                FORMATS.map(|(known, text)| if known == name { (known, damaged.as_str()) } else { (known, text) });
            let pages: Vec<Vec<&[u8]>> = CPUS.iter().map(|pages| pages.chunks(4096).collect()).collect();
            if let Err(error) = decode_pages(HEADER_PAGE, &formats, &pages) {
                assert!(error.what.starts_with(&format!("{name}/format: ")), "{error}");
            }
        }
    }
    let error = decode_pages("field: u64 timestamp; offset:0; size:8;", &FORMATS, &[]).unwrap_err();
    assert_eq!(error.what, "header_page: no field `commit`");
}

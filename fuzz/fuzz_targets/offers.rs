//! Reads any bytes as files of a cloud provider, one or two. The result is offers whose dated file reads back as it is, or a
//! problem with a remedy; never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offers::{DatedFile, OfferOptions, OfferReader};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let regions = (choice & 1 == 1).then(|| "nowhere1".to_owned()).into_iter().collect();
    let mut reader = OfferReader::new(OfferOptions { provider: None, regions });
    let (first, second) = if choice & 2 == 2 { bytes.split_at(bytes.len() / 2) } else { (bytes, &[][..]) };
    let read = reader.read("first", first).and_then(|_| match second {
        [] => Ok(()),
        _ => reader.read("second", second).map(drop),
    });
    match read.and_then(|()| reader.finish()) {
        Ok(list) => {
            let mut dated = DatedFile::new(list.provider);
            if dated.renew(&list, "2026-01-01").is_ok() {
                assert_eq!(DatedFile::parse(list.provider, "x.toml", &dated.text()), Ok(dated));
            }
        }
        Err(problem) => {
            assert!(!problem.what.is_empty() && problem.help.is_some(), "{problem:?}");
            assert!(problem.place.is_none_or(|place| place.line >= 1 && place.text.get(place.bytes()).is_some()));
        }
    }
});

//! Several files of one provider, and the selection of a region.

use offers::{OfferOptions, OfferReader, Provider, SkipReason};
use units::ProblemCode;

use crate::common::{
    AZURE_PRICES, AZURE_SKUS, GCP_MACHINE_TYPES, GCP_SKUS, INSTANCE_TYPES, PRICE_LIST, prices, read, read_all,
};

fn in_region(region: &str) -> OfferOptions {
    OfferOptions { regions: vec![region.into()], ..OfferOptions::default() }
}

#[test]
fn a_machine_has_its_limits_from_one_file_and_its_price_from_the_other() {
    for files in [[INSTANCE_TYPES, PRICE_LIST], [PRICE_LIST, INSTANCE_TYPES]] {
        let list = read_all(&files, OfferOptions::default()).expect("offers");
        let machine = list.machines.iter().find(|machine| machine.name == "z9q.4xlarge").expect("the machine");
        assert_eq!(machine.price_per_hour.get("xx-none-1"), Some(&0.808));
        assert_eq!((machine.limits.base_iops, machine.arch.as_deref()), (Some(24_000), Some("x86_64")));
        assert_eq!(machine.regions, ["xx-none-1"]);
        assert_eq!(list.machines.len(), 3);
    }
}

#[test]
fn a_region_selects_its_offers() {
    let list = read_all(&[GCP_SKUS, GCP_MACHINE_TYPES], in_region("elsewhere-west1")).expect("offers");
    assert_eq!(prices(&list), ["gcp/pd-ssd elsewhere-west1 capacity 0.. 0.19 per GiB"]);
    assert_eq!(list.regions, ["elsewhere-west1"]);
    assert_eq!(list.machines.iter().map(|machine| machine.max_volumes).collect::<Vec<_>>(), [Some(16)]);
    assert_eq!(list.skipped.get(&SkipReason::OtherRegion), Some(&11));
    let azure = read_all(&[AZURE_SKUS], in_region("elsewhere2")).expect("offers");
    assert_eq!(azure.machines[0].limits.base_iops, Some(10_000));
    assert_eq!(read_all(&[AZURE_SKUS], in_region("Elsewhere 2")), Ok(azure));
}

#[test]
fn a_region_that_no_offer_has_is_an_error_that_names_those_there_are() {
    let problem = read_all(&[GCP_SKUS], in_region("nowhere-north8")).expect_err("no offers");
    assert_eq!(problem.code, ProblemCode::NoResults);
    assert_eq!(problem.notes, ["it has elsewhere-west1, nowhere-north9"]);
    assert_eq!(problem.help.as_deref(), Some("did you mean `nowhere-north9`?"));
}

#[test]
fn files_of_two_providers_are_refused() {
    let problem = read_all(&[AZURE_PRICES, GCP_SKUS], OfferOptions::default()).expect_err("two providers");
    assert!(problem.what.starts_with("file1 is of gcp, not of azure: Google Cloud Billing SKUs"), "{}", problem.what);
    let options = OfferOptions { provider: Some(Provider::Aws), regions: Vec::new() };
    let problem = read_all(&[GCP_SKUS], options).expect_err("another provider");
    assert_eq!(problem.notes, ["offers of aws were requested"]);
}

#[test]
fn a_file_given_twice_adds_nothing() {
    let mut twice = read_all(&[PRICE_LIST, PRICE_LIST], OfferOptions::default()).expect("offers");
    assert_eq!(twice.skipped.remove(&SkipReason::Repeated), Some(10));
    let once = read(PRICE_LIST).expect("offers");
    assert_eq!((twice.prices, twice.machines), (once.prices, once.machines));
}

#[test]
fn no_file_is_an_error() {
    assert_eq!(OfferReader::new(OfferOptions::default()).finish().expect_err("no file").code, ProblemCode::NoResults);
}

#[test]
fn the_memory_does_not_grow_with_the_file() {
    // A price list with many products and terms that do not matter, between the halves of one that does.
    let text = std::str::from_utf8(PRICE_LIST).expect("text");
    let (head, tail) = text.split_once("\"products\": {").expect("products");
    let filler = |number: u32| {
        format!(
            "\"F{number:08}\": {{\"sku\": \"F{number:08}\", \"attributes\": {{\"usagetype\": \"XXN1-NatGateway-Hours\"}}}},\n"
        )
    };
    let many = (0..40_000).map(filler);
    let parts = std::iter::once(format!("{head}\"products\": {{")).chain(many).chain([tail.to_owned()]);
    let mut reader = OfferReader::new(OfferOptions::default());
    assert!(reader.read("long", Parts { parts, rest: Vec::new() }).is_ok());
    let list = reader.finish().expect("offers");
    assert_eq!(list.prices, read(PRICE_LIST).expect("offers").prices);
    assert_eq!(list.skipped.get(&SkipReason::OtherProduct), Some(&40_002));
}

/// A file that is generated while it is read.
struct Parts<I> {
    parts: I,
    rest: Vec<u8>,
}

impl<I: Iterator<Item = String>> std::io::Read for Parts<I> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.parts.next().unwrap_or_default().into_bytes();
        }
        let length = self.rest.len().min(out.len());
        out[..length].copy_from_slice(&self.rest[..length]);
        self.rest.drain(..length);
        Ok(length)
    }
}

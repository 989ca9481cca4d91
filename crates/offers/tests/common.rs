//! Files in the providers' formats with invented values, and readers of them.

use offers::{OfferList, OfferOptions, OfferReader};
use units::Problem;

macro_rules! data {
    ($($constant:ident $name:literal)*) => {
        $(pub(crate) const $constant: &[u8] = include_bytes!(concat!("data/", $name));)*
        /// All files with their names.
        pub(crate) const ALL: &[(&str, &[u8])] = &[$(($name, $constant)),*];
    };
}

data! {
    INSTANCE_TYPES "aws-instance-types.json"
    PRICE_LIST "aws-price-list.json"
    PRICE_TABLE "aws-price-list.csv"
    PRODUCTS "aws-products.json"
    AZURE_PRICES "azure-prices.json"
    AZURE_SKUS "azure-skus.json"
    AZURE_SKUS_REST "azure-skus-rest.json"
    GCP_SKUS "gcp-skus.json"
    GCP_MACHINE_TYPES "gcp-machine-types.json"
    GCP_MACHINE_TYPE "gcp-machine-type.json"
}

pub(crate) fn read(file: &[u8]) -> Result<OfferList, Problem> {
    read_all(&[file], OfferOptions::default())
}

pub(crate) fn read_all(files: &[&[u8]], options: OfferOptions) -> Result<OfferList, Problem> {
    let mut reader = OfferReader::new(options);
    for (number, file) in files.iter().enumerate() {
        reader.read(&format!("file{number}"), *file)?;
    }
    reader.finish()
}

/// Returns the file with one text replaced, which it must have.
pub(crate) fn with(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = std::str::from_utf8(file).expect("the files are text");
    assert!(text.contains(from), "{from} is missing");
    text.replace(from, to).into_bytes()
}

/// Returns the prices as lines: volume, region, component with its tier, range, price and unit.
pub(crate) fn prices(list: &OfferList) -> Vec<String> {
    let line = |price: &offers::VolumePrice| {
        let tier = price.tier.as_ref().map_or_else(String::new, |tier| format!(" {tier}"));
        let to = price.to.map_or_else(String::new, |to| to.to_string());
        let component = format!("{:?}", price.component).to_lowercase();
        let (volume, region) = (&price.volume, &price.region);
        format!("{volume} {region} {component}{tier} {}..{to} {} per {:?}", price.from, price.per_month, price.unit)
    };
    list.prices.iter().map(line).collect()
}

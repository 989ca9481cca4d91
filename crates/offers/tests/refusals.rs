//! Damaged and foreign files are refused with a place and a remedy, and at once.

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use offers::{OfferOptions, OfferReader};
use units::{Problem, ProblemCode};

use crate::common::{
    ALL, AZURE_PRICES, AZURE_SKUS, GCP_MACHINE_TYPES, GCP_SKUS, INSTANCE_TYPES, PRICE_LIST, PRICE_TABLE, PRODUCTS,
    read, with,
};

fn packed(file: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(file).expect("memory");
    packer.finish().expect("memory")
}

fn cut(file: &[u8], from_end: usize) -> Vec<u8> {
    file[..file.len() - from_end].to_vec()
}

/// Returns the file with `text` in its middle.
fn around(file: &[u8], text: &[u8]) -> Vec<u8> {
    let middle = file.len() / 2;
    [&file[..middle], text, &file[middle..]].concat()
}

fn lines(file: &[u8], number: usize) -> Vec<u8> {
    file.split_inclusive(|&byte| byte == b'\n').take(number).flatten().copied().collect()
}

fn list_of(item: &str, number: usize) -> String {
    vec![item; number].join(",")
}

/// Name, file, code, and what the problem says.
type Case = (&'static str, Vec<u8>, ProblemCode, &'static str);

fn foreign() -> Vec<Case> {
    use ProblemCode::{Encoding, NoResults, UnreadableInput};
    let json = |text: &str| text.as_bytes().to_vec();
    vec![
        ("empty", Vec::new(), NoResults, "the file is empty"),
        ("blanks", b" \n\n\t ".to_vec(), NoResults, "nothing but blanks"),
        ("html", json("<!DOCTYPE html><html><body>Access denied"), UnreadableInput, "an HTML page"),
        ("xml", json("<?xml version=\"1.0\"?><Error/>"), UnreadableInput, "looks like XML"),
        ("yaml", json("InstanceTypes:\n- InstanceType: z9q.large\n"), UnreadableInput, "YAML"),
        ("kubernetes", json("apiVersion: v1\nkind: Pod\n"), UnreadableInput, "Kubernetes object as YAML"),
        ("job file", json("[global]\nrw=randread\n"), UnreadableInput, "a job file"),
        ("text", json("All is well.\n"), UnreadableInput, "plain text"),
        ("table", json("a,b,c\n1,2,3\n"), UnreadableInput, "a CSV table that is no AWS price list"),
        ("zip", b"PK\x03\x04\x14\0\0\0".to_vec(), UnreadableInput, "a ZIP archive"),
        ("zeros", vec![0; 100_000], UnreadableInput, "binary data"),
        ("gzip twice", packed(&packed(GCP_SKUS)), UnreadableInput, "a gzip file within a gzip file"),
        (
            "UTF-16",
            PRICE_LIST.iter().fold(vec![0xff, 0xfe], |all, byte| [all, vec![*byte, 0]].concat()),
            Encoding,
            "UTF-16",
        ),
        ("Latin-1", b"Pre\xe7o e pre\xe7o".to_vec(), Encoding, "not UTF-8"),
        ("fio", json(r#"{"fio version": "fio-3.39", "jobs": []}"#), UnreadableInput, "output of fio"),
        ("terraform", json(r#"{"format_version": "1.2", "terraform_version": "1.9"}"#), UnreadableInput, "Terraform"),
        ("metrics", json(r#"{"MetricDataResults": []}"#), UnreadableInput, "CloudWatch metrics"),
        ("volumes", json(r#"{"Volumes": [{"VolumeId": "vol-1"}]}"#), UnreadableInput, "a list of EBS volumes"),
        ("error", json(r#"{"error": {"code": 403, "message": "key"}}"#), UnreadableInput, "an error message"),
        (
            "index",
            json(r#"{"publicationDate": "2026-01-01", "regions": {}}"#),
            UnreadableInput,
            "an index of AWS regions",
        ),
        ("other JSON", json(r#"{"value": [{"id": 1}], "items": []}"#), UnreadableInput, "JSON of another program"),
        ("no JSON", json("[]"), UnreadableInput, "JSON without any names of fields"),
        ("names", json(r#"["us-east-1", "us-east-2"]"#), UnreadableInput, "JSON without any names of fields"),
        ("numbers", json("[1, 2, 3]"), UnreadableInput, "JSON without any names of fields"),
    ]
}

fn damaged() -> Vec<Case> {
    use ProblemCode::{CutOff, Encoding, Offers, TooMuchText, UnreadableInput};
    let deep = [b"{\"skus\": [], \"more\": ".to_vec(), vec![b'['; 300_000]].concat();
    let blanks = [b"{\"skus\": ".to_vec(), vec![b' '; 3_000_000]].concat();
    let string = [b"{\"skus\": [{\"description\": \"".to_vec(), vec![b'a'; 3_000_000]].concat();
    let digits = [b"{\"skus\": [{\"pricingInfo\": ".to_vec(), vec![b'9'; 3_000_000]].concat();
    let row = [PRICE_TABLE, b"\"", &vec![b'a'; 1_000_000]].concat();
    let mut flipped = packed(PRICE_LIST);
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    vec![
        ("cut JSON", cut(PRICE_LIST, 200), CutOff, "the file ends within its JSON"),
        ("cut page", cut(AZURE_PRICES, 40), CutOff, "the file ends within its JSON"),
        ("cut table", cut(PRICE_TABLE, 60), CutOff, "fields instead of 36"),
        ("cut quotes", cut(PRICE_TABLE, 2), CutOff, "ends within quotes"),
        ("metadata alone", lines(PRICE_TABLE, 6), CutOff, "ends before the names of its columns"),
        ("header alone", lines(PRICE_TABLE, 7), CutOff, "ends after the names of its columns"),
        ("cut header", PRICE_TABLE[..300].to_vec(), Offers, "no column `Unit`"),
        ("cut gzip", cut(&packed(PRICE_LIST), 20), CutOff, "the gzip file ends early"),
        ("damaged gzip", flipped, UnreadableInput, "is damaged"),
        ("garbage behind", [GCP_SKUS, b"}"].concat(), UnreadableInput, "the JSON is damaged"),
        ("garbage within", around(GCP_SKUS, b"%&"), UnreadableInput, "the JSON is damaged"),
        ("zero byte", around(PRICE_TABLE, b"\0"), UnreadableInput, "a zero byte"),
        ("bytes in a name", with_bytes(GCP_SKUS, "Hyperdisk Balanced IOPS", b"\xff\xfe"), Encoding, "not UTF-8"),
        ("bytes in a table", with_bytes(PRICE_TABLE, "EBS:VolumeUsage.gp3", b"\xff"), Encoding, "not UTF-8"),
        ("deep", deep, TooMuchText, "nested deeper than 60 levels"),
        ("blanks", blanks, TooMuchText, "blanks in a row"),
        ("long string", string.clone(), TooMuchText, "a string is longer than"),
        ("packed string", packed(&string), TooMuchText, "a string is longer than"),
        ("long number", digits, TooMuchText, "a number or word is longer than"),
        ("long row", row, TooMuchText, "a row is longer than"),
        (
            "wrong type",
            with(INSTANCE_TYPES, "\"DefaultVCpus\": 16", "\"DefaultVCpus\": \"many\""),
            UnreadableInput,
            "invalid type",
        ),
        ("object for a list", br#"{"skus": {"a": 1}}"#.to_vec(), UnreadableInput, "expected a list"),
        ("large number", with(AZURE_PRICES, "111.1", "1e999"), UnreadableInput, "number out of range"),
        ("no number", with(AZURE_PRICES, "111.1", "NaN"), UnreadableInput, "the JSON is damaged"),
        (
            "text in a text",
            with(PRODUCTS, "\"{\\\"product", "\"{\\\"product\\\":{"),
            UnreadableInput,
            "JSON within a string is damaged",
        ),
    ]
}

fn with_bytes(file: &[u8], after: &str, bytes: &[u8]) -> Vec<u8> {
    let at = file.windows(after.len()).position(|window| window == after.as_bytes()).expect("the text") + after.len();
    [&file[..at], bytes, &file[at..]].concat()
}

fn unusable() -> Vec<Case> {
    use ProblemCode::{NoResults, Offers};
    let gcp_twice =
        with(GCP_SKUS, "Hyperdisk Throughput Throughput Capacity in Nowhere", "Hyperdisk Balanced Throughput in X");
    vec![
        ("other service", with(PRICE_LIST, "AmazonEC2", "AmazonRDS"), Offers, "the price list of AmazonRDS"),
        (
            "other table",
            with(PRICE_TABLE, "\"OfferCode\",\"AmazonEC2\"", "\"OfferCode\",\"AmazonS3\""),
            Offers,
            "price list of AmazonS3",
        ),
        (
            "unit",
            with(PRICE_LIST, "GB-Mo", "TB-Mo"),
            Offers,
            "unknown unit `TB-Mo` of EBS:VolumeUsage.gp3; expected `GB-Mo`",
        ),
        ("unit of a machine", with(PRICE_LIST, "\"Hrs\"", "\"Days\""), Offers, "unknown unit `Days`"),
        ("Azure unit", with(AZURE_PRICES, "1 GiB/Hour", "1 GB/Day"), Offers, "unknown unitOfMeasure `1 GB/Day`"),
        ("Google unit", with(GCP_SKUS, "\"GiBy.mo\"", "\"By.s\""), Offers, "unknown usageUnit `By.s`"),
        ("price", with(PRICE_LIST, "0.0777000000", "NaN"), Offers, "SKU AAAA1111BBBB0001: `NaN` is not a price"),
        ("negative price", with(PRICE_LIST, "0.0777000000", "-0.5"), Offers, "-0.5 is no price"),
        ("absurd price", with(AZURE_PRICES, "111.1", "1e30"), Offers, "is no price of a volume or machine"),
        ("nanos", with(GCP_SKUS, "4444000\n", "4444000000\n"), Offers, "nanos are a whole unit or more"),
        ("two prices", gcp_twice, Offers, "throughput has two prices: 0.0438 (AAAA-BBBB-0003) and 0.25"),
        (
            "currency",
            with(PRICE_LIST, "\"USD\": \"0.0055000000\"", "\"EUR\": \"0.0055000000\""),
            Offers,
            "a price is in `EUR`",
        ),
        ("currency name", with(GCP_SKUS, "\"USD\"", "\"dollars\""), Offers, "a price is in `dollars`"),
        (
            "two currencies",
            with(AZURE_PRICES, "\"BillingCurrency\": \"USD\"", "\"BillingCurrency\": \"EUR\""),
            Offers,
            "a price is in `EUR`",
        ),
        ("date", with(PRICE_LIST, "2026-01-02T03", "2026-13-02T03"), Offers, "is not a date"),
        (
            "IOPS",
            with(AZURE_SKUS, "\"11000\"", "\"-1\""),
            Offers,
            "UncachedDiskIOPS is -1, which is no possible number",
        ),
        (
            "no number",
            with(AZURE_SKUS, "\"11000\"", "\"eleven\""),
            Offers,
            "UncachedDiskIOPS is `eleven`, not a number",
        ),
        ("absurd memory", with(GCP_MACHINE_TYPES, "32768", "1e300"), Offers, "memoryMb is"),
        ("name", with(GCP_MACHINE_TYPES, "z9-standard-8\"", "\\u001b[2Jx\""), Offers, "is not a name of a machine"),
        ("no region", with(PRICE_LIST, "\"regionCode\": \"xx-none-1\",", ""), Offers, "has no regionCode"),
        ("no column", with(PRICE_TABLE, "Region Code", "Where"), Offers, "no column `Region Code`"),
        ("order", br#"{"offerCode": "AmazonEC2", "terms": {}, "products": {}}"#.to_vec(), Offers, "`terms` precedes"),
        (
            "no disks",
            with(GCP_SKUS, "\"description\": \"", "\"description\": \"Other "),
            NoResults,
            "no volume or machine of gcp",
        ),
        ("no items", br#"{"InstanceTypes": []}"#.to_vec(), NoResults, "no volume or machine of aws"),
    ]
}

#[allow(clippy::disallowed_methods, reason = "this test measures how long a refusal takes")]
fn refused(name: &str, file: &[u8]) -> Problem {
    let begin = Instant::now();
    let problem = read(file).expect_err(name);
    assert!(begin.elapsed() < Duration::from_secs(1), "{name}: {:?}", begin.elapsed());
    problem
}

#[test]
fn each_is_refused_at_once_with_its_reason_and_a_remedy() {
    let cases: Vec<Case> = [foreign(), damaged(), unusable()].concat();
    assert!(cases.len() >= 60);
    let complaints: Vec<String> = cases.into_iter().filter_map(|case| complaint(&case)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn complaint((name, file, code, says): &Case) -> Option<String> {
    let problem = refused(name, file);
    let whole = format!("{problem} {:?}", problem.notes);
    // What concerns a whole file has no place in it.
    let has_place = problem.place.is_some() || *code == ProblemCode::NoResults;
    let has_help = problem.help.as_ref().is_some_and(|help| !help.is_empty());
    let is_printable = whole.len() < 1500 && !whole.contains(char::is_control);
    let is_expected = problem.code == *code && problem.what.contains(says);
    (!(is_expected && has_place && has_help && is_printable)).then(|| format!("{name}: {:?} {whole}", problem.code))
}

#[test]
fn every_file_cut_off_anywhere_is_refused_or_has_fewer_rows() {
    for (name, file) in ALL {
        let end = file.trim_ascii_end().len();
        let step = (end / 150).max(1);
        for length in (0..end).step_by(step) {
            let outcome = read(&file[..length]);
            // A table may end after any row, pages after any page.
            let may_end = name.ends_with(".csv") || *name == "azure-prices.json";
            assert!(outcome.is_err() || may_end, "{name} cut at {length}");
        }
    }
}

#[test]
fn the_place_is_that_of_the_item() {
    let problem = refused("unit", &with(GCP_SKUS, "\"h\"", "\"s\""));
    let place = problem.place.as_deref().expect("a place");
    // The brace that ends the third SKU.
    let text = std::str::from_utf8(GCP_SKUS).expect("text");
    let before = text[..text.find("AAAA-BBBB-0004").expect("the next SKU")].matches('\n').count();
    assert_eq!((&*place.source, place.line), ("file0", before - 1));
    assert_eq!(problem.notes, ["in item 3 of the file"]);
    assert!(problem.what.starts_with("AAAA-BBBB-0003 Hyperdisk Balanced Throughput in Nowhere: "), "{}", problem.what);
}

#[test]
fn a_place_in_a_long_line_shows_what_precedes_it() {
    let document: serde_json::Value = serde_json::from_slice(&with(GCP_SKUS, "\"h\"", "\"s\"")).expect("JSON");
    let problem = refused("unit", document.to_string().as_bytes());
    let place = problem.place.as_deref().expect("a place");
    assert!(place.line == 1 && place.column > 1000 && place.text.is_empty());
    assert!(problem.notes.iter().any(|note| note.starts_with("line 1, column ")), "{:?}", problem.notes);
}

#[test]
fn the_place_in_a_table_is_its_line() {
    let problem = refused("price", &with(PRICE_TABLE, "0.0055000000", "x"));
    // The disclaimer has two lines.
    assert_eq!(problem.place.as_deref().map(|place| place.line), Some(12));
    assert!(problem.what.starts_with("SKU AAAA1111BBBB0005: `x` is not a price"), "{}", problem.what);
}

#[test]
fn what_was_left_out_explains_why_nothing_is_left() {
    let skus = list_of(r#"{"skuId": "A", "description": "Network", "pricingInfo": []}"#, 3);
    let problem = refused("no disks", format!("{{\"skus\": [{skus}]}}").as_bytes());
    assert_eq!(problem.notes, ["left out: 3 items (another product)"]);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_of_the_file() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let mut reader = OfferReader::new(OfferOptions::default());
    let half = std::io::Read::chain(&PRICE_LIST[..5000], Broken);
    let problem = reader.read("disk", half).expect_err("the read fails");
    assert_eq!((problem.code, problem.what.as_str()), (ProblemCode::File, "cannot read disk: the disk is gone"));
}

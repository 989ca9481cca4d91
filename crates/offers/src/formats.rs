//! Recognizes the format of a file by its beginning.

use std::fmt;

use units::{Problem, ProblemCode};

use crate::json::Step;

/// A cloud provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    Aws,
    Azure,
    Gcp,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 3] = [Self::Aws, Self::Azure, Self::Gcp];

    /// Returns the name in the catalogue.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Azure => "azure",
            Self::Gcp => "gcp",
        }
    }

    /// Returns the provider of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// Returns the name that people use.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Aws => "AWS",
            Self::Azure => "Azure",
            Self::Gcp => "Google Cloud",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Format of a provider's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OfferFormat {
    AwsInstanceTypes,
    AwsPriceList,
    AwsPriceListCsv,
    AwsProducts,
    AzureRetailPrices,
    AzureSkus,
    GcpSkus,
    GcpMachineTypes,
}

impl OfferFormat {
    /// All formats.
    const ALL: [Self; 8] = [
        Self::AwsInstanceTypes,
        Self::AwsPriceList,
        Self::AwsPriceListCsv,
        Self::AwsProducts,
        Self::AzureRetailPrices,
        Self::AzureSkus,
        Self::GcpSkus,
        Self::GcpMachineTypes,
    ];

    /// Returns the name that users see.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::AwsInstanceTypes => "AWS instance types (aws ec2 describe-instance-types)",
            Self::AwsPriceList => "AWS price list (index.json of AmazonEC2)",
            Self::AwsPriceListCsv => "AWS price list (index.csv of AmazonEC2)",
            Self::AwsProducts => "AWS products (aws pricing get-products)",
            Self::AzureRetailPrices => "Azure Retail Prices",
            Self::AzureSkus => "Azure resource SKUs (az vm list-skus)",
            Self::GcpSkus => "Google Cloud Billing SKUs",
            Self::GcpMachineTypes => "Google Cloud machine types (gcloud compute machine-types list)",
        }
    }

    /// Returns the short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AwsInstanceTypes => "instance-types",
            Self::AwsPriceList => "price-list",
            Self::AwsPriceListCsv => "price-table",
            Self::AwsProducts => "products",
            Self::AzureRetailPrices => "retail-prices",
            Self::AzureSkus | Self::GcpSkus => "skus",
            Self::GcpMachineTypes => "machine-types",
        }
    }

    /// Returns the address of the files, or of their description.
    #[must_use]
    pub const fn address(self) -> &'static str {
        match self {
            Self::AwsInstanceTypes => {
                "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html"
            }
            Self::AwsPriceList | Self::AwsPriceListCsv | Self::AwsProducts => {
                "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/region_index.json"
            }
            Self::AzureRetailPrices => "https://prices.azure.com/api/retail/prices",
            Self::AzureSkus => "https://learn.microsoft.com/rest/api/compute/resource-skus/list",
            Self::GcpSkus => "https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus",
            Self::GcpMachineTypes => "https://cloud.google.com/compute/docs/reference/rest/v1/machineTypes/list",
        }
    }

    /// Reports whether the files have a date of publication, which their prices have too.
    #[must_use]
    pub const fn is_dated(self) -> bool {
        matches!(self, Self::AwsPriceList | Self::AwsPriceListCsv | Self::AwsProducts)
    }

    /// Reports whether the files have prices.
    #[must_use]
    pub const fn has_prices(self) -> bool {
        self.is_dated() || matches!(self, Self::AzureRetailPrices | Self::GcpSkus)
    }

    /// Returns the provider whose files have this format.
    #[must_use]
    pub const fn provider(self) -> Provider {
        match self {
            Self::AwsInstanceTypes | Self::AwsPriceList | Self::AwsPriceListCsv | Self::AwsProducts => Provider::Aws,
            Self::AzureRetailPrices | Self::AzureSkus => Provider::Azure,
            Self::GcpSkus | Self::GcpMachineTypes => Provider::Gcp,
        }
    }

    /// Returns the keys of which every item has one, and the key of a page that holds the items.
    const fn keys(self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::AwsInstanceTypes => (&["InstanceType", "EbsInfo", "VCpuInfo"], "InstanceTypes"),
            Self::AzureRetailPrices => (&["meterName", "unitOfMeasure", "meterId"], "Items"),
            Self::AzureSkus => (&["resourceType"], "value"),
            Self::GcpSkus => (&["pricingInfo", "skuId"], "skus"),
            Self::GcpMachineTypes => (&["guestCpus"], "items"),
            Self::AwsProducts => (&[], "PriceList"),
            Self::AwsPriceList | Self::AwsPriceListCsv => (&[], "offerCode"),
        }
    }
}

/// A recognized file: its format, and where its items are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recognized {
    pub(crate) format: OfferFormat,
    pub(crate) steps: &'static [Step],
}

/// Recognizes a file by its first bytes, or says what it looks like instead.
pub(crate) fn recognize(beginning: &[u8]) -> Result<Recognized, Problem> {
    let text = beginning.trim_ascii_start();
    match text.first() {
        Some(b'{' | b'[') if !is_job_file(text) => {
            let outline = Outline::scan(text);
            recognize_json(&outline).ok_or_else(|| unknown(json_resemblance(&outline)))
        }
        _ if is_price_list_table(text) => Ok(Recognized { format: OfferFormat::AwsPriceListCsv, steps: &[] }),
        _ => Err(other_than_json(beginning, text)),
    }
}

fn unknown(resemblance: &str) -> Problem {
    let formats = OfferFormat::ALL.map(OfferFormat::title).join(", ");
    Problem::error(
        ProblemCode::UnreadableInput,
        format!("no file of prices or machine types: this looks like {resemblance}"),
    )
    .note(format!("supported: {formats}"))
    .help("give a file that one of the providers' tools or addresses returned, unchanged")
}

/// Reports whether a text begins with a section such as `[global]`.
fn is_job_file(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    matches!(line.trim_ascii(), [b'[', first, .., b']'] if first.is_ascii_alphabetic())
}

fn is_price_list_table(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(line).replace('"', "");
    let first = first.trim();
    let has = |column: &str| first.split(',').any(|field| field == column);
    first.starts_with("FormatVersion,") || (has("SKU") && has("PricePerUnit"))
}

fn recognize_json(outline: &Outline) -> Option<Recognized> {
    let found = |format, steps| Some(Recognized { format, steps });
    if outline.has(1, "offerCode") || (outline.has(1, "products") && outline.has(1, "terms")) {
        return found(OfferFormat::AwsPriceList, &[]);
    }
    if outline.has_texts {
        return found(OfferFormat::AwsProducts, &[Step::Each]);
    }
    for format in OfferFormat::ALL {
        let (items, list) = format.keys();
        if list == "offerCode" {
            continue;
        }
        let at = |depth| items.iter().any(|item| outline.has(depth, item));
        // `value` and `items` are the lists of many programs, which have other items.
        let is_own = !matches!(list, "value" | "items" | "Items");
        let paged =
            |depth| outline.has(depth, list) && (is_own || at(depth + 2) || outline.has(depth, "BillingCurrency"));
        let steps: Option<&'static [Step]> = match (list, outline.is_list) {
            (_, false) if paged(1) => Some(match list {
                "InstanceTypes" => &[Step::Key("InstanceTypes"), Step::Each],
                "Items" => &[Step::Key("Items"), Step::Each],
                "value" => &[Step::Key("value"), Step::Each],
                "skus" => &[Step::Key("skus"), Step::Each],
                "items" => &[Step::Key("items"), Step::Each],
                _ => &[Step::Key("PriceList"), Step::Each],
            }),
            (_, true) if paged(2) => Some(match list {
                "InstanceTypes" => &[Step::Each, Step::Key("InstanceTypes"), Step::Each],
                "Items" => &[Step::Each, Step::Key("Items"), Step::Each],
                "value" => &[Step::Each, Step::Key("value"), Step::Each],
                "skus" => &[Step::Each, Step::Key("skus"), Step::Each],
                "items" => &[Step::Each, Step::Key("items"), Step::Each],
                _ => &[Step::Each, Step::Key("PriceList"), Step::Each],
            }),
            (_, true) if at(2) => Some(&[Step::Each]),
            (_, false) if at(1) => Some(&[]),
            // A map from name to item.
            (_, false) if format == OfferFormat::AwsInstanceTypes && at(2) => Some(&[Step::Any]),
            _ => None,
        };
        if let Some(steps) = steps {
            return found(format, steps);
        }
    }
    None
}

/// Keys of other programs' JSON, with what it is.
const JSON_RESEMBLANCES: &[(&str, &str)] = &[
    ("fio version", "output of fio"),
    ("terraform_version", "a Terraform plan or state"),
    ("MetricDataResults", "CloudWatch metrics"),
    ("timeSeries", "Cloud Monitoring metrics"),
    ("timespan", "Azure Monitor metrics"),
    ("SpotPriceHistory", "AWS spot prices"),
    ("Volumes", "a list of EBS volumes (aws ec2 describe-volumes)"),
    ("Reservations", "a list of instances (aws ec2 describe-instances)"),
    ("apiVersion", "a Kubernetes object"),
    ("regions", "an index of AWS regions, which names the price lists"),
    ("offers", "the index of all AWS offers, which names the price lists"),
    ("error", "an error message of a provider's API"),
    ("Error", "an error message of a provider's API"),
    ("Message", "an error message of a provider's API"),
];

fn json_resemblance(outline: &Outline) -> &'static str {
    let known = JSON_RESEMBLANCES.iter().find(|(key, _)| outline.has(1, key));
    let otherwise = if outline.is_empty() { "JSON without any names of fields" } else { "JSON of another program" };
    known.map_or(otherwise, |(_, resemblance)| resemblance)
}

/// First bytes of other files, with what they are.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "a gzip file within a gzip file"),
    (b"PK", "a ZIP archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"\x7fELF", "a program"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "an image"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"<?xml", "XML"),
    (b"<", "an HTML page"),
    (b"---", "YAML"),
    (b"#!", "a script"),
];

fn other_than_json(beginning: &[u8], text: &[u8]) -> Problem {
    if text.is_empty() {
        let what = if beginning.is_empty() { "the file is empty" } else { "the file has nothing but blanks" };
        return Problem::error(ProblemCode::NoResults, what).help("download or export it again");
    }
    if beginning.starts_with(b"\xff\xfe") || beginning.starts_with(b"\xfe\xff") {
        return Problem::error(ProblemCode::Encoding, "the file is UTF-16, not UTF-8")
            .help("save it as UTF-8; in PowerShell: Out-File -Encoding utf8");
    }
    if let Some((_, resemblance)) = SIGNATURES.iter().find(|(signature, _)| text.starts_with(signature)) {
        return unknown(resemblance);
    }
    if beginning.contains(&0) {
        return unknown("binary data");
    }
    let valid = match std::str::from_utf8(beginning) {
        Ok(_) => true,
        // The beginning may end within a character.
        Err(error) => error.error_len().is_none(),
    };
    if !valid {
        return Problem::error(ProblemCode::Encoding, "the file is not UTF-8 text").help("save it as UTF-8");
    }
    let line = String::from_utf8_lossy(text.split(|&byte| byte == b'\n').next().unwrap_or_default()).into_owned();
    unknown(match () {
        () if line.starts_with("apiVersion:") => "a Kubernetes object as YAML; this command reads JSON",
        () if line.starts_with('[') => "a job file",
        () if line.matches(',').count() >= 2 => "a CSV table that is no AWS price list",
        () if line.contains(": ") || line.trim_end().ends_with(':') => "YAML; this command reads JSON",
        () => "plain text",
    })
}

/// Keys of a JSON text's beginning, by depth.
#[derive(Default)]
struct Outline {
    /// The outermost value is a list.
    is_list: bool,
    /// The outermost value is a list of strings that are JSON objects.
    has_texts: bool,
    keys: Vec<(usize, String)>,
}

/// Depth of the deepest keys that tell a format.
const DEPTH_MOST: usize = 5;
/// Number of keys that are looked at.
const KEYS_MOST: usize = 2000;

impl Outline {
    fn has(&self, depth: usize, key: &str) -> bool {
        self.keys.iter().any(|(at, known)| *at == depth && known == key)
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Scans a text that may end anywhere. Strings before a colon are keys.
    fn scan(text: &[u8]) -> Self {
        let mut outline = Self { is_list: text.starts_with(b"["), ..Self::default() };
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'"' => {
                    let begin = at + 1;
                    at = begin;
                    while text.get(at).is_some_and(|&byte| byte != b'"') {
                        at += if text[at] == b'\\' { 2 } else { 1 };
                    }
                    let rest = text.get(at + 1..).unwrap_or_default().trim_ascii_start();
                    if rest.starts_with(b":") && depth <= DEPTH_MOST && outline.keys.len() < KEYS_MOST {
                        let key = String::from_utf8_lossy(text.get(begin..at).unwrap_or_default());
                        outline.keys.push((depth, key.into_owned()));
                    } else if depth == 1 && outline.is_list && text.get(begin) == Some(&b'{') {
                        outline.has_texts = true;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        outline
    }
}

//! Options of `fathom catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use report::ResultFormat;

use crate::args::{OptionWord, TEXT_OR_JSON, one_of};

/// Options of `fathom catalog`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct CatalogOptions {
    #[command(subcommand)]
    pub(in crate::catalog) command: Option<CatalogCommand>,
    /// Volume to describe: PROVIDER/TYPE[@EDITION][,key=value]...
    pub(in crate::catalog) volume: Option<String>,
    /// Block size
    #[arg(long, value_name = "SIZE", default_value = "4k", help_heading = "Workload")]
    pub(in crate::catalog) bs: String,
    /// I/O pattern: read, write, randread, randwrite, rw, randrw
    #[arg(long, value_name = "KIND", default_value = "randread", help_heading = "Workload")]
    pub(in crate::catalog) rw: String,
    /// Percentage of reads in a mix
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Workload")]
    pub(in crate::catalog) rwmixread: u8,
    /// Format of standard output
    #[arg(long, value_parser = one_of(TEXT_OR_JSON), default_value = "text", help_heading = "Output")]
    pub(in crate::catalog) format: ResultFormat,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    /// Renew prices and limits with the provider's own files
    #[command(
        override_usage = "fathom catalog update [OPTIONS] --from FILE... | --fetch PROVIDER",
        after_help = CATALOG_UPDATE_HELP
    )]
    Update(CatalogUpdateOptions),
    /// Show which figures and which plans change with the renewed figures
    #[command(override_usage = "fathom catalog diff [OPTIONS]", after_help = CATALOG_DIFF_HELP)]
    Diff(CatalogDiffOptions),
}

const CATALOG_UPDATE_HELP: &str = "\
Formats, also compressed with gzip: the output of `aws ec2 describe-instance-types` and `aws pricing \
get-products`, index.json and index.csv of the AWS price list, the Azure Retail Prices API, the output of \
`az vm list-skus`, the Google Cloud Billing API, and the output of `gcloud compute machine-types list`. \
Give all files of one provider together, and all pages of an answer.

The figures are written to a dated file in the data directory and are used instead of the built-in ones. \
Figures of other regions and machines stay. Delete the file to use the built-in figures again.

With --fetch, the provider's own program reads the figures with your credentials: aws, az and curl, or \
gcloud. Each command is printed before it runs. Prices of Google Cloud need an API key and are not fetched.

Examples:
  fathom catalog update --from index.csv instance-types.json
  fathom catalog update --from prices.json.gz --region westeurope --dry-run
  fathom catalog update --fetch aws --region eu-west-1";

const CATALOG_DIFF_HELP: &str = "\
Figures that the dated files change, add or lack are listed beside the built-in ones. A fixed set of needs \
is planned with both, in closed form: 3,000 to 120,000 IOPS, 500 GiB and 10 TiB, with and without a bound \
on latency, in up to two regions of each provider.

Examples:
  fathom catalog diff
  fathom catalog diff --format json";

/// Options of `fathom catalog update`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CatalogUpdateOptions {
    /// Read these files of one provider (- for standard input)
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Source")]
    pub(in crate::catalog) from: Vec<PathBuf>,
    /// Read the figures with the provider's own program
    #[arg(long, value_name = "PROVIDER", value_parser = one_of(OFFER_PROVIDERS), conflicts_with = "from", help_heading = "Source")]
    pub(in crate::catalog) fetch: Option<offers::Provider>,
    /// Read this region only (repeatable) [default: all regions of the files]
    #[arg(long, value_name = "REGION", help_heading = "Source")]
    pub(in crate::catalog) region: Vec<String>,
    /// Check the files and print the result without writing it
    #[arg(long, help_heading = "Output")]
    pub(in crate::catalog) dry_run: bool,
    /// Format of standard output
    #[arg(long, value_parser = one_of(TEXT_OR_JSON), default_value = "text", help_heading = "Output")]
    pub(in crate::catalog) format: ResultFormat,
}

const OFFER_PROVIDERS: &[OptionWord<offers::Provider>] = &[
    ("aws", "Amazon EBS, with aws", offers::Provider::Aws),
    ("azure", "Azure disks, with az and curl", offers::Provider::Azure),
    ("gcp", "Google Cloud machine types, with gcloud", offers::Provider::Gcp),
];

/// Options of `fathom catalog diff`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CatalogDiffOptions {
    /// Format of standard output
    #[arg(long, value_parser = one_of(TEXT_OR_JSON), default_value = "text", help_heading = "Output")]
    pub(in crate::catalog) format: ResultFormat,
}

//! Reads figures with the provider's own programs: fixed arguments, no shell.

use std::io::{ErrorKind, Read};
use std::process::{Command, Stdio};

use offers::Provider;
use units::{Problem, ProblemCode};

use super::inputs::OfferInputs;
use crate::terminal::write_stderr;

/// Reads what a provider's programs print for regions.
pub(super) fn read(provider: Provider, regions: &[String], inputs: &mut OfferInputs) -> Result<(), Problem> {
    if regions.is_empty() {
        let what = format!("--fetch {provider} needs the regions to read");
        return Err(Problem::error(ProblemCode::Arguments, what).help("add --region REGION"));
    }
    for region in regions {
        // Regions become part of arguments and addresses.
        let is_name = region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_name || region.is_empty() || region.starts_with('-') {
            let what = format!("`{}` is not the name of a region", units::printable(region));
            return Err(Problem::error(ProblemCode::Arguments, what).help("use a name such as eu-west-1 or westeurope"));
        }
        match provider {
            Provider::Aws => aws(region, inputs)?,
            Provider::Azure => azure(region, inputs)?,
            Provider::Gcp => {
                let filter = format!("--filter=zone~^{region}-");
                run(&["gcloud", "compute", "machine-types", "list", &filter, "--format=json"], inputs)?;
            }
        }
    }
    Ok(())
}

fn aws(region: &str, inputs: &mut OfferInputs) -> Result<(), Problem> {
    run(&["aws", "ec2", "describe-instance-types", "--region", region, "--output", "json"], inputs)?;
    let is = |field: &str, value: &str| format!("Type=TERM_MATCH,Field={field},Value={value}");
    let of = |family: &str| vec![is("regionCode", region), is("productFamily", family)];
    let machines = [
        is("operatingSystem", "Linux"),
        is("tenancy", "Shared"),
        is("preInstalledSw", "NA"),
        is("capacitystatus", "Used"),
    ];
    let families = [
        of("Storage"),
        of("System Operation"),
        of("Provisioned Throughput"),
        [of("Compute Instance"), machines.to_vec()].concat(),
    ];
    for filters in &families {
        // The price list is served from a few regions for all.
        let mut words = vec!["aws", "pricing", "get-products", "--region", "us-east-1", "--output", "json"];
        words.extend(["--service-code", "AmazonEC2", "--filters"]);
        words.extend(filters.iter().map(String::as_str));
        run(&words, inputs)?;
    }
    Ok(())
}

const RETAIL_PRICES: &str = "https://prices.azure.com/";
/// Most pages of an answer: a region has some hundred.
const PAGES_MAX: usize = 1_000;

fn azure(region: &str, inputs: &mut OfferInputs) -> Result<(), Problem> {
    let skus = ["az", "vm", "list-skus", "--location", region, "--resource-type", "virtualMachines", "--all"];
    run(&[&skus[..], &["--output", "json"]].concat(), inputs)?;
    let products = [
        "Premium SSD Managed Disks",
        "Standard SSD Managed Disks",
        "Standard HDD Managed Disks",
        "Azure Premium SSD v2",
        "Ultra Disks",
    ];
    let products = products.map(|product| format!("productName eq '{product}'")).join(" or ");
    let filter = format!(
        "armRegionName eq '{region}' and priceType eq 'Consumption' and (serviceName eq 'Virtual Machines' or {products})"
    );
    let filter = filter.replace(' ', "%20").replace('\'', "%27");
    let mut next = Some(format!("{RETAIL_PRICES}api/retail/prices?api-version=2023-01-01-preview&$filter={filter}"));
    for _ in 0..PAGES_MAX {
        let Some(address) = next else { return Ok(()) };
        let page = printed(&["curl", "--fail", "--silent", "--show-error", "--proto", "=https", &address])?;
        inputs.read("prices.azure.com", page.as_slice())?;
        let document: serde_json::Value = serde_json::from_slice(&page).unwrap_or_default();
        let link = document["NextPageLink"].as_str().filter(|link| !link.is_empty());
        if let Some(link) = link.filter(|link| !link.starts_with(RETAIL_PRICES)) {
            let what = format!("the next page is at another address: {}", units::printable(link));
            return Err(Problem::error(ProblemCode::Offers, what).help("download the pages by hand"));
        }
        next = link.map(str::to_owned);
    }
    let what = format!("the answer has more than {PAGES_MAX} pages");
    Err(Problem::error(ProblemCode::Offers, what).help("download the pages by hand, and use --from"))
}

/// Runs a program, and reads its output while it is printed.
fn run(words: &[&str], inputs: &mut OfferInputs) -> Result<(), Problem> {
    with_output(words, |output| inputs.read(&words[..3.min(words.len())].join(" "), output))
}

/// Runs a program, and returns its output.
fn printed(words: &[&str]) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let unreadable = |error: std::io::Error| {
        Problem::error(ProblemCode::File, format!("the output of {} cannot be read: {error}", words[0]))
    };
    with_output(words, |output| output.read_to_end(&mut bytes).map(drop).map_err(unreadable))?;
    Ok(bytes)
}

/// Runs a program. If it fails, that is the problem, not what was read of its output.
fn with_output(words: &[&str], read: impl FnOnce(&mut dyn Read) -> Result<(), Problem>) -> Result<(), Problem> {
    let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    write_stderr(&format!("$ {line}\n"));
    let program = words[0];
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            Problem::error(ProblemCode::Catalog, format!("the program `{program}` is not installed"))
                .help(format!("install {program}, or download the files and use --from"))
        }
        _ => Problem::error(ProblemCode::File, format!("`{program}` cannot be run: {error}")),
    };
    let mut child =
        Command::new(program).args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let outcome = match child.stdout.take() {
        Some(mut output) => read(&mut output),
        None => Ok(()),
    };
    if outcome.is_err() {
        // A program whose output is not read any more waits for ever, or fails because of it.
        let ended = child.try_wait().ok().flatten();
        if ended.is_none() {
            let _ = child.kill();
        }
    }
    let status = child.wait().map_err(failed)?;
    if status.code().is_some_and(|code| code != 0) {
        let what = format!("`{program}` failed with exit code {}", status.code().unwrap_or_default());
        return Err(Problem::error(ProblemCode::Catalog, what)
            .help("correct what it printed, or download the files and use --from"));
    }
    outcome
}

/// Quotes an argument with blanks or special characters, as a shell needs it.
fn quoted(word: &str) -> String {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=.,:/~^".contains(&byte));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

//! `fathom catalog update`: reads a provider's files, and writes their figures to its dated file.

use std::path::Path;
use std::time::UNIX_EPOCH;

use device::input;
use offers::{DatedFile, OfferOptions};
use report::ResultFormat;
use report::catalog::update_text;
use results::catalog::{CatalogUpdate, ProviderDiff, SkippedOffers};
use results::stored::sorted;
use units::{Problem, ProblemCode, significant};
use volume::catalogue::{self, RenewedFigure};

use super::inputs::OfferInputs;
use super::options::CatalogUpdateOptions;
use super::{dated, fetch, style};
use crate::exit::Exit;
use crate::outputs::print_text;

/// Updates the dated file of one provider.
pub(super) fn command(options: &CatalogUpdateOptions) -> Result<Exit, Exit> {
    let chosen = OfferOptions { provider: options.fetch, regions: options.region.clone() };
    let mut inputs = OfferInputs::new(chosen);
    let read_on = match (options.fetch, &options.from[..]) {
        (None, []) => {
            let problem = Problem::error(ProblemCode::Arguments, "no file to read figures from");
            return Err(Exit::invalid(problem.help("add --from FILE... or --fetch aws --region REGION")));
        }
        (None, files) => read_files(files, &mut inputs).map_err(Exit::refused)?,
        (Some(provider), _) => {
            fetch::read(provider, &options.region, &mut inputs).map_err(Exit::refused)?;
            dated::today()
        }
    };
    let (list, read) = inputs.finish().map_err(Exit::refused)?;
    let provider = list.provider;
    let before = dated::of(provider.name()).map_err(Exit::refused)?;
    let path = before.path.display().to_string();
    let mut file = match &before.text {
        Some(text) => DatedFile::parse(provider, &path, text).map_err(Exit::refused)?,
        None => DatedFile::new(provider),
    };
    file.renew(&list, &read_on).map_err(Exit::refused)?;
    let text = file.text();
    let figures = catalogue::renewed_figures(provider.name(), &path, &text).map_err(Exit::refused)?;
    check(&figures).map_err(Exit::refused)?;
    let figures = ProviderDiff::new(provider.name(), path.clone(), &figures).counts;
    if figures.older > 0 && figures.changed + figures.new + figures.equal == 0 {
        let what = format!("all figures of the files are older than the built-in ones of {provider}");
        let problem = Problem::error(ProblemCode::Offers, what).help("download the provider's current files");
        return Err(Exit::refused(problem));
    }
    if !options.dry_run {
        store::replace_file(&before.path, text.as_bytes()).map_err(|error| Exit::environment(Problem::from(error)))?;
    }
    let counts = file.counts();
    let skipped =
        list.skipped.iter().map(|(reason, items)| SkippedOffers { reason: reason.name().to_owned(), items: *items });
    let update = CatalogUpdate {
        provider: provider.name().to_owned(),
        path,
        written: !options.dry_run,
        date: counts.date,
        read,
        regions: counts.regions,
        volume_prices: counts.volume_prices,
        machine_prices: counts.machine_prices,
        machines: counts.machines,
        figures,
        skipped: skipped.collect(),
    };
    let is_json = options.format == ResultFormat::Json;
    Ok(print_text(&if is_json { sorted(&update) } else { update_text(&update, style()) }))
}

/// Reads files. Returns the date of the oldest of them.
fn read_files(files: &[std::path::PathBuf], inputs: &mut OfferInputs) -> Result<String, Problem> {
    let mut read_on = dated::today();
    for path in files {
        let name = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            let code = input::code_of(&error, ProblemCode::UnreadableInput);
            Problem::error(code, format!("{name} cannot be read: {error}"))
                .maybe_help(engine::remedy(&error).map(str::to_owned))
        };
        inputs.read(&name, input::open_stream(path).map_err(unreadable)?)?;
        if let Some(date) = written_on(path).filter(|date| *date < read_on) {
            read_on = date;
        }
    }
    Ok(read_on)
}

/// Returns the date on which a file was written; `None` for standard input and pipes.
fn written_on(path: &Path) -> Option<String> {
    let facts = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let age = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(dated::date(u64::try_from(age.as_millis()).ok()?))
}

/// Factor by which a figure cannot differ from the built-in one: an hour's price is 730 times lower than a month's.
const IMPLAUSIBLE: f64 = 50.0;

/// Refuses figures that can only be in another unit.
fn check(figures: &[RenewedFigure]) -> Result<(), Problem> {
    for figure in figures {
        let (Some(old), Some(new)) = (figure.old, figure.new) else { continue };
        let factor = new / old;
        if old > 0.0 && new > 0.0 && !(1.0 / IMPLAUSIBLE..=IMPLAUSIBLE).contains(&factor) {
            let what = format!(
                "{} of {} is {new}, {} times the built-in {old}",
                figure.column,
                figure.row,
                significant(factor, 2)
            );
            let help = "download the file again; if it stays the same, its unit has changed and it cannot be imported";
            return Err(Problem::error(ProblemCode::Offers, what).help(help));
        }
    }
    Ok(())
}

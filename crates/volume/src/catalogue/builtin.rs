//! The files of `models/`, parsed on first use, with the dated files over them.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Serialize;
use units::Problem;

use super::machine::{self, MachineType};
use super::problem::CatalogueText;
use super::read::read;
use super::region::{CloudRegion, Gazetteer, Position, city_key};
use super::renewal::{self, Renewal, RenewedFigure};
use super::schema::Provider;

macro_rules! providers {
    ($($id:literal),* $(,)?) => {
        pub(super) const IDS: &[&str] = &[$($id),*];

        static TEXTS: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../../../models/", $id, ".toml")))),*];
    };
}

providers!["gcp", "aws", "azure", "vultr", "digitalocean", "oci", "akamai", "hetzner", "nutanix", "hdd", "custom"];

/// The built-in catalogue, and what it is with the dated files over it.
static BUILT_IN: [OnceLock<Option<Arc<Provider>>>; IDS.len()] = [const { OnceLock::new() }; IDS.len()];
static RENEWED: [OnceLock<Option<Arc<Provider>>>; IDS.len()] = [const { OnceLock::new() }; IDS.len()];

static RENEWALS: OnceLock<Renewals> = OnceLock::new();

thread_local! {
    static IS_BUILT_IN_ONLY: Cell<bool> = const { Cell::new(false) };
}

/// Access to dated files, whose tables are laid over the built-in catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Renewals {
    /// Returns the name and the text of a provider's dated file, if there is one.
    pub read: fn(&str) -> Option<(String, String)>,
    /// Receives the problems of a dated file. The built-in figures are used instead.
    pub refused: fn(&str, Vec<Problem>),
}

/// Lays dated files over the catalogue. Each is read when its provider is used for the first time; what was used
/// before stays as it is.
pub fn renew(renewals: Renewals) {
    RENEWALS.get_or_init(|| renewals);
}

/// Runs a function for which no dated file exists on this thread.
pub fn built_in_only<T>(run: impl FnOnce() -> T) -> T {
    let before = IS_BUILT_IN_ONLY.replace(true);
    let result = run();
    IS_BUILT_IN_ONLY.set(before);
    result
}

/// Returns the figures of a dated file beside the built-in ones.
///
/// # Errors
///
/// Returns the problems of the file.
pub fn renewed_figures(provider: &str, name: &str, text: &str) -> Result<Vec<RenewedFigure>, Vec<Problem>> {
    let renewal = renewal::read(&CatalogueText::new(name, text), provider)?;
    let texts = [self::text(provider), machine_text(provider)];
    let built_in: Vec<Provider> = texts.iter().flatten().filter_map(|text| read(text).0).collect();
    let problems = texts.iter().flatten().flat_map(|text| renewal::over(text, &renewal).1).collect::<Vec<_>>();
    if problems.is_empty() { Ok(renewal::figures(&renewal, &built_in)) } else { Err(problems) }
}

pub(super) fn provider(id: &str) -> Option<Arc<Provider>> {
    let index = IDS.iter().position(|known| *known == id)?;
    let over = |renewal: Arc<Renewal>| renewal::over(&text(id)?, &renewal).0.map(Arc::new);
    let renewed = || RENEWED[index].get_or_init(|| renewal(id).and_then(over)).clone();
    // A test parses them all: none has a problem.
    let built_in = || BUILT_IN[index].get_or_init(|| read(&text(id)?).0.map(Arc::new)).clone();
    if is_renewable() { renewed().or_else(built_in) } else { built_in() }
}

/// Reports whether dated files count on this thread.
fn is_renewable() -> bool {
    RENEWALS.get().is_some() && !IS_BUILT_IN_ONLY.get()
}

/// Returns a provider's dated file, if there is a valid one.
fn renewal(id: &str) -> Option<Arc<Renewal>> {
    static READ: [OnceLock<Option<Arc<Renewal>>>; IDS.len()] = [const { OnceLock::new() }; IDS.len()];
    let index = IDS.iter().position(|known| *known == id)?;
    let make = || {
        let renewals = RENEWALS.get()?;
        let (name, dated) = (renewals.read)(id)?;
        let read = renewal::read(&CatalogueText::new(&name, &dated), id);
        read.map_err(|problems| (renewals.refused)(id, problems)).ok().map(Arc::new)
    };
    READ[index].get_or_init(make).clone()
}

/// Returns the text of a built-in file.
pub(super) fn text(id: &str) -> Option<CatalogueText> {
    let (_, text) = TEXTS.iter().find(|(known, _)| *known == id)?;
    Some(CatalogueText::new(&format!("models/{id}.toml"), text))
}

macro_rules! machines {
    ($($id:literal),* $(,)?) => {
        /// Machine types, which few commands need: a file of its own for each provider that has some.
        static MACHINE_TEXTS: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../../../models/machines/", $id, ".toml")))),*];
    };
}

machines!["aws", "gcp", "azure"];

/// Machine types of the built-in catalogue, and with the dated files over it.
static MACHINES: [[OnceLock<Arc<Vec<MachineType>>>; 2]; MACHINE_TEXTS.len()] =
    [const { [const { OnceLock::new() }; 2] }; MACHINE_TEXTS.len()];

fn machine_text(id: &str) -> Option<CatalogueText> {
    let (_, text) = MACHINE_TEXTS.iter().find(|(known, _)| *known == id)?;
    Some(CatalogueText::new(&format!("models/machines/{id}.toml"), text))
}

/// Returns the machine types of a provider (`aws`), by name; none if the catalogue has none.
#[must_use]
pub fn machine_types(id: &str) -> Arc<Vec<MachineType>> {
    let Some(index) = MACHINE_TEXTS.iter().position(|(known, _)| *known == id) else { return Arc::default() };
    let make = || {
        let text = machine_text(id)?;
        let renewal = is_renewable().then(|| renewal(id)).flatten();
        let file = renewal.map_or_else(|| read(&text).0, |renewal| renewal::over(&text, &renewal).0);
        Some(Arc::new(machine::of_file(&file?)))
    };
    Arc::clone(MACHINES[index][usize::from(is_renewable())].get_or_init(|| make().unwrap_or_default()))
}

static REGIONS: OnceLock<Gazetteer> = OnceLock::new();

fn gazetteer() -> &'static Gazetteer {
    let text = include_str!("../../../../models/regions.toml");
    let read = || read(&CatalogueText::new("models/regions.toml", text)).0;
    REGIONS.get_or_init(|| read().as_ref().map(Gazetteer::of_file).unwrap_or_default())
}

/// Returns the regions of providers, provider by provider.
#[must_use]
pub fn regions() -> &'static [CloudRegion] {
    gazetteer().regions()
}

/// Returns where a city is; `None` if it is not known.
#[must_use]
pub fn city(name: &str) -> Option<Position> {
    let key = city_key(name);
    gazetteer().cities().iter().find(|(known, _)| *known == key).map(|(_, position)| *position)
}

/// Returns the names of the cities that [`city`] knows.
#[must_use]
pub fn cities() -> Vec<&'static str> {
    gazetteer().cities().iter().map(|(name, _)| name.as_str()).collect()
}

/// One volume of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BuiltinVolume {
    /// Full name of the provider.
    pub provider: String,
    /// Name for requests: `gcp/pd-ssd@2019`.
    pub name: String,
    pub title: String,
    /// Media: `SSD, network`.
    pub media: String,
    /// Date of the last check of the figures.
    pub as_of: String,
}

/// Files of the user that were added to the catalogue, by path.
static ADDED: OnceLock<Vec<(String, Arc<Provider>)>> = OnceLock::new();

/// Adds files to the catalogue, once: their volumes are listed after the others, under their paths.
pub(super) fn add(files: Vec<(String, Arc<Provider>)>) {
    ADDED.get_or_init(|| files);
}

/// Returns an added file.
pub(super) fn added(path: &str) -> Option<Arc<Provider>> {
    let files = ADDED.get()?;
    files.iter().find(|(known, _)| known == path).map(|(_, provider)| Arc::clone(provider))
}

/// Returns all volumes, provider by provider.
#[must_use]
pub fn list() -> Vec<BuiltinVolume> {
    let mut listed = Vec::new();
    let built_in = IDS.iter().filter_map(|id| Some((None, provider(id)?)));
    let added = ADDED.get().into_iter().flatten().map(|(path, provider)| (Some(path), Arc::clone(provider)));
    for (path, provider) in built_in.chain(added) {
        for volume in &provider.types {
            let id = volume.full_id();
            listed.push(BuiltinVolume {
                provider: provider.title.clone(),
                name: match path {
                    Some(path) if provider.types.len() == 1 => path.clone(),
                    Some(path) => format!("{path}#{id}"),
                    None if id == provider.id => id,
                    None => format!("{}/{id}", provider.id),
                },
                title: volume.title.clone(),
                media: volume.media.clone(),
                as_of: volume.as_of.clone().unwrap_or_else(|| provider.as_of.clone()),
            });
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_file_is_valid() {
        for (id, text) in TEXTS.iter().chain(MACHINE_TEXTS) {
            let provider = super::super::from_text(&CatalogueText::new(id, text)).unwrap_or_else(|problems| {
                panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            });
            assert_eq!(provider.id, *id);
            for volume in &provider.types {
                for limit in &volume.limits {
                    assert!(
                        limit.source.is_some() || *id == "custom",
                        "{id}/{}: {} has no source",
                        volume.id,
                        limit.name
                    );
                }
            }
        }
    }
}

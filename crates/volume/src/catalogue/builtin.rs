//! The files of `models/`, parsed on first use.

use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Serialize;

use super::machine::{self, MachineType};
use super::problem::CatalogueText;
use super::read::read;
use super::region::{CloudRegion, Gazetteer, Position, city_key};
use super::schema::Provider;

macro_rules! providers {
    ($($id:literal),* $(,)?) => {
        pub(super) const IDS: &[&str] = &[$($id),*];

        static TEXTS: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../../../models/", $id, ".toml")))),*];
    };
}

providers!["gcp", "aws", "azure", "vultr", "digitalocean", "oci", "akamai", "hetzner", "nutanix", "hdd", "custom"];

static READ: [OnceLock<Option<Arc<Provider>>>; IDS.len()] = [const { OnceLock::new() }; IDS.len()];

pub(super) fn provider(id: &str) -> Option<Arc<Provider>> {
    let index = IDS.iter().position(|known| *known == id)?;
    let (_, text) = TEXTS.get(index)?;
    // A test parses them all: none has a problem.
    let make = || read(&CatalogueText::new(&format!("models/{id}.toml"), text)).0.map(Arc::new);
    READ.get(index)?.get_or_init(make).clone()
}

macro_rules! machines {
    ($($id:literal),* $(,)?) => {
        /// Machine types, which few commands need: a file of its own for each provider that has some.
        static MACHINE_TEXTS: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../../../models/machines/", $id, ".toml")))),*];
    };
}

machines!["aws", "gcp", "azure"];

static MACHINES: [OnceLock<Arc<Vec<MachineType>>>; MACHINE_TEXTS.len()] =
    [const { OnceLock::new() }; MACHINE_TEXTS.len()];

/// Returns the machine types of a provider (`aws`), by name; none if the catalogue has none.
#[must_use]
pub fn machine_types(id: &str) -> Arc<Vec<MachineType>> {
    let Some(index) = MACHINE_TEXTS.iter().position(|(known, _)| *known == id) else { return Arc::default() };
    let make = || {
        let name = format!("models/machines/{id}.toml");
        let (file, _) = read(&CatalogueText::new(&name, MACHINE_TEXTS[index].1));
        Arc::new(file.as_ref().map(machine::of_file).unwrap_or_default())
    };
    Arc::clone(MACHINES[index].get_or_init(make))
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

/// Returns all volumes, provider by provider.
#[must_use]
pub fn list() -> Vec<BuiltinVolume> {
    let mut listed = Vec::new();
    for provider in IDS.iter().filter_map(|id| provider(id)) {
        for volume in &provider.types {
            let id = volume.full_id();
            listed.push(BuiltinVolume {
                provider: provider.title.clone(),
                name: if id == provider.id { id } else { format!("{}/{id}", provider.id) },
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

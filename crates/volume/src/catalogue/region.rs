//! Where the regions of providers are.

use super::rule::RuleValue;
use super::schema::Provider;
use super::table::{Cell, RateTable};

/// A region of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct CloudRegion {
    /// ID of the provider: `aws`.
    pub provider: String,
    /// Provider's name: `eu-central-1`.
    pub name: String,
    /// City or area that the provider names, in lower case with `_` for spaces.
    pub city: String,
    pub position: Position,
}

/// A place on Earth, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Latitude; negative in the south.
    pub north: f64,
    /// Longitude; negative in the west.
    pub east: f64,
}

impl Position {
    /// Returns the distance along the surface.
    #[must_use]
    pub fn km_to(self, other: Self) -> f64 {
        const RADIUS_KM: f64 = 6_371.0;
        let [a, b] = [self, other].map(|at| (at.north.to_radians(), at.east.to_radians()));
        let half = |from: f64, to: f64| libm::pow(libm::sin((to - from) / 2.0), 2.0);
        let chord = half(a.0, b.0) + libm::cos(a.0) * libm::cos(b.0) * half(a.1, b.1);
        2.0 * RADIUS_KM * libm::asin(libm::sqrt(chord.clamp(0.0, 1.0)))
    }

    /// Parses `50.1N` and `8.7E`.
    fn parse(north: &str, east: &str) -> Option<Self> {
        let signed = |text: &str, plus: char, minus: char| {
            let value: f64 = text.trim_end_matches([plus, minus]).parse().ok()?;
            Some(if text.ends_with(minus) { -value } else { value })
        };
        Some(Self { north: signed(north, 'N', 'S')?, east: signed(east, 'E', 'W')? })
    }
}

/// Regions and cities with their places.
#[derive(Debug, Default)]
pub(super) struct Gazetteer {
    regions: Vec<CloudRegion>,
    cities: Vec<(String, Position)>,
}

impl Gazetteer {
    pub(super) fn of_file(file: &Provider) -> Self {
        let mut found = Self::default();
        for (name, words) in rows(&file.tables, "regions") {
            if let [provider, city, north, east] = words[..]
                && let Some(position) = Position::parse(north, east)
            {
                let (provider, city, name) = (provider.to_owned(), city.to_owned(), name.to_owned());
                found.cities.push((city.clone(), position));
                found.regions.push(CloudRegion { provider, name, city, position });
            }
        }
        for (name, words) in rows(&file.tables, "cities") {
            if let [north, east] = words[..]
                && let Some(position) = Position::parse(north, east)
            {
                found.cities.push((name.to_owned(), position));
            }
        }
        found
    }

    pub(super) fn regions(&self) -> &[CloudRegion] {
        &self.regions
    }

    pub(super) fn cities(&self) -> &[(String, Position)] {
        &self.cities
    }
}

/// Returns the rows of the tables with an ID whose cells are words.
fn rows<'a>(tables: &'a [RateTable], id: &'a str) -> impl Iterator<Item = (&'a str, Vec<&'a str>)> {
    let word = |cell: &'a Cell| match cell {
        Cell::Is(RuleValue::Word(word)) => Some(word.as_str()),
        _ => None,
    };
    let rows = tables.iter().filter(move |table| table.has_id(id)).flat_map(|table| &table.rows);
    rows.map(move |row| (row.name.as_str(), row.cells.iter().filter_map(word).collect()))
}

/// Returns a city's name as the tables have it: `São Paulo` is `sao_paulo`.
pub(super) fn city_key(name: &str) -> String {
    let plain = |letter: char| match letter {
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ä' => "a".to_owned(),
        'ç' => "c".to_owned(),
        'è' | 'é' | 'ê' | 'ë' => "e".to_owned(),
        'í' | 'ì' | 'î' => "i".to_owned(),
        'ñ' => "n".to_owned(),
        'ó' | 'ò' | 'ô' | 'õ' | 'ö' | 'ø' => "o".to_owned(),
        'ú' | 'ù' | 'û' | 'ü' => "u".to_owned(),
        'ß' => "ss".to_owned(),
        ' ' | '-' => "_".to_owned(),
        other => other.to_string(),
    };
    let key: String = name.trim().to_lowercase().chars().map(plain).collect();
    // Other spellings of the same cities.
    let known = [
        ("koln", "cologne"),
        ("munchen", "munich"),
        ("muenchen", "munich"),
        ("duesseldorf", "dusseldorf"),
        ("zuerich", "zurich"),
        ("wien", "vienna"),
        ("milano", "milan"),
        ("roma", "rome"),
        ("warszawa", "warsaw"),
        ("praha", "prague"),
        ("lisboa", "lisbon"),
        ("nurnberg", "nuremberg"),
        ("virginia", "ashburn"),
        ("n._virginia", "ashburn"),
        ("oregon", "boardman"),
        ("ohio", "columbus"),
        ("iowa", "council_bluffs"),
        ("nyc", "new_york"),
        ("washington_dc", "washington"),
        ("washington,_dc", "washington"),
        ("frankfurt_am_main", "frankfurt"),
        ("bengaluru", "bangalore"),
        ("saigon", "ho_chi_minh_city"),
    ];
    known.iter().find(|(other, _)| *other == key).map_or(key, |(_, city)| (*city).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::builtin;

    #[test]
    fn regions_have_places_and_distances() {
        let regions = builtin::regions();
        assert!(regions.len() > 120);
        let at = |name: &str| regions.iter().find(|region| region.name == name).expect("a region").position;
        assert_eq!(at("eu-central-1"), at("europe-west3"));
        let km = at("eu-central-1").km_to(at("westeurope"));
        assert!((350.0..380.0).contains(&km), "{km}");
        let far = at("us-west-2").km_to(at("ap-southeast-2"));
        assert!((12_500.0..12_600.0).contains(&far), "{far}");
        assert!(at("sa-east-1").north < 0.0 && at("sa-east-1").east < 0.0);
    }

    #[test]
    fn every_priced_region_of_the_three_largest_providers_has_a_place() {
        for provider in ["aws", "gcp", "azure"] {
            let machines = builtin::machine_types(provider);
            let named = machines.iter().flat_map(|machine| &machine.prices).map(|price| price.region.to_string());
            let named: std::collections::BTreeSet<String> = named.collect();
            for region in named {
                assert!(builtin::regions().iter().any(|known| known.name == region), "{provider} {region}");
            }
        }
    }

    #[test]
    fn cities_have_several_spellings() {
        for (spelling, key) in
            [("São Paulo", "sao_paulo"), ("Zürich", "zurich"), ("Köln", "cologne"), ("New York", "new_york")]
        {
            assert_eq!(city_key(spelling), key);
            assert!(builtin::city(spelling).is_some(), "{spelling}");
        }
        assert_eq!(builtin::city("atlantis"), None);
    }
}

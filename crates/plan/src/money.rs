//! Currencies and exchange rates.

use volume::spec::LimitSource;

/// Exchange rates to US dollars.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// US dollars per euro.
    pub usd_per_eur: f64,
    /// US dollars per pound sterling.
    pub usd_per_gbp: f64,
    /// Source and date.
    pub source: LimitSource,
}

impl Default for Exchange {
    /// Returns the latest built-in rates of the European Central Bank.
    fn default() -> Self {
        let source = LimitSource {
            title: "European Central Bank, euro foreign exchange reference rates".to_owned(),
            address: "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml".to_owned(),
            date: "2026-10-30".to_owned(),
        };
        Self { usd_per_eur: 1.1172, usd_per_gbp: 1.1172 / 0.8338, source }
    }
}

impl Exchange {
    /// Creates a rate of the euro that the user specified.
    #[must_use]
    pub fn given(usd_per_eur: f64) -> Self {
        let source = LimitSource { title: "user-specified".to_owned(), ..LimitSource::default() };
        Self { usd_per_eur, source, ..Self::default() }
    }

    /// Returns US dollars per unit of a currency; `None` for a currency without a rate.
    #[must_use]
    pub fn usd_per(&self, currency: &str) -> Option<f64> {
        match currency {
            "USD" => Some(1.0),
            "EUR" => Some(self.usd_per_eur),
            "GBP" => Some(self.usd_per_gbp),
            _ => None,
        }
    }
}

/// Currencies in which totals are stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Currency {
    #[default]
    Usd,
    Eur,
    Gbp,
}

impl Currency {
    /// Returns the code of ISO 4217.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Usd => "USD",
            Self::Eur => "EUR",
            Self::Gbp => "GBP",
        }
    }
}

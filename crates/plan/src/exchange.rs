//! Exchange rates for prices.

use volume::spec::LimitSource;

/// An exchange rate from euros to US dollars.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// US dollars per euro.
    pub usd_per_eur: f64,
    /// Source and date.
    pub source: LimitSource,
}

impl Default for Exchange {
    /// Returns the latest built-in rate of the European Central Bank.
    fn default() -> Self {
        let source = LimitSource {
            title: "European Central Bank, euro foreign exchange reference rates".to_owned(),
            address: "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml".to_owned(),
            date: "2026-05-08".to_owned(),
        };
        Self { usd_per_eur: 1.1761, source }
    }
}

impl Exchange {
    /// Creates a rate that the user specified.
    #[must_use]
    pub fn given(usd_per_eur: f64) -> Self {
        let source = LimitSource { title: "as given".to_owned(), ..LimitSource::default() };
        Self { usd_per_eur, source }
    }

    /// Returns US dollars per unit of a currency; `None` for a currency without a rate.
    #[must_use]
    pub fn usd_per(&self, currency: &str) -> Option<f64> {
        match currency {
            "USD" => Some(1.0),
            "EUR" => Some(self.usd_per_eur),
            _ => None,
        }
    }
}

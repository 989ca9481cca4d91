//! Reads files of any format.

use std::io::Read;

use units::Problem;

use crate::collect::{Collector, OfferOptions};
use crate::formats::{OfferFormat, Recognized, recognize};
use crate::input::OfferInput;
use crate::list::OfferList;
use crate::{aws, azure, gcp, table};

/// Reads files of one provider and merges their offers.
#[derive(Debug)]
pub struct OfferReader {
    collected: Collector,
}

impl OfferReader {
    #[must_use]
    pub fn new(options: OfferOptions) -> Self {
        Self { collected: Collector::new(options) }
    }

    /// Reads one file, which may be compressed with gzip, and returns its format. `source` is its name in problems. A file
    /// that is refused may have added offers before the place of the problem.
    ///
    /// # Errors
    ///
    /// If the file is not of a known format, is incomplete or damaged, is of another provider or currency than the files
    /// before it, or has offers that contradict each other or cannot be interpreted.
    pub fn read(&mut self, source: &str, file: impl Read) -> Result<OfferFormat, Problem> {
        let mut input = OfferInput::open(source, file)?;
        let recognized = recognize(input.beginning()).map_err(|problem| input.locate(problem))?;
        self.collected.check_provider(source, recognized.format).map_err(|problem| input.locate(problem))?;
        let Recognized { format, steps } = recognized;
        let offers = &mut self.collected;
        match format {
            OfferFormat::AwsInstanceTypes => aws::read_instance_types(&mut input, steps, offers),
            OfferFormat::AwsPriceList => aws::read_price_list(&mut input, offers),
            OfferFormat::AwsPriceListCsv => table::read_price_list(&mut input, offers),
            OfferFormat::AwsProducts => aws::read_products(&mut input, steps, offers),
            OfferFormat::AzureRetailPrices => azure::read_prices(&mut input, steps, offers),
            OfferFormat::AzureSkus => azure::read_skus(&mut input, steps, offers),
            OfferFormat::GcpSkus => gcp::read_skus(&mut input, steps, offers),
            OfferFormat::GcpMachineTypes => gcp::read_machine_types(&mut input, steps, offers),
        }?;
        Ok(format)
    }

    /// Returns the offers of all files.
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn finish(self) -> Result<OfferList, Problem> {
        self.collected.finish()
    }
}

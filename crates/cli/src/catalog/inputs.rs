//! The files and answers of a provider, as they are read.

use offers::{OfferList, OfferOptions, OfferReader};
use results::catalog::CatalogInput;
use units::Problem;

/// Reads files or answers of one provider.
pub(super) struct OfferInputs {
    reader: OfferReader,
    read: Vec<CatalogInput>,
}

impl OfferInputs {
    pub(super) fn new(options: OfferOptions) -> Self {
        Self { reader: OfferReader::new(options), read: Vec::new() }
    }

    /// Reads a file or an answer.
    pub(super) fn read(&mut self, name: &str, bytes: impl std::io::Read) -> Result<(), Problem> {
        let format = self.reader.read(name, bytes)?;
        self.read.push(CatalogInput { name: name.to_owned(), format: format.title().to_owned() });
        Ok(())
    }

    /// Returns the offers of all, and what was read.
    pub(super) fn finish(self) -> Result<(OfferList, Vec<CatalogInput>), Problem> {
        Ok((self.reader.finish()?, self.read))
    }
}

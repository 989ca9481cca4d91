//! Numbers for names.

use std::collections::BTreeMap;

/// Maximum number of names: an index has 16 bits. All names beyond share the last one.
const NAMES_MAX: usize = 1 << 16;

/// Maximum length of a name, in bytes: what follows does not tell names apart.
const NAME_BYTES_MAX: usize = 255;

/// Numbers names in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct NameNumbers {
    numbers: BTreeMap<Vec<u8>, u16>,
    /// The name of the latest call: usually it is the next one too.
    latest: (Vec<u8>, Option<u16>),
}

impl NameNumbers {
    /// Returns the number of `name`; `add` is called with a new one.
    pub(super) fn number(&mut self, name: &[u8], add: impl FnOnce(String)) -> u16 {
        let name = &name[..name.len().min(NAME_BYTES_MAX)];
        if let (latest, Some(number)) = &self.latest
            && latest == name
        {
            return *number;
        }
        let count = self.numbers.len();
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None if count == NAMES_MAX => u16::MAX,
            None => {
                let is_last = count == NAMES_MAX - 1;
                add(if is_last { "others".to_owned() } else { String::from_utf8_lossy(name).into_owned() });
                self.numbers.insert(name.to_owned(), count as u16);
                count as u16
            }
        };
        self.latest.0.clear();
        self.latest.0.extend_from_slice(name);
        self.latest.1 = Some(number);
        number
    }
}

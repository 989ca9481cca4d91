//! Permission to write and delete objects of a store.

/// The permission to write and delete the objects whose names begin with a URL. Only the gate makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPermit {
    url: String,
}

impl ObjectPermit {
    /// Creates the permission that the gate has given.
    pub(crate) fn new(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    /// Reports whether it permits the objects of this URL.
    pub(crate) fn covers(&self, url: &str) -> bool {
        self.url == url
    }
}

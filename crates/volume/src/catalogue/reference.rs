//! Texts of a catalogue file that name something defined elsewhere in it.

use std::ops::Deref;

use serde::Deserialize;

/// Defines types of such texts. `check` searches what they name by the name of the type.
macro_rules! references {
    ($($(#[$meta:meta])* $name:ident),*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        pub(super) struct $name(String);

        impl Deref for $name {
            type Target = String;

            fn deref(&self) -> &String {
                &self.0
            }
        }
    )*};
}

references! {
    /// ID of a cited source.
    SourceId,
    /// ID of a table of machines, tiers or prices.
    TableId,
    /// Column of the tables of attachments.
    AttachmentColumn,
    /// Name of limits of machines.
    LimitsId,
    /// Name of rules that volumes share.
    SharedId
}

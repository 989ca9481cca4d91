//! The list of all volumes by provider, as text.

use std::fmt::Write;

use volume::catalogue::BuiltinVolume;

/// Column in which titles begin. A longer name has its title on the next line.
const TITLES: usize = 36;

/// Returns all volumes in lines of at most 80 columns.
#[must_use]
pub fn list_text(listed: &[BuiltinVolume]) -> String {
    let mut text = String::new();
    let mut provider = "";
    for volume in listed {
        if volume.provider != provider {
            let gap = if provider.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", volume.provider);
            provider = &volume.provider;
        }
        let name = &volume.name;
        let indent = TITLES.min(80_usize.saturating_sub(volume.title.chars().count()));
        let _ = if name.len() + 2 < TITLES {
            writeln!(text, "  {name:width$}{}", volume.title, width = TITLES - 2)
        } else {
            writeln!(text, "  {name}\n{:indent$}{}", "", volume.title)
        };
    }
    text.push_str("\nWrite a volume with its keys: gcp/pd-ssd,size=1TiB,machine=n2-standard-8\n");
    text.push_str("`fathom catalog VOLUME` shows its keys, its limits and its price.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_volume_and_fits_80_columns() {
        let listed = volume::catalogue::list();
        let page = list_text(&listed);
        assert!(listed.iter().all(|volume| page.contains(&volume.name) && page.contains(&volume.title)));
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

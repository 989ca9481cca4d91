//! Whether the operations of a job fit a namespace, which is known only when its files are open.

use std::path::Path;

use super::command::MAX_BLOCKS;
use crate::error::{Error, ErrorKind};
use crate::namespace::{GuardFormat, Namespace};
use crate::opening::NvmeUse;
use target::spec::NvmeOptions;

/// Checks that commands can have the sizes of a job.
pub(super) fn check(path: &Path, namespace: &Namespace, options: &NvmeOptions, used: &NvmeUse) -> Result<(), Error> {
    let misfit =
        misfit(namespace, options, used, largest_transfer(path)).or_else(|| metadata_misfit(namespace, options, used));
    match misfit {
        Some((reason, remedy)) => {
            Err(Error::found(ErrorKind::Direct, "use", path.display().to_string(), reason).with_remedy(remedy))
        }
        None => Ok(()),
    }
}

/// Returns why the sizes of a job do not fit, and what does. A device takes `largest` bytes in a command.
fn misfit(
    namespace: &Namespace,
    options: &NvmeOptions,
    used: &NvmeUse,
    largest: Option<u32>,
) -> Option<(String, String)> {
    let unit = namespace.block_bytes(options.pi_act);
    let bytes = used.transfer_bytes;
    if !used.block_unit.is_multiple_of(unit) {
        let with = if unit > namespace.data_bytes {
            format!(" ({} of data and {} of metadata)", namespace.data_bytes, namespace.metadata_bytes)
        } else {
            String::new()
        };
        return Some((
            format!(
                "commands require multiples of its block size of {unit} bytes{with}, and {} is not one",
                used.block_unit
            ),
            format!("use bs={unit} or a multiple of it"),
        ));
    }
    if u64::from(bytes / unit) > MAX_BLOCKS {
        let most = u64::from(unit) * MAX_BLOCKS;
        let reason = format!("a command transfers at most {MAX_BLOCKS} blocks ({most} bytes)");
        return Some((reason, "use a smaller bs".to_owned()));
    }
    let most = largest.filter(|most| bytes > *most)?;
    Some((
        format!("its device accepts at most {most} bytes per command, and commands are not split"),
        format!("use bs={most} or less, or ioengine=io_uring and its block device"),
    ))
}

/// Returns why the metadata of a job do not fit, and what does.
fn metadata_misfit(namespace: &Namespace, options: &NvmeOptions, used: &NvmeUse) -> Option<(String, String)> {
    let blocks = used.transfer_bytes / namespace.block_bytes(options.pi_act);
    let separate = u64::from(blocks) * u64::from(namespace.separate_bytes(options.pi_act));
    if separate > u64::from(options.metadata_bytes) {
        let reason = format!(
            "each operation needs {separate} bytes of separate metadata, but the buffer has {}",
            options.metadata_bytes
        );
        return Some((reason, format!("set md_per_io_size={separate}")));
    }
    let protection = namespace.protection.filter(|_| !options.pi_act)?;
    if protection.guard == GuardFormat::Crc32c {
        return Some((
            "Fathom cannot generate its 32-bit guard protection information".to_owned(),
            "set pi_act=1 to have the device generate and check it".to_owned(),
        ));
    }
    (used.verifies && namespace.extended).then(|| {
        (
            "with pi_act=0 its blocks include protection information, which verification does not expect".to_owned(),
            "set pi_act=1, or omit verify".to_owned(),
        )
    })
}

/// Returns the most bytes that the device takes in a command, if the kernel says so.
fn largest_transfer(path: &Path) -> Option<u32> {
    let root = Path::new("/");
    let name = probe::relations(root, probe::number_of(root, path)?)?.name;
    let kib = std::fs::read_to_string(format!("/sys/block/{name}/queue/max_hw_sectors_kb")).ok()?;
    kib.trim().parse::<u32>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Protection;

    fn namespace(metadata_bytes: u32, extended: bool, guard: GuardFormat) -> Namespace {
        let protection = Some(Protection { counts: true, guard, first: false }).filter(|_| metadata_bytes > 0);
        Namespace {
            nsid: 1,
            blocks: 1000,
            data_bytes: 512,
            metadata_bytes,
            extended,
            protection,
            ..Namespace::default()
        }
    }

    fn sized(bytes: u32) -> NvmeUse {
        NvmeUse { block_unit: bytes, transfer_bytes: bytes, ..NvmeUse::default() }
    }

    /// Settings where the device protects, and where this program does, with buffers for metadata.
    fn protected(pi_act: bool, metadata_bytes: u32) -> NvmeOptions {
        NvmeOptions { pi_act, metadata_bytes, ..NvmeOptions::default() }
    }

    #[test]
    fn sizes_are_multiples_of_blocks_that_one_command_takes() {
        let plain = namespace(0, false, GuardFormat::Crc16);
        let by_device = protected(true, 0);
        let reason = |used: &NvmeUse, largest| misfit(&plain, &by_device, used, largest).map(|(reason, _)| reason);
        assert_eq!(reason(&sized(4096), Some(4096)), None);
        assert!(reason(&sized(4000), None).is_some_and(|reason| reason.contains("block size of 512 bytes, and 4000")));
        assert!(reason(&sized(8192), Some(4096)).is_some_and(|reason| reason.contains("at most 4096 bytes")));
        assert_eq!(reason(&sized(32 << 20), None), None);
        assert!(reason(&sized((32 << 20) + 512), None).is_some_and(|reason| reason.contains("65536 blocks")));
        // Trims transfer nothing.
        assert_eq!(reason(&NvmeUse { transfer_bytes: 0, ..sized(64 << 20) }, Some(4096)), None);
        let extended = namespace(8, true, GuardFormat::Crc16);
        assert_eq!(misfit(&extended, &by_device, &sized(4096), None), None);
        let parts = misfit(&extended, &protected(false, 0), &sized(4096), None).unwrap().0;
        assert!(parts.contains("520 bytes (512 of data and 8 of metadata)"), "{parts}");
        assert_eq!(misfit(&extended, &protected(false, 0), &sized(4160), None), None);
    }

    #[test]
    fn metadata_need_a_buffer_that_holds_those_of_an_operation() {
        let separate = namespace(8, false, GuardFormat::Crc16);
        assert_eq!(metadata_misfit(&separate, &protected(true, 0), &sized(4096)), None);
        let (_, remedy) = metadata_misfit(&separate, &protected(false, 0), &sized(4096)).unwrap();
        assert_eq!(remedy, "set md_per_io_size=64");
        assert_eq!(metadata_misfit(&separate, &protected(false, 64), &sized(4096)), None);
        let wide = protected(false, 128);
        assert_eq!(metadata_misfit(&namespace(16, false, GuardFormat::Crc64), &wide, &sized(4096)), None);
        assert!(metadata_misfit(&namespace(16, false, GuardFormat::Crc32c), &wide, &sized(4096)).is_some());
    }

    /// Protection information in the blocks would replace bytes that verification expects.
    #[test]
    fn blocks_with_generated_protection_information_are_not_verified() {
        let extended = namespace(8, true, GuardFormat::Crc16);
        let verified = NvmeUse { verifies: true, ..sized(4160) };
        assert!(metadata_misfit(&extended, &protected(false, 0), &verified).is_some());
        assert_eq!(metadata_misfit(&extended, &protected(true, 0), &verified), None);
    }
}

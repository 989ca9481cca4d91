//! Images made by each format's own program.

use std::path::Path;
use std::process::Command;

/// An image that a program makes.
pub(super) struct Made {
    /// The name of the format in `blkid`.
    pub(super) kind: &'static str,
    /// Size of the image before the program runs; 0 if the program creates the file.
    pub(super) mebibytes: u64,
    /// The program and its arguments, with the placeholders of [`Made::run`].
    pub(super) command: &'static str,
    /// Offset of 2 KiB that are zeroed afterwards, so that only a backup copy is left.
    pub(super) erased: Option<u64>,
}

const fn made(kind: &'static str, mebibytes: u64, command: &'static str) -> Made {
    Made { kind, mebibytes, command, erased: None }
}

const fn erased(kind: &'static str, mebibytes: u64, command: &'static str, at: u64) -> Made {
    Made { kind, mebibytes, command, erased: Some(at) }
}

pub(super) const MADE: &[Made] = &[
    made("ext2", 8, "mkfs.ext2 -q -F @"),
    made("ext2", 8, "mkfs.ext2 -q -F -O none @"),
    made("ext3", 16, "mkfs.ext3 -q -F @"),
    made("ext4", 16, "mkfs.ext4 -q -F @"),
    made("ext4", 64, "mkfs.ext4 -q -F -b 65536 @"),
    made("ext4", 64, "mkfs.ext4 -q -F -O bigalloc,metadata_csum,64bit,encrypt @"),
    made("ext4dev", 16, "mkfs.ext4 -q -F -E test_fs @"),
    made("jbd", 16, "mke2fs -q -F -O journal_dev @"),
    made("xfs", 320, "mkfs.xfs -q @"),
    made("xfs", 320, "mkfs.xfs -q -s size=4096 -m crc=0 @"),
    made("xfs_external_log", 64, "mkfs.xfs -q -l logdev=@,size=64m OTHER"),
    made("btrfs", 128, "mkfs.btrfs -q @"),
    made("f2fs", 64, "mkfs.f2fs -q @"),
    made("nilfs2", 160, "mkfs.nilfs2 -q @"),
    erased("nilfs2", 160, "mkfs.nilfs2 -q @", 0),
    made("jfs", 32, "mkfs.jfs -q @"),
    made("reiserfs", 64, "mkfs.reiserfs -q -ff @"),
    made("reiserfs", 64, "mkfs.reiserfs -q -ff --format 3.5 @"),
    made("reiser4", 64, "mkfs.reiser4 -y -f @"),
    made("ntfs", 16, "mkfs.ntfs -q -F -f @"),
    made("ntfs", 16, "mkfs.ntfs -q -F -f -s 4096 @"),
    made("exfat", 16, "mkfs.exfat @"),
    made("vfat", 2, "mkfs.fat -F 12 @"),
    made("vfat", 16, "mkfs.fat -F 16 @"),
    made("vfat", 64, "mkfs.fat -F 32 @"),
    made("vfat", 64, "mkfs.fat -S 4096 @"),
    made("udf", 16, "mkudffs -b 512 @"),
    made("udf", 16, "mkudffs -b 2048 @"),
    made("udf", 16, "mkudffs -b 4096 @"),
    made("udf", 16, "mkudffs --media-type=dvdrw @"),
    made("iso9660", 0, "genisoimage -quiet -J -R -o @ DIRECTORY"),
    made("udf", 0, "genisoimage -quiet -udf -o @ DIRECTORY"),
    made("iso9660", 0, "genisoimage -quiet -hfs -o @ DIRECTORY"),
    made("iso9660", 0, "makefs -t cd9660 @ DIRECTORY"),
    made("ufs", 0, "makefs -t ffs -s 4m @ DIRECTORY"),
    made("ufs", 0, "makefs -t ffs -s 4m -o version=2 @ DIRECTORY"),
    made("ufs", 0, "makefs -t ffs -B be -s 4m @ DIRECTORY"),
    made("ufs", 0, "makefs -t ffs -B be -s 4m -o version=2 @ DIRECTORY"),
    made("erofs", 0, "mkfs.erofs @ DIRECTORY"),
    made("squashfs", 0, "mksquashfs DIRECTORY @ -quiet -no-progress"),
    made("romfs", 0, "genromfs -f @ -d DIRECTORY"),
    made("cramfs", 0, "mkfs.cramfs DIRECTORY @"),
    made("cramfs", 0, "mkfs.cramfs -N big DIRECTORY @"),
    made("ubifs", 0, "mkfs.ubifs -r DIRECTORY -m 2048 -e 124KiB -c 100 -o @"),
    made("minix", 2, "mkfs.minix -1 -n 14 @"),
    made("minix", 2, "mkfs.minix -1 -n 30 @"),
    made("minix", 2, "mkfs.minix -2 -n 14 @"),
    made("minix", 2, "mkfs.minix -2 -n 30 @"),
    made("minix", 2, "mkfs.minix -3 @"),
    made("bfs", 2, "mkfs.bfs @"),
    made("hfs", 4, "hformat @"),
    made("apfs", 768, "mkapfs @"),
    made("ocfs2", 64, "mkfs.ocfs2 -q -F -M local --fs-features=local @"),
    made("gfs2", 64, "mkfs.gfs2 -q -O -p lock_nolock @"),
    made("swap", 2, "mkswap -p 4096 @"),
    made("swap", 2, "mkswap -p 8192 @"),
    made("swap", 2, "mkswap -p 16384 @"),
    made("swap", 2, "mkswap -p 32768 @"),
    made("swap", 2, "mkswap -p 65536 @"),
    made("crypto_LUKS", 8, "cryptsetup -q luksFormat --type luks1 --pbkdf-force-iterations 1000 @ KEY"),
    made("crypto_LUKS", 32, LUKS2),
    erased("crypto_LUKS", 32, LUKS2, 0),
    erased("crypto_LUKS", 32, LUKS2_LARGE, 0),
    made("DM_verity_hash", 8, "veritysetup format OTHER @"),
    made("bcache", 64, "make-bcache -B @"),
    made("bcache", 128, "make-bcache -C @"),
    made("gpt", 8, "sgdisk -o -n 1 @"),
    erased("gpt", 8, "sgdisk -o -n 1 @", 512),
    made("gpt", 8, "parted -s @ mklabel gpt"),
    made("dos", 8, "parted -s @ mklabel msdos mkpart primary 1MiB 4MiB"),
    made("dos", 8, "parted -s @ mklabel msdos"),
    made("mac", 8, "parted -s @ mklabel mac"),
    made("sun", 64, "parted -s @ mklabel sun"),
    made("sgi", 8, "parted -s @ mklabel dvh"),
];

const LUKS2: &str = "cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 @ KEY";
const LUKS2_LARGE: &str = "cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
                           --luks2-metadata-size 4m --luks2-keyslots-size 8m @ KEY";

impl Made {
    /// Creates the image at `image`. `Err` names a missing program. In the command, `@` is the image, `DIRECTORY` a
    /// directory with a file, `KEY` a key file, and `OTHER` a large empty file.
    pub(super) fn run(&self, image: &Path) -> Result<(), String> {
        let directory = image.parent().unwrap();
        let place = |name: &str| directory.join(name).to_str().unwrap().to_owned();
        let [source, key, other] = ["source", "key", "other"].map(place);
        std::fs::create_dir_all(&source).unwrap();
        std::fs::write(format!("{source}/file"), "content\n").unwrap();
        std::fs::write(&key, [7; 32]).unwrap();
        sized(Path::new(&other), 320);
        let _ = std::fs::remove_file(image);
        if self.mebibytes > 0 {
            sized(image, self.mebibytes);
        }
        let mut words = self.command.split_whitespace().map(|word| {
            let word = word.replace("DIRECTORY", &source).replace("OTHER", &other).replace("KEY", &key);
            word.replace('@', image.to_str().unwrap())
        });
        let program = words.next().unwrap();
        let output = Command::new(&program).args(words).current_dir(directory).output();
        let output = output.map_err(|error| format!("{program}: {error}"))?;
        assert!(output.status.success(), "{}: {}", self.command, String::from_utf8_lossy(&output.stderr));
        self.finish(image);
        Ok(())
    }

    fn finish(&self, image: &Path) {
        const LEAST: u64 = 64 << 10;
        let file = std::fs::File::options().write(true).open(image).unwrap();
        if file.metadata().unwrap().len() < LEAST {
            file.set_len(LEAST).unwrap();
        }
        if let Some(offset) = self.erased {
            std::os::unix::fs::FileExt::write_all_at(&file, &[0; 512 * 4], offset).unwrap();
        }
    }
}

/// Creates a sparse file.
fn sized(path: &Path, mebibytes: u64) {
    let file = std::fs::File::create(path).unwrap();
    file.set_len(mebibytes << 20).unwrap();
}

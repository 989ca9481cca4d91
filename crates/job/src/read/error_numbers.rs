//! Error numbers of Linux by name (`include/uapi/asm-generic/errno-base.h`, `errno.h`).

use units::ProblemCode;

use super::Findings;
use super::lists::split;

/// Names from error number 1 on. fio knows these.
const NAMES: [&str; 34] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD", "EAGAIN", "ENOMEM",
    "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV", "ENOTDIR", "EISDIR", "EINVAL", "ENFILE",
    "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE",
];

/// Further errors of storage, which fio knows by number only.
const FURTHER: [(&str, i32); 9] = [
    ("ENODATA", 61),
    ("ETIME", 62),
    ("ENOLINK", 67),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
    ("ENOMEDIUM", 123),
];

/// Highest error number of Linux (`MAX_ERRNO`).
const ERRNO_MAX: i32 = 4095;

/// Reads up to three lists of errors, separated by commas, for reads, writes and verification.
pub(crate) fn lists(text: &str, findings: &mut Findings) -> Option<[Vec<i32>; 3]> {
    let mut lists = [const { Vec::new() }; 3];
    for (slot, (start, part)) in split(text, ',').into_iter().enumerate() {
        let Some(list) = lists.get_mut(slot) else {
            findings
                .fault(start..text.len(), ProblemCode::ListLength, "at most three lists are allowed")
                .help("write `READ,WRITE,VERIFY`, each a list such as `EIO:ENODATA`");
            return None;
        };
        for (at, word) in split(part, ':').into_iter().filter(|(_, word)| !word.is_empty()) {
            let Some(errno) = number(word) else {
                let place = start + at..start + at + word.len();
                findings
                    .fault(place, ProblemCode::UnknownValue, format!("`{word}` is not a Linux error"))
                    .help("write a name such as `EIO`, or a number (see `errno -l`)");
                return None;
            };
            list.push(errno);
        }
    }
    Some(lists)
}

fn number(word: &str) -> Option<i32> {
    let known = NAMES.iter().position(|name| *name == word).map(|index| index as i32 + 1);
    let further = || FURTHER.iter().find(|(name, _)| *name == word).map(|(_, errno)| *errno);
    let digits = || word.parse().ok().filter(|errno| (1..=ERRNO_MAX).contains(errno));
    known.or_else(further).or_else(digits)
}

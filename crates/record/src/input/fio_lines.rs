//! Lines of fio's normal output, by how they begin.

/// Reports whether a line announces a job: `name: (g=0): rw=randread, bs=(R) 4096B-4096B, …, ioengine=libaio,
/// iodepth=32`.
pub(super) fn is_header(text: &str) -> bool {
    text.contains(": (g=") && text.contains("): rw=")
}

/// Reports whether a line begins a result: `name: (groupid=0, jobs=1): err= 0: pid=12345: Sun Mar 29 15:54:16 2026`.
pub(super) fn is_result(text: &str) -> bool {
    text.contains(": (groupid=") && text.contains(", jobs=")
}

/// Reports whether a line may belong to a result.
pub(super) fn is_of_result(text: &str) -> bool {
    const WORDS: &str = "read write trim mixed slat clat lat sync fsync/fdatasync/sync_file_range bw iops cpu IO submit \
                         complete issued latency errors steadystate Description";
    let word = text.split([' ', ':', '(']).next().unwrap_or_default();
    text.starts_with('|') || WORDS.split(' ').any(|known| known == word)
}

//! Tests of the files and regions of a worker and their required sizes, with numbers as in fio.

use job::{BlockSizes, Job, Size};
use units::{Bytes, Problem};
use workload::{FileExtent, FileFact, FilePlan, WorkerIndex, plan_files};

use crate::common::{KIB, job, option_of, rw};

fn nothing(_: &str) -> Option<FileFact> {
    None
}

fn regular(size: u64) -> impl Fn(&str) -> Option<FileFact> {
    move |_| Some(FileFact { size, block_device: false, ..FileFact::default() })
}

fn device(size: u64) -> impl Fn(&str) -> Option<FileFact> {
    move |_| Some(FileFact { size, block_device: true, ..FileFact::default() })
}

fn bytes(size: u64) -> Size {
    Size::Bytes(Bytes::new(size))
}

fn clone(job: &Job, clone: u32, existing: &dyn Fn(&str) -> Option<FileFact>) -> Result<FilePlan, Problem> {
    plan_files(job, job::Dialect::Strict, WorkerIndex { index: clone, clone }, 1, existing)
}

fn plan(job: &Job, existing: &dyn Fn(&str) -> Option<FileFact>) -> FilePlan {
    clone(job, 0, existing).expect("the job is sound")
}

fn named(names: &[&str]) -> Job {
    let mut job = job();
    job.files.filenames = names.iter().map(|&name| name.to_owned()).collect();
    job
}

fn sized(size: u64) -> Job {
    let mut job = named(&["f"]);
    job.extent.size = Some(bytes(size));
    job
}

/// Start, length and needed size of each file.
fn regions(plan: &FilePlan) -> Vec<(u64, u64, u64)> {
    plan.files.iter().map(|file| (file.extent.start, file.extent.length, file.needed)).collect()
}

#[test]
fn an_existing_file_keeps_its_size() {
    let mut job = named(&["f"]);
    assert_eq!(regions(&plan(&job, &regular(100_000))), [(0, 100_000, 100_000)]);
    job.extent.offset = bytes(16 * KIB);
    assert_eq!(regions(&plan(&job, &regular(100_000))), [(16_384, 83_616, 100_000)]);
    // fio rounds percentages up to whole blocks: 50,000 becomes 13 blocks.
    job.extent.offset = Size::Percent(50);
    assert_eq!(regions(&plan(&job, &regular(100_000))), [(53_248, 46_752, 100_000)]);
}

#[test]
fn a_size_beyond_the_end_extends_a_file_and_is_cut_on_a_device() {
    let mut job = sized(200 * KIB);
    job.extent.offset = bytes(16 * KIB);
    let grown = plan(&job, &regular(100_000));
    assert_eq!(regions(&grown), [(16_384, 204_800, 221_184)]);
    assert_eq!(grown.missing_bytes(), 121_184);
    assert_eq!(regions(&plan(&job, &device(100 * KIB))), [(16_384, 84 * KIB, 100 * KIB)]);
    assert_eq!(plan(&job, &device(100 * KIB)).missing_bytes(), 0);
}

#[test]
fn size_can_be_a_percentage_of_the_file() {
    let mut job = named(&["f"]);
    job.extent.size = Some(Size::Percent(50));
    assert_eq!(regions(&plan(&job, &regular(100_000))), [(0, 50_000, 100_000)]);
    assert_eq!(option_of(&clone(&job, 0, &nothing).expect_err("nothing to take a share of")), "size");
}

#[test]
fn size_is_divided_among_files() {
    let mut job = sized(100 * KIB);
    job.files.filenames.clear();
    job.files.nrfiles = 3;
    let three = plan(&job, &nothing);
    assert_eq!(regions(&three), [(0, 34_133, 34_133); 3]);
    assert_eq!(three.missing_bytes(), 3 * 34_133);
    let mut two = named(&["f", "g"]);
    two.extent.size = Some(bytes(100 * KIB));
    assert_eq!(regions(&plan(&two, &nothing)), [(0, 51_200, 51_200); 2]);
}

#[test]
fn filesize_is_for_each_file_and_size_limits_the_transfer() {
    let mut job = sized(100 * KIB);
    job.files.filesize = Some((Bytes::new(1 << 20), Bytes::new(1 << 20)));
    let plan = plan(&job, &nothing);
    assert_eq!(regions(&plan), [(0, 1 << 20, 1 << 20)]);
    assert_eq!(plan.transfer_bytes(), 100 * KIB);
}

#[test]
fn filesize_bounds_the_region_for_any_offset() {
    let mut job = job();
    job.files.filesize = Some((Bytes::new(100 * KIB), Bytes::new(100 * KIB)));
    job.extent.offset = bytes(40 * KIB);
    assert_eq!(regions(&plan(&job, &nothing)), [(40 * KIB, 60 * KIB, 100 * KIB)]);
    job.extent.size = Some(Size::Percent(20));
    assert_eq!(regions(&plan(&job, &nothing)), [(40 * KIB, 20 * KIB, 60 * KIB)]);
    job.extent.offset = bytes(100 * KIB);
    assert_eq!(option_of(&clone(&job, 0, &nothing).expect_err("nothing is left")), "offset");
}

#[test]
fn file_sizes_are_drawn_from_a_range_in_blocks_and_repeat() {
    let mut job = job();
    job.files.nrfiles = 50;
    job.files.filesize = Some((Bytes::new(8 * KIB), Bytes::new(64 * KIB)));
    let lengths = |index| {
        let plan = plan_files(&job, job::Dialect::Strict, WorkerIndex { index, clone: 0 }, 1, &nothing).expect("sound");
        plan.files.iter().map(|file| file.extent.length).collect::<Vec<_>>()
    };
    assert_eq!(lengths(0), lengths(0));
    assert_ne!(lengths(0), lengths(1));
    assert!(lengths(0).iter().all(|length| (8 * KIB..=64 * KIB).contains(length) && length % 4096 == 0));
}

#[test]
fn clones_share_filenames_and_not_generated_names() {
    let paths = |job: &Job, number| {
        let plan = clone(job, number, &regular(1 << 20)).expect("sound");
        plan.files.into_iter().map(|file| file.path).collect::<Vec<_>>()
    };
    let mut job = job();
    job.files.nrfiles = 2;
    job.files.directories = vec!["a".to_owned(), "b/".to_owned()];
    assert_eq!(paths(&job, 0), ["a/job.0.0", "a/job.0.1"]);
    assert_eq!(paths(&job, 1), ["b/job.1.0", "b/job.1.1"]);
    assert_eq!(paths(&job, 2), ["a/job.2.0", "a/job.2.1"]);
    job.files.filename_format = "x-$JobName/$filenum$jobnum-$other".to_owned();
    assert_eq!(paths(&job, 1), ["b/x-job/01-$other", "b/x-job/11-$other"]);
    job.files.filenames = vec!["a/shared".to_owned(), "/abs".to_owned()];
    assert_eq!(paths(&job, 1), ["a/shared", "/abs"], "clones share named files");
}

#[test]
fn offset_increment_moves_the_region_of_each_clone() {
    let mut job = sized(100 * KIB);
    job.extent.offset = bytes(4 * KIB);
    job.extent.offset_increment = bytes(200 * KIB);
    let third = clone(&job, 2, &regular(1_000_000)).expect("sound");
    assert_eq!(regions(&third), [(404 * KIB, 100 * KIB, 1_000_000)]);
    job.extent.offset_increment = Size::Percent(10);
    let third = clone(&job, 2, &regular(1_000_000)).expect("sound");
    assert_eq!(third.files[0].extent.start, 4 * KIB + 200_704, "the whole distance is rounded up, not each step");
}

#[test]
fn io_size_can_be_a_percentage_of_the_size() {
    let mut job = sized(200 * KIB);
    job.extent.io_size = Some(Size::Percent(50));
    assert_eq!(plan(&job, &nothing).io_size, Some(100 * KIB));
    job.extent.io_size = Some(Size::Percent(300));
    assert_eq!(option_of(&clone(&job, 0, &nothing).expect_err("more than all")), "io_size");
}

#[test]
fn errors_name_the_option() {
    assert_eq!(option_of(&clone(&named(&["f"]), 0, &nothing).expect_err("no size")), "size");
    assert_eq!(option_of(&clone(&sized(1024), 0, &nothing).expect_err("less than a block")), "size");
    let mut beyond = named(&["f"]);
    beyond.extent.offset = bytes(1 << 20);
    assert_eq!(option_of(&clone(&beyond, 0, &device(1 << 20)).expect_err("behind the end")), "offset");
    let mut large = rw("write");
    large.files.filenames = vec!["f".to_owned()];
    large.pattern.block_sizes.write = BlockSizes::Fixed(1 << 20);
    assert_eq!(option_of(&clone(&large, 0, &regular(4096)).expect_err("less than a block")), "offset");
}

#[test]
fn a_job_name_can_name_a_device() {
    let mut job = job();
    job.name = "/dev/sdb".to_owned();
    let is_device = |path: &str| {
        (path == "/dev/sdb").then_some(FileFact { size: 1 << 20, block_device: true, ..FileFact::default() })
    };
    let plan = plan(&job, &is_device);
    assert_eq!((plan.files[0].path.as_str(), regions(&plan)), ("/dev/sdb", vec![(0, 1 << 20, 1 << 20)]));
}

#[test]
fn sums_of_absurd_sizes_saturate() {
    let mut job = rw("write");
    job.files.nrfiles = 5;
    job.files.filesize = Some((units::Bytes::new(u64::MAX / 3), units::Bytes::new(u64::MAX / 3)));
    let plan =
        workload::plan_files(&job, job::Dialect::Fio, WorkerIndex::default(), 1, &|_| None).expect("sizes are known");
    assert_eq!((plan.transfer_bytes(), plan.missing_bytes()), (u64::MAX, u64::MAX));
    assert!(workload::Issuer::new(&job, WorkerIndex::default(), &plan.layout(), 1).is_ok());
}

#[test]
fn sizes_in_zones_are_those_of_the_device() {
    let zoned = |zone_bytes: u64| {
        move |_: &str| Some(FileFact { size: 1 << 30, block_device: true, zone_bytes, ..FileFact::default() })
    };
    let mut job = Job { name: "a".to_owned(), ..Job::default() };
    (job.extent.size, job.extent.offset) = (Some(Size::Zones(3)), Size::Zones(2));
    (job.extent.io_size, job.extent.offset_increment) = (Some(Size::Zones(9)), Size::Zones(4));
    let plan = |job: &Job, zone_bytes: u64| {
        let worker = WorkerIndex { index: 1, clone: 1 };
        plan_files(job, job::Dialect::Strict, worker, 1, &zoned(zone_bytes))
    };
    let planned = plan(&job, 1 << 20).expect("the device has zones");
    let extent = FileExtent { start: 6 << 20, length: 3 << 20 };
    assert_eq!((planned.files[0].extent, planned.size, planned.io_size), (extent, Some(3 << 20), Some(9 << 20)));
    let error = plan(&job, 0).expect_err("it has none").to_string();
    assert!(error.contains("has no zones") && error.contains("write size in bytes"), "{error}");
}

use std::path::Path;
use units::Nanos;
#[derive(Default)]
pub struct Usage{pub user:Nanos,pub system:Nanos,pub context_switches:u64,pub major_faults:u64,pub minor_faults:u64}
impl Usage{pub fn since(&self,_:&Usage)->Usage{Usage::default()}}
pub fn thread_usage()->Usage{Usage::default()}
pub fn page_bytes()->u64{4096}
pub fn memory_bytes()->u64{1<<30}
pub struct H{pub hostname:String,pub kernel:String,pub cpus:u32}
pub fn host()->H{H{hostname:"h".into(),kernel:"k".into(),cpus:2}}
#[derive(Default)]
pub struct DiskCounters{pub read_ios:u64,pub write_ios:u64,pub read_sectors:u64,pub write_sectors:u64,pub read_merges:u64,pub write_merges:u64,pub read_ticks_ms:u64,pub write_ticks_ms:u64,pub in_queue_ms:u64,pub busy_ms:u64}
pub fn is_in_memory(_:&Path)->bool{false}
pub fn cached_share(_:&Path)->Option<f64>{None}
pub fn disk_of(_:&Path)->Option<String>{None}
pub fn disk_counters(_:&str)->Option<DiskCounters>{None}
pub fn data_on(_:&Path)->Result<Vec<String>,String>{Ok(vec![])}
pub fn is_mounted(_:&Path)->bool{false}

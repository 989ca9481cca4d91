//! Published results with their sources: the figures as printed.

/// A volume, a measurement on it, and the limit that it reached.
pub(crate) type AtLimit = (&'static str, &'static str, &'static str);

/// A volume, a measurement on it, and the expected finding.
pub(crate) type Control = (&'static str, &'static str, &'static str);

const GP3_4K: &str = "aws/gp3@2023,size=201GiB,iops=4000,throughput=1000MiB/s,machine=r5b.large";
const GP3_16K: &str = "aws/gp3@2023,size=255GiB,iops=16000,throughput=1000MiB/s,machine=r5b.large";
const IO2_16K: &str = "aws/io2,size=54GiB,iops=16000,machine=r5b.large";
const GP3_10K: &str = "aws/gp3@2023,size=1000GiB,iops=10000,throughput=360MiB/s,machine=m5zn.2xlarge";
const PREMIUM_V2: &str = "azure/premium-ssd-v2,size=1TiB,iops=20000,throughput=300MB/s";
const ULTRA: &str = "azure/ultra,size=1TiB,iops=20000,throughput=300MB/s";

/// github.com/miztiik/ebs-gp3-perf @586f626d, 2020-12-21: fio 2.14, 10 s each, on an `r5b.large`.
pub(crate) const EBS: [AtLimit; 21] = [
    (GP3_4K, "iops=4395,lat=58.19ms,qd=16,jobs=16,bs=4k,rw=randwrite", "volume IOPS"),
    (GP3_4K, "iops=4131,lat=61.90ms,qd=16,jobs=16,bs=8k,rw=randwrite", "volume IOPS"),
    (GP3_4K, "iops=4157,lat=61.51ms,qd=16,jobs=16,bs=16k,rw=randwrite", "volume IOPS"),
    (GP3_4K, "iops=4137,lat=61.79ms,qd=16,jobs=16,bs=32k,rw=randwrite", "volume IOPS"),
    (GP3_4K, "iops=4166,lat=61.36ms,qd=16,jobs=16,bs=64k,rw=randwrite", "volume IOPS"),
    (GP3_4K, "iops=4160,lat=61.41ms,qd=16,jobs=16,bs=128k,rw=randwrite", "volume IOPS"),
    (GP3_4K, "iops=4170,lat=61.23ms,qd=16,jobs=16,bs=256k,rw=randwrite", "volume IOPS"),
    (IO2_16K, "iops=17584,lat=14.55ms,qd=16,jobs=16,bs=4k,rw=randwrite", "volume IOPS"),
    (IO2_16K, "iops=16631,lat=15.38ms,qd=16,jobs=16,bs=8k,rw=randwrite", "volume IOPS"),
    (IO2_16K, "iops=16602,lat=15.41ms,qd=16,jobs=16,bs=16k,rw=randwrite", "volume IOPS"),
    (IO2_16K, "iops=16742,lat=15.28ms,qd=16,jobs=16,bs=32k,rw=randwrite", "volume IOPS"),
    (IO2_16K, "iops=16653,lat=15.36ms,qd=16,jobs=16,bs=64k,rw=randwrite", "volume IOPS"),
    (IO2_16K, "iops=10558,lat=24.23ms,qd=16,jobs=16,bs=128k,rw=randwrite", "machine maximum throughput"),
    (IO2_16K, "iops=4998,lat=51.11ms,qd=16,jobs=16,bs=256k,rw=randwrite", "machine maximum throughput"),
    (GP3_16K, "iops=17584,lat=14.55ms,qd=16,jobs=16,bs=4k,rw=randwrite", "volume IOPS"),
    (GP3_16K, "iops=16598,lat=15.41ms,qd=16,jobs=16,bs=8k,rw=randwrite", "volume IOPS"),
    (GP3_16K, "iops=16635,lat=15.38ms,qd=16,jobs=16,bs=16k,rw=randwrite", "volume IOPS"),
    (GP3_16K, "iops=16645,lat=15.36ms,qd=16,jobs=16,bs=32k,rw=randwrite", "volume IOPS"),
    (GP3_16K, "iops=16738,lat=15.28ms,qd=16,jobs=16,bs=64k,rw=randwrite", "volume IOPS"),
    (GP3_16K, "iops=8798,lat=29.05ms,qd=16,jobs=16,bs=128k,rw=randwrite", "volume throughput"),
    (GP3_16K, "iops=4175,lat=61.16ms,qd=16,jobs=16,bs=256k,rw=randwrite", "volume throughput"),
];

/// github.com/tkubica12/cloud-storage-tests @ad5a911c, 2022-11-02, disks/disks.md: fio, 30 s each, on a
/// `Standard_D16as_v4`.
pub(crate) const AZURE: [AtLimit; 13] = [
    ("azure/p30", "iops=5210,qd=256,bs=4k,rw=randread", "volume IOPS"),
    ("azure/p30", "iops=5180,qd=256,bs=4k,rw=randwrite", "volume IOPS"),
    (PREMIUM_V2, "iops=20400,qd=256,bs=4k,rw=randread", "volume IOPS"),
    (PREMIUM_V2, "iops=20400,qd=256,bs=4k,rw=randwrite", "volume IOPS"),
    (ULTRA, "iops=20400,qd=256,bs=4k,rw=randread", "volume IOPS"),
    (ULTRA, "iops=20400,qd=256,bs=4k,rw=randwrite", "volume IOPS"),
    ("azure/s30", "iops=561,qd=256,bs=4k,rw=randread", "volume IOPS"),
    ("azure/s30", "iops=560,qd=256,bs=4k,rw=randwrite", "volume IOPS"),
    ("azure/p30", "bw=198MiB/s,qd=256,bs=1m,rw=randread", "volume throughput"),
    (PREMIUM_V2, "bw=320MiB/s,qd=256,bs=1m,rw=randread", "volume throughput"),
    (ULTRA, "bw=320MiB/s,qd=256,bs=1m,rw=randread", "volume throughput"),
    ("azure/e30", "iops=1001,qd=256,bs=4k,rw=randread", "burst IOPS"),
    ("azure/e30", "iops=1000,qd=256,bs=4k,rw=randwrite", "burst IOPS"),
];

/// Volumes of three providers.
pub(crate) const OTHERS: [AtLimit; 7] = [
    // github.com/circy9/storage-test @2a15eb89, 2021-05 and 2021-06: fio 2.17 for 15 s, disks of 100 GiB, host cache
    // off.
    ("azure/p10", "iops=3501,qd=64,bs=4k,rw=randread", "burst IOPS"),
    ("azure/p10", "iops=3500,qd=64,bs=4k,rw=randwrite", "burst IOPS"),
    ("azure/p10", "bw=162MiB/s,qd=64,bs=128k,rw=randwrite", "burst throughput"),
    ("gcp/pd-ssd@2019,size=100GB", "iops=2994,qd=64,bs=4k,rw=randwrite", "pd-ssd IOPS"),
    // github.com/dyu/vps-comparison @c59e0b0c, 2018-01-02: fio 3.1 for 300 s on a `t2.micro`.
    ("aws/gp2,size=8GiB", "iops=3065,lat=1303.18us,qd=4,bs=4k,rw=randwrite", "burst IOPS"),
    // github.com/longhorn/longhorn @17f08975, 2024-05-10,
    // examples/reference-setup-performance-scalability-and-sizing-guidelines: reads of three nodes together, per
    // volume.
    (GP3_10K, "iops=10639,bs=4k,rw=randread", "volume IOPS"),
    (GP3_10K, "bw=392MiB/s,bs=128k,rw=randread", "volume throughput"),
];

/// Measurements above expectation, and others below.
pub(crate) const CONTROLS: [Control; 8] = [
    // circy9/storage-test: the same disk with the host's cache, which answers reads.
    ("azure/p10", "iops=8152,qd=64,bs=4k,rw=randread", "above_expectation"),
    ("azure/p10", "iops=8101,qd=64,bs=4k,rw=randread", "above_expectation"),
    ("azure/p10", "bw=195MiB/s,qd=64,bs=128k,rw=randread", "above_expectation"),
    // tkubica12/cloud-storage-tests: 97 MiB/s, where its author expected 60.
    ("azure/s30", "bw=97MiB/s,qd=256,bs=1m,rw=randread", "above_expectation"),
    // dyu/vps-comparison: reads of a file in part unwritten.
    ("aws/gp2,size=8GiB", "iops=5269,lat=758.00us,qd=4,bs=4k,rw=randread", "above_expectation"),
    // circy9/storage-test: twice what the rule of 2019 gave.
    ("gcp/pd-ssd@2019,size=100GB", "iops=6045,qd=64,bs=4k,rw=randread", "above_expectation"),
    // tkubica12/cloud-storage-tests: below the 250 MB/s of the burst, and above the 60 MB/s of the long run.
    ("azure/e30", "bw=202MiB/s,qd=256,bs=1m,rw=randread", "burst_running"),
    // circy9/storage-test: 6,000 IOPS by the rule of 2026.
    ("gcp/pd-balanced,size=500GiB", "iops=2994,lat=85.5ms,qd=64,jobs=4,bs=4k,rw=randread", "below_expectation"),
];

/// Consistent rows: rate, mean latency and depth of the same run.
pub(crate) const CONSISTENT: [&str; 120] = [
    // Articles and tables that the project started from.
    "iops=24.1k,lat=1314.62us,qd=32,bs=4k,rw=randread",
    "iops=24097,lat=1.31ms,qd=32",
    "iops=2018k,lat=570.3us,qd=8,jobs=144,bs=4k,rw=randread",
    "iops=182,lat=5.5ms,qd=1",
    "iops=182,lat=55ms,qd=10",
    "iops=160k,lat=6.4ms,qd=256,jobs=4",
    "iops=160k,lat=3.2ms,qd=128,jobs=4",
    "iops=10000,lat=2.7ms-3.2ms,qd=4,jobs=8,bs=4k",
    "iops=750,lat=40ms-50ms,qd=4,jobs=8,bs=512k",
    "iops=380,lat=80ms-100ms,qd=4,jobs=8,bs=1m",
    "iops=95,lat=320ms-420ms,qd=4,jobs=8,bs=4m",
    "iops=3k,lat=1.2ms,qd=3",
    // circy9/storage-test @2a15eb89, 2021.
    "iops=4580,lat=870.49us,qd=4,bs=4k,rw=randread",
    "iops=2998,lat=1330.88us,qd=4,bs=4k,rw=randwrite",
    "iops=2998,lat=1330.80us,qd=4,bs=4k,rw=randread",
    "iops=1881,lat=2123.39us,qd=4,bs=4k,rw=randread",
    "iops=7893,lat=505.83us,qd=4,bs=4k,rw=randread",
    // miztiik/ebs-gp3-perf @586f626d, 2020-12-21.
    "iops=4160,lat=61.41ms,qd=16,jobs=16,bs=128k,rw=randwrite",
    "iops=10558,lat=24.23ms,qd=16,jobs=16,bs=128k,rw=randwrite",
    "iops=8798,lat=29.05ms,qd=16,jobs=16,bs=128k,rw=randwrite",
    "iops=4157,lat=61.51ms,qd=16,jobs=16,bs=16k,rw=randwrite",
    "iops=16602,lat=15.41ms,qd=16,jobs=16,bs=16k,rw=randwrite",
    "iops=16635,lat=15.38ms,qd=16,jobs=16,bs=16k,rw=randwrite",
    "iops=4170,lat=61.23ms,qd=16,jobs=16,bs=256k,rw=randwrite",
    "iops=4998,lat=51.11ms,qd=16,jobs=16,bs=256k,rw=randwrite",
    "iops=4175,lat=61.16ms,qd=16,jobs=16,bs=256k,rw=randwrite",
    "iops=4137,lat=61.79ms,qd=16,jobs=16,bs=32k,rw=randwrite",
    "iops=16742,lat=15.28ms,qd=16,jobs=16,bs=32k,rw=randwrite",
    "iops=16645,lat=15.36ms,qd=16,jobs=16,bs=32k,rw=randwrite",
    "iops=4395,lat=58.19ms,qd=16,jobs=16,bs=4k,rw=randwrite",
    "iops=17584,lat=14.55ms,qd=16,jobs=16,bs=4k,rw=randwrite",
    "iops=17584,lat=14.55ms,qd=16,jobs=16,bs=4k,rw=randwrite",
    "iops=4166,lat=61.36ms,qd=16,jobs=16,bs=64k,rw=randwrite",
    "iops=16653,lat=15.36ms,qd=16,jobs=16,bs=64k,rw=randwrite",
    "iops=16738,lat=15.28ms,qd=16,jobs=16,bs=64k,rw=randwrite",
    "iops=4131,lat=61.90ms,qd=16,jobs=16,bs=8k,rw=randwrite",
    "iops=16631,lat=15.38ms,qd=16,jobs=16,bs=8k,rw=randwrite",
    "iops=16598,lat=15.41ms,qd=16,jobs=16,bs=8k,rw=randwrite",
    // dyu/vps-comparison @c59e0b0c, 2018-01-02: `libaio` at depth 4, and `posixaio` at depth 4 and 32.
    "iops=53.0k,lat=72.58us,qd=4,bs=4k,rw=write",
    "iops=132k,lat=29456.35ns,qd=4,bs=4k,rw=randread",
    "iops=47.5k,lat=82046.70ns,qd=4,bs=4k,rw=randread",
    "iops=142k,lat=27533.93ns,qd=4,bs=4k,rw=randread",
    "iops=48.0k,lat=81.56us,qd=4,bs=4k,rw=randwrite",
    "iops=47.1k,lat=83.16us,qd=4,bs=4k,rw=randwrite",
    "iops=60.5k,lat=64.78us,qd=4,bs=4k,rw=write",
    "iops=90.2k,lat=43.47us,qd=4,bs=4k,rw=read",
    "iops=30.3k,lat=129.77us,qd=4,bs=4k,rw=write",
    "iops=39.0k,lat=100.94us,qd=4,bs=4k,rw=read",
    "iops=61.2k,lat=64373.54ns,qd=4,bs=4k,rw=randread",
    "iops=28.8k,lat=136.97us,qd=4,bs=4k,rw=write",
    "iops=49.9k,lat=79.10us,qd=4,bs=4k,rw=read",
    "iops=28.6k,lat=138067.48ns,qd=4,bs=4k,rw=randread",
    "iops=80.7k,lat=48944.46ns,qd=4,bs=4k,rw=randread",
    "iops=26.0k,lat=151931.67ns,qd=4,bs=4k,rw=randread",
    "iops=26.9k,lat=146.99us,qd=4,bs=4k,rw=randwrite",
    "iops=58.3k,lat=67.85us,qd=4,bs=4k,rw=read",
    "iops=21.2k,lat=186.77us,qd=4,bs=4k,rw=read",
    "iops=24.9k,lat=159.08us,qd=4,bs=4k,rw=write",
    "iops=14.2k,lat=278.97us,qd=4,bs=4k,rw=randwrite",
    "iops=9701,lat=408.89us,qd=4,bs=4k,rw=randwrite",
    "iops=47.7k,lat=83.18us,qd=4,bs=4k,rw=read",
    "iops=35.7k,lat=111.16us,qd=4,bs=4k,rw=write",
    "iops=38.0k,lat=104453.05ns,qd=4,bs=4k,rw=randread",
    "iops=26.1k,lat=152.18us,qd=4,bs=4k,rw=randwrite",
    "iops=21.8k,lat=182.26us,qd=4,bs=4k,rw=randwrite",
    "iops=22.1k,lat=179.82us,qd=4,bs=4k,rw=write",
    "iops=13.3k,lat=298.91us,qd=4,bs=4k,rw=randwrite",
    "iops=17.6k,lat=226.04us,qd=4,bs=4k,rw=write",
    "iops=18.2k,lat=218.59us,qd=4,bs=4k,rw=read",
    "iops=27.1k,lat=146.82us,qd=4,bs=4k,rw=read",
    "iops=18.8k,lat=211.83us,qd=4,bs=4k,rw=write",
    "iops=268,lat=118.95ms,qd=32,bs=128k,rw=write",
    "iops=262,lat=121688.68us,qd=32,bs=4k,rw=randread",
    "iops=130,lat=30673.60us,qd=4,bs=4k,rw=read",
    "iops=294,lat=13564.83us,qd=4,bs=4k,rw=randwrite",
    "iops=5030,lat=792.92us,qd=4,bs=4k,rw=write",
    "iops=495,lat=64.49ms,qd=32,bs=128k,rw=write",
    "iops=459,lat=69.55ms,qd=32,bs=128k,rw=read",
    "iops=217,lat=18389.46us,qd=4,bs=4k,rw=randread",
    "iops=3846,lat=1037.67us,qd=4,bs=4k,rw=read",
    "iops=8876,lat=449.63us,qd=4,bs=4k,rw=read",
    "iops=434,lat=73.58ms,qd=32,bs=64k,rw=write",
    "iops=786,lat=40.63ms,qd=32,bs=64k,rw=write",
    "iops=7799,lat=4095.25us,qd=32,bs=4k,rw=randread",
    "iops=3935,lat=1014.58us,qd=4,bs=4k,rw=write",
    "iops=3601,lat=8.87ms,qd=32,bs=16k,rw=read",
    "iops=859,lat=37.19ms,qd=32,bs=32k,rw=write",
    "iops=7179,lat=556.26us,qd=4,bs=4k,rw=randread",
    "iops=495,lat=64.54ms,qd=32,bs=128k,rw=read",
    "iops=877,lat=36.43ms,qd=32,bs=4k,rw=randwrite",
    "iops=2208,lat=14.47ms,qd=32,bs=4k,rw=read",
    "iops=1384,lat=2885.65us,qd=4,bs=4k,rw=read",
    "iops=5269,lat=758003.12ns,qd=4,bs=4k,rw=randread",
    "iops=1492,lat=2677.01us,qd=4,bs=4k,rw=randwrite",
    "iops=962,lat=33215.77us,qd=32,bs=16k,rw=write",
    "iops=3065,lat=1303.18us,qd=4,bs=4k,rw=randwrite",
    "iops=1673,lat=19.10ms,qd=32,bs=16k,rw=read",
    "iops=3068,lat=1301.99us,qd=4,bs=4k,rw=write",
    "iops=736,lat=5427837.28ns,qd=4,bs=4k,rw=randread",
    "iops=991,lat=32.25ms,qd=32,bs=32k,rw=write",
    "iops=1490,lat=21.45ms,qd=32,bs=4k,rw=write",
    "iops=2135,lat=14.97ms,qd=32,bs=8k,rw=read",
    "iops=1103,lat=3622.09us,qd=4,bs=4k,rw=randwrite",
    "iops=434,lat=9206.02us,qd=4,bs=4k,rw=write",
    "iops=1016,lat=31.46ms,qd=32,bs=8k,rw=read",
    "iops=3070,lat=1301.45us,qd=4,bs=4k,rw=read",
    "iops=957,lat=33.40ms,qd=32,bs=64k,rw=read",
    "iops=1170,lat=27.32ms,qd=32,bs=4k,rw=write",
    "iops=1480,lat=21598.25us,qd=32,bs=4k,rw=randwrite",
    "iops=1884,lat=16966.90us,qd=32,bs=32k,rw=read",
    "iops=1279,lat=3124.40us,qd=4,bs=4k,rw=write",
    "iops=1231,lat=25.97ms,qd=32,bs=16k,rw=write",
    "iops=945,lat=33.83ms,qd=32,bs=8k,rw=write",
    "iops=2131,lat=1875280.73ns,qd=4,bs=4k,rw=randread",
    "iops=1453,lat=2750.45us,qd=4,bs=4k,rw=randwrite",
    "iops=5642,lat=708.35us,qd=4,bs=4k,rw=randwrite",
    "iops=991,lat=32263.90us,qd=32,bs=64k,rw=read",
    "iops=1367,lat=23.39ms,qd=32,bs=8k,rw=write",
    "iops=1359,lat=23.53ms,qd=32,bs=4k,rw=read",
    "iops=1942,lat=16.47ms,qd=32,bs=32k,rw=read",
];

/// Rows whose figures belong to different workloads, or whose queue was not kept full.
pub(crate) const INCONSISTENT: [&str; 42] = [
    // From the same articles: depths of 16 and 64 although the figures imply about 32, 96 for 1,152, and 1 for 4.
    "iops=10000,lat=2.7ms-3.2ms,qd=4,jobs=4,bs=4k",
    "iops=6000,lat=4ms-5ms,qd=4,jobs=4,bs=64k",
    "iops=750,lat=40ms-50ms,qd=4,jobs=4,bs=512k",
    "iops=380,lat=80ms-100ms,qd=4,jobs=4,bs=1m",
    "iops=95,lat=320ms-420ms,qd=4,jobs=4,bs=4m",
    "iops=10000,lat=2.7ms-3.2ms,qd=4,jobs=16,bs=4k",
    "iops=6000,lat=4ms-5ms,qd=4,jobs=16,bs=64k",
    "iops=750,lat=40ms-50ms,qd=4,jobs=16,bs=512k",
    "iops=380,lat=80ms-100ms,qd=4,jobs=16,bs=1m",
    "iops=95,lat=320ms-420ms,qd=4,jobs=16,bs=4m",
    "iops=2018k,lat=570.3us,qd=96",
    "iops=2000,lat=2ms,qd=1,bs=4k,rw=randread",
    // dyu/vps-comparison @c59e0b0c: 18.0k printed although 74.0 MiB/s are 18.9k (fio 3.1); a container whose queue was
    // not kept full.
    "iops=70.1k,lat=46.60us,qd=4,bs=4k,rw=read",
    "iops=8716,lat=431.47us,qd=4,bs=4k,rw=randread",
    "iops=18.0k,lat=1675.96us,qd=32,bs=4k,rw=randread",
    // As above: reads or writes of a mixed job, with the depth of both.
    "iops=344,lat=877.47us,qd=4,bs=4k",
    "iops=7366,lat=46.26us,qd=4,bs=4k",
    "iops=13.2k,lat=85.71us,qd=4,bs=4k",
    "iops=1229,lat=972.95us,qd=4,bs=4k",
    "iops=24.7k,lat=56.50us,qd=4,bs=4k",
    "iops=31.2k,lat=48.89us,qd=4,bs=4k",
    "iops=13.4k,lat=115.09us,qd=4,bs=4k",
    "iops=14.0k,lat=111.27us,qd=4,bs=4k",
    "iops=15.9k,lat=103.10us,qd=4,bs=4k",
    "iops=7146,lat=230.75us,qd=4,bs=4k",
    "iops=6849,lat=276.86us,qd=4,bs=4k",
    "iops=105,lat=18341.39us,qd=4,bs=4k",
    "iops=156,lat=13246.19us,qd=4,bs=4k",
    "iops=4556,lat=459.71us,qd=4,bs=4k",
    "iops=10.7k,lat=215.98us,qd=4,bs=4k",
    "iops=10.6k,lat=220.17us,qd=4,bs=4k",
    "iops=46.8k,lat=51.11us,qd=4,bs=4k",
    "iops=20.1k,lat=119.26us,qd=4,bs=4k",
    "iops=9346,lat=256.74us,qd=4,bs=4k",
    "iops=16.4k,lat=155.80us,qd=4,bs=4k",
    "iops=1840,lat=1520.90us,qd=4,bs=4k",
    "iops=19.8k,lat=143.56us,qd=4,bs=4k",
    "iops=4920,lat=741.00us,qd=4,bs=4k",
    "iops=229,lat=16102.28us,qd=4,bs=4k",
    // As above at @ce27c160, 2017-06-25: jobs that ended at different times, counted as one.
    "iops=28422,lat=4331.87us,qd=16,jobs=8,bs=4k,rw=randread",
    "iops=17505,lat=6514.34us,qd=16,jobs=8,bs=4k,rw=randwrite",
    "iops=61359,lat=1992.61us,qd=16,jobs=8,bs=4k,rw=randread",
];

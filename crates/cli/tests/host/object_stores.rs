//! The engine `http` against object stores on loopback: the requests that fio sends, stores that check signatures and
//! passwords, and servers that fail. The installed fio (3.33) has no engine `http`; requests are compared with those that
//! fio 3.42 sends.

use std::process::Command;

use crate::common::json::Json;
use crate::common::object_store::{MemoryStore, StoreFault};
use crate::common::{Outcome, Running, Scratch, fathom, require, run, wait_for, words};

const S3: &str = "--http_mode=s3 --http_s3_keyid=KEYID-in-clear --http_s3_key=SECRET-in-clear";

/// The lines are those that fio 3.42 sends for the same jobs.
#[test]
fn requests_are_those_of_fio() {
    let block = "--size=16k --bs=4k --filename=/dav/obj";
    let puts = "PUT /dav/obj_0_4096, PUT /dav/obj_4096_4096, PUT /dav/obj_8192_4096, PUT /dav/obj_12288_4096";
    let gets = puts.replace("PUT", "GET");
    for (line, expected) in [
        (format!("{block} --rw=write --verify=crc32c"), format!("{puts}, {gets}")),
        (format!("{block} --rw=write --io_size=4k {S3}"), "PUT /dav/obj_0_4096".to_owned()),
        (format!("{block} --rw=write --http_object_mode=range --io_size=8k"), "PUT /dav/obj, PUT /dav/obj".to_owned()),
        (
            "--size=16k --bs=4k --rw=write --filename=/dav/x:/dav/y --io_size=8k".to_owned(),
            "PUT /dav/x_0_4096, PUT /dav/y_0_4096".to_owned(),
        ),
        (
            "--size=4k --bs=4k --rw=write --filename_format=/dav/x.$jobnum.$filenum".to_owned(),
            "PUT /dav/x.0.0_0_4096".to_owned(),
        ),
        (
            "--size=4k --bs=4k --rw=write --filename=/dav/o+j~e@=é".to_owned(),
            "PUT /dav/o%2Bj~e%40%3D%C3%A9_0_4096".to_owned(),
        ),
    ] {
        let store = MemoryStore::start(StoreFault::None);
        store.fio(&line).expect_code(0);
        assert_eq!(store.lines().join(", "), expected, "{line}");
    }
    let store = MemoryStore::start(StoreFault::None);
    store.fio(&format!("{block} --rw=write")).expect_code(0);
    assert_eq!(store.names().len(), 4);
    store.fio(&format!("{block} --rw=trim")).expect_code(0);
    assert_eq!(store.names(), [""; 0]);
    // As in fio, an object that is not there need not be deleted.
    store.fio(&format!("{block} --rw=trim")).expect_code(0);
    assert_eq!(store.lines().iter().filter(|line| line.starts_with("DELETE")).count(), 8);
}

#[test]
fn counts_and_contents_are_those_of_the_job() {
    let store = MemoryStore::start(StoreFault::None);
    let job = "--size=1m --bs=4k --filename=/b/o --verify=crc32c --output-format=json";
    let outcome = store.fio(&format!("{job} --rw=randwrite")).expect_code(0);
    let json = Json::read_after_notes(&outcome.stdout);
    let of = |path: &str| json.items("jobs")[0].whole(path);
    let counts = [of("write/total_ios"), of("write/io_bytes"), of("read/total_ios"), of("read/io_bytes"), of("error")];
    assert_eq!(counts, [256, 1 << 20, 256, 1 << 20, 0]);
    assert_eq!(store.names().len(), 256);
    assert!(store.seen().iter().all(|seen| seen.connection == 0), "the connection is kept");
    let scratch = Scratch::new();
    let log = scratch.text("log");
    store.fio(&format!("{job} --rw=read --io_size=8k --write_iolog={log}")).expect_code(0);
    assert!(scratch.read("log").contains("/b/o read 4096 4096"), "{}", scratch.read("log"));
    assert!(!scratch.read("log").contains("127.0.0.1"), "{}", scratch.read("log"));
    store.fio(&format!("{job} --rw=randread")).expect_code(0);
    store.objects.lock().unwrap().get_mut("/b/o_8192_4096").unwrap()[100] ^= 1;
    let outcome = store.fio(&format!("{job} --rw=read")).expect_code(1);
    assert!(outcome.stderr.contains("/b/o failed: wrong data at offset 8"), "{}", outcome.stderr);
}

#[test]
fn ranges_of_one_object_are_read() {
    let store = MemoryStore::start(StoreFault::None);
    let object: Vec<u8> = (0..65_536_u32).map(|index| (index / 256) as u8).collect();
    store.objects.lock().unwrap().insert("/b/whole".to_owned(), object);
    store.run("--rw=read --http_object_mode=range --filename=/b/whole --size=64k --bs=16k").expect_one_of(&[0, 4]);
    let ranges: Vec<_> = store.seen().iter().map(|seen| seen.headers["range"].clone()).collect();
    assert_eq!(ranges, ["bytes=0-16383", "bytes=16384-32767", "bytes=32768-49151", "bytes=49152-65535"]);
    let refused =
        store.run("--rw=write --http_object_mode=range --filename=/b/whole --size=64k --bs=16k").expect_code(2);
    assert!(refused.stderr.contains("each write replaces the whole object"), "{}", refused.stderr);
}

#[test]
fn headers_have_what_the_options_say() {
    let header = |line: &str, name: &str| {
        let store = MemoryStore::start(StoreFault::None);
        store.fio(&format!("--size=4k --bs=4k --rw=write --filename=/b/o {line}")).expect_code(0);
        store.seen()[0].headers.get(name).cloned().unwrap_or_default()
    };
    assert_eq!(header("--http_user=Aladdin --http_pass=sesame", "authorization"), "Basic QWxhZGRpbjpzZXNhbWU=");
    assert_eq!(header("--http_mode=swift --http_swift_auth_token=TOKEN", "x-auth-token"), "TOKEN");
    let key = "01234567890123456789012345678901";
    let more = format!(
        "{S3} --http_s3_security_token=ST --http_s3_storage_class=GLACIER --http_s3_region=eu-1 \
                        --http_s3_sse_customer_key={key} --http_s3_sse_customer_algorithm=AES256"
    );
    assert_eq!(header(&more, "x-amz-security-token"), "ST");
    assert_eq!(header(&more, "x-amz-storage-class"), "GLACIER");
    assert_eq!(
        header(&more, "x-amz-server-side-encryption-customer-key"),
        "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    );
    assert!(header(&more, "authorization").contains("/eu-1/s3/aws4_request,"));
}

#[test]
fn closed_connections_and_chunks_are_no_failure() {
    let job = "--size=64k --bs=4k --filename=/b/o --rw=write --verify=crc32c";
    let store = MemoryStore::start(StoreFault::Closes);
    store.fio(job).expect_code(0);
    assert!(store.seen().last().unwrap().connection >= 31, "{:?}", store.seen().last());
    MemoryStore::start(StoreFault::Chunks).fio(job).expect_code(0);
}

/// What a run says fails, where, and what to do.
#[track_caller]
fn fails(fault: StoreFault, line: &str, parts: &[&str]) -> Outcome {
    let store = MemoryStore::start(fault);
    let outcome = store.run(&format!("--size=16k --bs=4k --filename=/b/o {line}")).expect_code(3);
    let url = format!("http://127.0.0.1:{}/b/o_0_4096 failed: ", store.port);
    for part in parts.iter().chain([&url.as_str(), &"help: "]) {
        assert!(outcome.stderr.contains(part), "{fault:?}: `{part}` is missing from {}", outcome.stderr);
    }
    outcome
}

#[test]
fn errors_name_the_request_the_reason_and_the_remedy() {
    let xml = "<Error><Code>SignatureDoesNotMatch</Code><Message>It differs.</Message></Error>";
    let text = "status 403 (SignatureDoesNotMatch: It differs.)";
    fails(StoreFault::Status(403, xml), &format!("--rw=read {S3}"), &["GET http", text, "this host's clock"]);
    fails(StoreFault::Status(301, ""), &format!("--rw=read {S3}"), &["status 301", "http_s3_region"]);
    fails(StoreFault::Status(500, "out of order"), "--rw=read", &["status 500 (out of order)", "the server log"]);
    fails(StoreFault::Status(503, ""), "--rw=read", &["rate_iops"]);
    fails(StoreFault::None, "--rw=read", &["status 404", "write the objects first"]);
    fails(StoreFault::Status(200, "short"), "--rw=read", &["the server sent 5 bytes instead of the block's 4096"]);
}

#[test]
fn malformed_answers_end_the_job() {
    let truncated = b"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\nabc";
    for (fault, part) in [
        (StoreFault::Sends(truncated), "the connection ended within the response"),
        (StoreFault::Sends(b"SSH-2.0-OpenSSH_9\r\n"), "not HTTP/1.1"),
    ] {
        fails(fault, "--rw=read", &[part]);
    }
    let endless = b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    fails(StoreFault::Repeats(endless), "--rw=read", &["more than the block's 4096 bytes"]);
    // An error without end is not read to its end.
    let store = MemoryStore::start(StoreFault::Repeats(b"HTTP/1.1 404 No\r\n\r\nText"));
    store.fio("--size=16k --bs=4k --filename=/b/o --rw=trim").expect_code(0);
}

#[test]
fn silent_and_slow_stores_end_the_job() {
    std::thread::scope(|scope| {
        for fault in [StoreFault::Mute, StoreFault::Drips] {
            scope.spawn(move || fails(fault, "--rw=read", &["the server did not respond"]));
        }
    });
}

#[test]
fn a_job_ends_with_its_runtime_although_the_store_never_answers() {
    let store = MemoryStore::start(StoreFault::Mute);
    let line = "--size=16k --bs=4k --filename=/b/o --rw=read --runtime=1 --grace=1s";
    let outcome = store.run(line).expect_code(3);
    let named = format!("http://127.0.0.1:{}/b/o has not completed after", store.port);
    assert!(outcome.stderr.contains(&named), "{}", outcome.stderr);
    // The patience of the engine ends it otherwise.
    assert!(!outcome.stderr.contains("the server did not respond"), "{}", outcome.stderr);
}

#[test]
fn a_signal_ends_a_request() {
    let store = MemoryStore::start(StoreFault::Mute);
    let line = format!(
        "run --name=job --ioengine=http --http_host=127.0.0.1:{} --size=16k --bs=4k --filename=/b/o --rw=read \
         --grace 600s",
        store.port
    );
    let running = Running::start(&mut fathom(words(&line)));
    wait_for("a request", || !store.seen().is_empty());
    running.signal("INT");
    let outcome = running.end().expect_code(130);
    // The patience of the engine ends it otherwise.
    assert!(!outcome.stderr.contains("the server did not respond"), "{outcome:#?}");
}

#[test]
fn objects_are_written_only_with_permission() {
    let store = MemoryStore::start(StoreFault::None);
    let url = format!("http://127.0.0.1:{}/b/o", store.port);
    for direction in ["write", "randtrim", "randrw"] {
        let line = format!("--rw={direction} --size=16k --bs=4k --filename=/b/o");
        let refused = store.run(&line).expect_code(2);
        assert!(refused.stderr.contains(&format!("add --allow-destroy={url}")), "{}", refused.stderr);
        store.run(&format!("{line} --allow-destroy={url}x")).expect_code(2);
    }
    assert_eq!(store.lines(), [""; 0], "nothing was requested");
    let line = format!("--rw=write --size=16k --bs=4k --filename=/b/o --allow-destroy={url}");
    let dry = store.run(&format!("{line} --dry-run")).expect_code(0);
    assert!(dry.stdout.contains(&format!("WRITES {url} (objects), bytes 0 to 16,384")), "{}", dry.stdout);
    assert_eq!(store.lines(), [""; 0], "nothing was requested");
    store.run(&line).expect_one_of(&[0, 4]);
    assert_eq!(store.names().len(), 4);
    store.run("--rw=randread --size=16k --bs=4k --filename=/b/o").expect_one_of(&[0, 4]);
}

#[test]
fn impossible_jobs_are_refused_before_any_request() {
    let store = MemoryStore::start(StoreFault::None);
    for (line, part) in [
        ("--filename=b/o", "start with a slash"),
        ("", "needs object names"),
        ("--filename=/b/o --http_mode=s3", "needs `http_s3_keyid`"),
        ("--filename=/b/o --http_mode=swift", "needs `http_swift_auth_token`"),
        ("--filename=/b/o --http_s3_region=x", "has no effect with this `http_mode`"),
        ("--filename=/b/o --fsync=1", "cannot be synced"),
        ("--filename=/b/o --unlink=1", "has no effect on objects"),
        ("--filename=/b/o --directory=/tmp", "objects have no directory"),
        ("--filename=/b/o --http_host=http://h/", "not a host name or address"),
        ("--filename=/b/o --iodepth=4", "keeps one operation in flight"),
    ] {
        let outcome = store.run(&format!("--rw=read --size=16k --bs=4k {line}")).expect_code(2);
        assert!(outcome.stderr.contains(part) && outcome.stderr.contains("help: "), "{line}: {}", outcome.stderr);
    }
    let key = format!("--filename=/b/o {S3} --http_s3_sse_customer_key=SECRET-in-clear");
    let outcome = store.run(&format!("--rw=read --size=16k --bs=4k {key}")).expect_code(2);
    assert!(outcome.stderr.contains("an AES256 key has 32 bytes"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("in-clear"), "{}", outcome.stderr);
    assert_eq!(store.lines(), [""; 0]);
}

#[test]
fn credentials_are_neither_printed_nor_kept() {
    let scratch = Scratch::new();
    let key = "key-in-clear-345678901234567890";
    let s3 = format!("{S3} --http_s3_security_token=TOKEN-in-clear --http_s3_sse_customer_key={key}x");
    let dav = "--http_user=user --http_pass=PASSWORD-in-clear";
    let swift = "--http_mode=swift --http_swift_auth_token=TOKEN-in-clear";
    for fault in [StoreFault::None, StoreFault::Echo] {
        for access in [s3.as_str(), dav, swift] {
            let store = MemoryStore::start(fault);
            let job = format!("--size=8k --bs=4k --filename=/b/o --rw=write --http_verbose=2 {access}");
            for line in [
                format!(
                    "fio --name=job --ioengine=http --http_host=127.0.0.1:{} {job} --output-format=json,normal,terse",
                    store.port
                ),
                format!(
                    "run --format=json --name=job --ioengine=http --http_host=127.0.0.1:{0} {job} \
                     --allow-destroy=http://127.0.0.1:{0}/b/o",
                    store.port
                ),
                format!(
                    "fio --showcmd {}",
                    scratch.write(
                        "job.fio",
                        format!("[job]\nioengine=http\n{}", job.replace("--", "").replace(' ', "\n"))
                    )
                ),
                format!("fio --name=job --ioengine=http --http_host=127.0.0.1 {job} --bs=wrong"),
                format!("run --name=job --ioengine=http {job} --bs=wrong"),
                format!("run --name=job --ioengine=http --http_host=u:pw-in-clear@127.0.0.1 {job}"),
                format!("run --name=job --ioengine=http {job} --http_host=https://u:pw-in-clear@127.0.0.1"),
                "fio --name=job --ioengine=null --size=4k --http_host u:pw-in-clear@127.0.0.1".to_owned(),
                "sim --on gcp/pd-ssd,size=1TiB --http_host u:pw-in-clear@127.0.0.1 --name=x --rw=read".to_owned(),
            ] {
                let mut command = fathom(words(&line));
                let outcome = run(command.env("FATHOM_HOME", scratch.path("home")).env_remove("FATHOM_NO_RECORD"));
                let printed = format!("{}{}", outcome.stdout, outcome.stderr);
                assert!(!printed.contains("in-clear"), "{line}: {printed}");
                assert!(!line.contains("json") || printed.contains("***"), "{line}: {printed}");
                assert!(!line.contains("json") || printed.contains("PUT http://127.0.0.1"), "{line}: {printed}");
            }
        }
    }
    let found = run(Command::new("grep").args(["-r", "in-clear", &scratch.text("home")]));
    assert_eq!((found.code(), found.stdout.as_str()), (Some(1), ""), "nothing is kept: {found:#?}");
    let kept = run(Command::new("grep").args(["-rl", "127.0.0.1", &scratch.text("home")]));
    assert!(kept.stdout.lines().count() >= 6, "the runs are kept: {kept:#?}");
}

/// Starts a Python program that prints a line when it is ready, which is returned.
fn python(script: &str, arguments: &[&str]) -> (Running, String) {
    let scratch = Scratch::new();
    let ready = scratch.text("ready");
    let mut command = Command::new("/usr/bin/python3");
    let running = Running::start(command.args(["-c", script, &ready]).args(arguments));
    wait_for("a store", || std::fs::read_to_string(&ready).is_ok_and(|text| text.ends_with('\n')));
    (running, scratch.read("ready").trim().to_owned())
}

const MOTO: &str = r#"
import sys, time, urllib.request
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
url = f"http://127.0.0.1:{port}"
import boto3
def client(name):
    return boto3.client(name, endpoint_url=url, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
iam = client("iam")
iam.create_user(UserName="u")
key = iam.create_access_key(UserName="u")["AccessKey"]
policy = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}'
iam.put_user_policy(UserName="u", PolicyName="p", PolicyDocument=policy)
client("s3").create_bucket(Bucket="bucket")
# From now on each request must be signed by this key.
urllib.request.urlopen(urllib.request.Request(url + "/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"})).read()
open(sys.argv[1], "w").write(f"{port} {key['AccessKeyId']} {key['SecretAccessKey']}\n")
time.sleep(600)
"#;

#[test]
fn a_store_that_checks_signatures_accepts_them() {
    require!(Python, ObjectStores);
    let (_server, line) = python(MOTO, &[]);
    let [port, id, secret] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let job = format!(
        "fio --name=job --ioengine=http --http_mode=s3 --http_host=127.0.0.1:{port} --size=64k --bs=4k \
         --http_s3_keyid={id}"
    );
    let scratch = Scratch::new();
    let job = |more: &str| {
        let mut words = words(&format!("{job} {more}"));
        words.push("--filename=/bucket/a b".to_owned());
        run(fathom(words).current_dir(&scratch))
    };
    job(&format!("--rw=randwrite --verify=crc32c --http_s3_key={secret}")).expect_code(0);
    job(&format!("--rw=randread --http_s3_key={secret}")).expect_code(0);
    let outcome = job(&format!("--rw=randread --http_s3_key={secret}x")).expect_code(1);
    assert!(outcome.stderr.contains("SignatureDoesNotMatch"), "{outcome:#?}");
    assert!(!outcome.stderr.contains(secret) && !outcome.stdout.contains(secret), "{outcome:#?}");
    job(&format!("--rw=trim --http_s3_key={secret}")).expect_code(0);
    let outcome = job(&format!("--rw=read --http_s3_key={secret}")).expect_code(1);
    assert!(outcome.stderr.contains("NoSuchKey"), "{outcome:#?}");
}

const WEBDAV: &str = r#"
import sys
from cheroot import wsgi
from wsgidav.wsgidav_app import WsgiDAVApp
config = {
    "provider_mapping": {"/dav": sys.argv[2]},
    "simple_dc": {"user_mapping": {"*": {"user": {"password": "secret"}}}},
    "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
    "verbose": 0,
    "logging": {"enable": False},
}
server = wsgi.Server(("127.0.0.1", 0), WsgiDAVApp(config))
server.prepare()
open(sys.argv[1], "w").write(f"{server.bind_addr[1]}\n")
server.serve()
"#;

#[test]
fn a_webdav_server_stores_what_is_written() {
    require!(Python, ObjectStores);
    let (scratch, state) = (Scratch::new(), Scratch::new());
    let (_server, port) = python(WEBDAV, &[scratch.path("").to_str().unwrap()]);
    let job = format!(
        "fio --name=job --ioengine=http --http_host=127.0.0.1:{port} --size=64k --bs=4k --filename=/dav/o --http_user=user"
    );
    let job = |more: &str| run(fathom(words(&format!("{job} {more}"))).current_dir(&state));
    job("--rw=randwrite --verify=crc32c --http_pass=secret").expect_code(0);
    assert_eq!(scratch.names().len(), 16);
    assert_eq!(std::fs::metadata(scratch.path("o_8192_4096")).unwrap().len(), 4096);
    let outcome = job("--rw=read --http_pass=wrong");
    assert!(outcome.stderr.contains("status 401") && outcome.stderr.contains("`http_pass`"), "{outcome:#?}");
    job("--rw=trim --http_pass=secret").expect_code(0);
    assert_eq!(scratch.names().len(), 0);
}

const TLS: &str = r#"
import http.server, ssl, sys
objects = {}
class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *arguments): pass
    def reply(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_PUT(self):
        objects[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.reply(201)
    def do_GET(self):
        self.reply(200, objects[self.path]) if self.path in objects else self.reply(404)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
server.socket = context.wrap_socket(server.socket, server_side=True)
open(sys.argv[1], "w").write(f"{server.server_port}\n")
server.serve_forever()
"#;

#[test]
fn encrypted_connections_check_certificates_unless_told_not_to() {
    require!(Python, Openssl);
    let scratch = Scratch::new();
    let (_server, _, port) = tls_store(&scratch);
    let job = format!("fio --name=job --ioengine=http --http_host=127.0.0.1:{port} --bs=64k --filename=/o");
    let of = |more: &str| run(fathom(words(&format!("{job} {more}"))).current_dir(&scratch));
    of("--https=insecure --rw=write --size=1m --verify=crc32c").expect_code(0);
    of("--https=insecure --rw=randread --size=1m").expect_code(0);
    let outcome = of("--https=on --rw=read --size=1m");
    assert!(outcome.stderr.contains("certificate") && outcome.stderr.contains("`https=insecure`"), "{outcome:#?}");
    let outcome = of("--rw=read --size=1m").expect_code(1);
    assert!(outcome.stderr.contains("check whether `https`"), "{outcome:#?}");
    let store = MemoryStore::start(StoreFault::None);
    let outcome = store.fio("--https=insecure --rw=read --size=4k --bs=4k --filename=/o");
    assert!(outcome.code() == Some(1) && outcome.stderr.contains("`https`"), "{outcome:#?}");
}

/// Only a namespace of the test trusts the certificate.
#[test]
fn certificates_of_trusted_authorities_are_accepted() {
    require!(Python, Openssl, Root);
    let scratch = Scratch::new();
    let (_server, certificate, port) = tls_store(&scratch);
    let job = "fio --name=job --ioengine=http --https=on --bs=64k --size=1m --filename=/o --rw=write --verify=crc32c";
    let of = |host: &str| {
        let inner = fathom(words(&format!("{job} --http_host={host}:{port}")));
        let script = "mount --bind \"$0\" /etc/ssl/certs/ca-certificates.crt && exec \"$@\"";
        let mut outer = Command::new("unshare");
        outer.args(["-m", "sh", "-c", script, &certificate]).arg(inner.get_program()).args(inner.get_args());
        run(outer.env("FATHOM_NO_RECORD", "1").env("NO_COLOR", "1").current_dir(&scratch))
    };
    of("127.0.0.1").expect_code(0);
    let outcome = of("localhost").expect_code(1);
    assert!(outcome.stderr.contains("certificate") && outcome.stderr.contains("use the host name"), "{outcome:#?}");
}

/// Starts a store with TLS. Returns it with its certificate and its port.
fn tls_store(scratch: &Scratch) -> (Running, String, String) {
    let (key, certificate) = (scratch.text("key"), scratch.text("certificate"));
    let make = format!(
        "req -x509 -newkey rsa:2048 -nodes -subj /CN=store -addext subjectAltName=IP:127.0.0.1 \
         -addext basicConstraints=critical,CA:FALSE -days 2 -keyout {key} -out {certificate}"
    );
    run(Command::new("openssl").args(words(&make))).expect_code(0);
    let (server, port) = python(TLS, &[&certificate, &key]);
    (server, certificate, port)
}

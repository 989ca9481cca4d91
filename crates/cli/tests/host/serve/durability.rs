//! Acknowledged and flushed writes survive the death of 28 servers and 28 clients under load.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use units::random::Random;

use super::client::{Client, WRITE, request};
use super::ledger::{BLOCK, Ledger, Promise, load};
use super::place::Place;
use crate::common::{Scratch, wait_for};

/// Killed servers or clients per server configuration.
const KILLS: u32 = 7;
const SIZE: u64 = 1 << 30;

/// A server over a file, a ledger of its clients' writes, and random moments of kills.
struct Trial {
    place: Place,
    scratch: Scratch,
    words: &'static str,
    ledger: Ledger,
    random: Random,
}

impl Trial {
    fn new(words: &'static str) -> Self {
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = std::env::var("FATHOM_TEST_SEED").map_or(clock, |seed| seed.parse().expect("a number"));
        println!("`{words}`: again with FATHOM_TEST_SEED={seed}");
        let (place, scratch) = (Place::new(), Scratch::new());
        scratch.sparse("disk", SIZE);
        Self { place, scratch, words, ledger: Ledger::new(), random: Random::new(seed, 0) }
    }

    fn serve(&self) -> crate::common::Running {
        self.place.serve(&format!("{} --backing file:{}", self.words, self.scratch.text("disk")))
    }

    fn client(&self) -> Client {
        Client::connect(&self.place.path("s"), "")
    }

    /// Returns the number of replies after which a server or a client is killed.
    fn moment(&mut self) -> u64 {
        100 + self.random.below(600)
    }

    fn content(&self) -> Vec<u8> {
        let mut bytes = vec![0; Ledger::BYTES];
        File::open(self.scratch.path("disk")).unwrap().read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Checks that there was enough load for the trial to be meaningful.
    fn expect_load(&self) {
        let (writes, kept) = (self.ledger.writes(), self.ledger.blocks_flushed());
        println!("{writes} writes, {kept} blocks flushed");
        assert!(writes > 200 && kept > 100, "{writes} writes, {kept} blocks flushed");
    }
}

/// Kills servers under load, and checks that the file holds all flushed writes. The next server continues with it.
fn servers_are_killed(words: &'static str) {
    let mut trial = Trial::new(words);
    for _ in 0..KILLS {
        let (server, mut client, moment) = (trial.serve(), trial.client(), trial.moment());
        let Trial { ledger, random, .. } = &mut trial;
        let replies = AtomicU64::new(0);
        let is_never_enough = || {
            replies.fetch_add(1, Ordering::Relaxed);
            false
        };
        std::thread::scope(|scope| {
            let client = scope.spawn(|| load(&mut client, ledger, random, is_never_enough));
            wait_for("the load", || replies.load(Ordering::Relaxed) >= moment || client.is_finished());
            server.signal("KILL");
            client.join().expect("no reply is an error").expect_err("the server is gone");
        });
        server.end();
        trial.ledger.check(&trial.content(), Promise::Flushed).unwrap();
    }
    trial.expect_load();
}

/// Disconnects clients under load in the middle of a request, and checks that the server continues with another client
/// and that a new client finds all acknowledged writes.
fn clients_are_killed(words: &'static str) {
    let mut trial = Trial::new(words);
    let _server = trial.serve();
    let mut other = trial.client();
    for round in 0..KILLS {
        let (mut client, moment, replies) = (trial.client(), trial.moment(), Cell::new(0));
        let enough = || replies.replace(replies.get() + 1) >= moment;
        load(&mut client, &mut trial.ledger, &mut trial.random, enough).expect("the server lives");
        let half = request(WRITE, 0, 99, SIZE / 4, BLOCK as u32, &[0xff; BLOCK / 2]);
        client.stream.write_all(&half).expect("a write");
        drop(client);
        let mark = [round as u8; BLOCK];
        other.write(SIZE / 2, &mark);
        assert_eq!(other.read(SIZE / 2, BLOCK as u32), mark);
        trial.ledger.check(&trial.client().read(0, Ledger::BYTES as u32), Promise::Acknowledged).unwrap();
        assert_eq!(other.read(SIZE / 4, BLOCK as u32), [0; BLOCK], "half a request was carried out");
    }
    trial.expect_load();
}

#[test]
fn nothing_flushed_is_lost_with_a_server() {
    servers_are_killed("");
}

#[test]
fn nothing_flushed_is_lost_with_a_server_past_the_page_cache() {
    servers_are_killed("--direct");
}

#[test]
fn nothing_flushed_is_lost_with_a_server_of_a_model() {
    servers_are_killed("aws/gp3,size=1GiB");
}

#[test]
fn nothing_flushed_is_lost_with_a_server_of_a_model_past_the_page_cache() {
    servers_are_killed("aws/gp3,size=1GiB --direct");
}

#[test]
fn nothing_acknowledged_is_lost_with_a_client() {
    clients_are_killed("");
}

#[test]
fn nothing_acknowledged_is_lost_with_a_client_past_the_page_cache() {
    clients_are_killed("--direct");
}

#[test]
fn nothing_acknowledged_is_lost_with_a_client_of_a_model() {
    clients_are_killed("aws/gp3,size=1GiB");
}

#[test]
fn nothing_acknowledged_is_lost_with_a_client_of_a_model_past_the_page_cache() {
    clients_are_killed("aws/gp3,size=1GiB --direct");
}

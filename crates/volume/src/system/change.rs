//! Changes volumes in use.

use std::collections::BTreeSet;

use units::Nanos;

use super::{
    Attachment, LatencyVolume, LimiterCounts, StageKey, System, SystemPart, SystemStages, Volume, credits_at_start,
};
use crate::spec::{Behaviour, LatencySpec, Spec};

impl System {
    /// Switches to new specs of the same attachments at `now`, which must not precede earlier events.
    ///
    /// Requests that have arrived keep their times: to admit them again would let both rates pass at once. An existing
    /// limit or station keeps its counters, backlog and credits; a new one counts as measured since time zero. Drives
    /// keep their mechanics, and volumes their size and machine, even if the specs differ.
    ///
    /// # Panics
    /// Panics if the volumes or the number of attachments differ.
    pub fn change(&mut self, now: Nanos, attachments: &[Attachment]) {
        assert_eq!(attachments.len(), self.routes.len(), "the number of attachments must not change");
        let stages = &mut self.stages;
        let (volumes, records) = (stages.volumes.len(), stages.records.len());
        stages.reconfigure(now, attachments);
        self.routes = attachments.iter().map(|attachment| stages.route(attachment)).collect();
        assert_eq!(stages.volumes.len(), volumes, "the volumes must not change");
        let new = stages.records[records..].iter_mut();
        new.for_each(|record| record.tally.begin(Nanos::ZERO, LimiterCounts::default()));
    }
}

impl SystemStages {
    /// Updates existing stages. Of attachments that share a limit, the first one determines it, as at the start.
    fn reconfigure(&mut self, now: Nanos, attachments: &[Attachment]) {
        let mut seen = BTreeSet::new();
        for attachment in attachments.iter().flat_map(Attachment::members) {
            let attachment = &attachment;
            let Spec { limits, stations, behaviour, .. } = &attachment.spec;
            for limit in limits {
                let known = StageKey::of(attachment, &limit.scope, &limit.name);
                let Some(&at) = self.limiter_index.get(&known) else { continue };
                let part = SystemPart::Limiter(at);
                if seen.insert(part) {
                    self.limiters[at].reconfigure(now, limit);
                    for record in self.records.iter_mut().filter(|record| record.part == part) {
                        (record.rule, record.credits) = (limit.rule.clone(), credits_at_start(limit));
                    }
                }
            }
            for station in stations {
                let known = StageKey::of(attachment, &station.scope, &station.name);
                let Some(&at) = self.station_index.get(&known) else { continue };
                let part = SystemPart::Station(at);
                if seen.insert(part) {
                    self.stations[at].reconfigure(station);
                    for record in self.records.iter_mut().filter(|record| record.part == part) {
                        record.rule.clone_from(&station.rule);
                    }
                }
            }
            let volume = self.volume_index.get(&attachment.volume).map(|&at| &mut self.volumes[at]);
            if let (Some(Volume::Latency(latency_volume)), Behaviour::Latency(latency)) = (volume, behaviour) {
                latency_volume.change(now, latency, &attachment.spec, self.seed);
            }
        }
    }
}

impl LatencyVolume {
    /// Switches to another latency. Written blocks stay written.
    fn change(&mut self, now: Nanos, latency: &LatencySpec, spec: &Spec, seed: u64) {
        let new = Self::new(latency, spec.size.get(), seed, now.get());
        self.law = new.law;
        self.bytes_per_sec = new.bytes_per_sec;
        self.unwritten = match (new.unwritten, self.unwritten.take()) {
            (Some((law, _)), Some((_, written))) => Some((law, written)),
            (new, _) => new,
        };
        if self.spells.as_ref().map(super::SlowPeriodState::spells) != latency.spells {
            self.spells = new.spells;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::StageKind;
    use super::*;
    use crate::catalogue::resolve;
    use crate::request::{Request, RequestKind};

    fn attachment(words: &str) -> Attachment {
        Attachment { spec: resolve(words).expect("a volume"), volume: "disk".to_owned() }
    }

    fn system(words: &str) -> System {
        let mut system = System::new(&[attachment(words)], 1);
        system.measure(Nanos::ZERO, 0, true);
        system
    }

    /// Returns the reads of a closed loop with 16 in flight that complete between two instants.
    fn reads(system: &mut System, from: Nanos, until: Nanos) -> usize {
        let read = |id| Request { id, kind: RequestKind::Read, offset: 0, length: 4096 };
        (0..16).for_each(|id| system.arrive(from, 0, read(id)));
        let mut ended = 0;
        while let Some((at, id)) = system.next_done(Nanos::MAX) {
            if at < until {
                ended += 1;
                system.arrive(at, 0, read(id));
            }
        }
        ended
    }

    #[test]
    fn a_changed_limit_keeps_its_counters_and_applies_the_new_rate() {
        let mut system = system("custom,iops=1000,latency=100us");
        let at = Nanos::from_secs;
        assert!(reads(&mut system, at(0), at(1)).abs_diff(1000) <= 6);
        system.change(at(2), &[attachment("custom,iops=200,latency=100us")]);
        assert!(reads(&mut system, at(2), at(3)).abs_diff(200) <= 3);
        let stages = system.stages(at(4));
        assert_eq!(stages.len(), 1);
        assert!(stages[0].requests > 1200 && stages[0].rule.contains("200"), "{:?}", stages[0]);
    }

    #[test]
    fn removed_limits_keep_their_statistics() {
        let mut system = system("custom,iops=1000,latency=100us");
        let at = Nanos::from_secs;
        reads(&mut system, at(0), at(1));
        system.change(at(2), &[attachment("custom,throughput=400KiB/s,latency=1ms")]);
        assert!(reads(&mut system, at(2), at(3)).abs_diff(100) <= 3);
        let stages = system.stages(at(4));
        let of = |name: &str| stages.iter().find(|stage| stage.name == name).expect("a stage");
        let (iops, throughput) = (of("volume IOPS"), of("volume throughput"));
        assert!(iops.requests >= 1000 && iops.routes.is_empty(), "{iops:?}");
        assert!(throughput.requests >= 100 && throughput.routes == [0], "{throughput:?}");
        assert!((0.2..0.4).contains(&throughput.utilisation), "one second of four: {throughput:?}");
        assert_eq!(throughput.kind, StageKind::Limit);
        system.change(at(4), &[attachment("custom,iops=1000,latency=100us")]);
        assert!(reads(&mut system, at(4), at(5)).abs_diff(1000) <= 6);
        assert!(system.stages(at(6)).iter().any(|stage| stage.name == "volume IOPS" && stage.requests >= 2000));
    }

    #[test]
    fn requests_in_flight_keep_their_times() {
        let mut system = system("custom,latency=5ms");
        system.arrive(Nanos::ZERO, 0, Request { id: 3, kind: RequestKind::Write, offset: 0, length: 512 });
        system.change(Nanos::from_millis(1), &[attachment("custom,latency=1ms,iops=10")]);
        system.arrive(Nanos::from_millis(1), 0, Request { id: 4, kind: RequestKind::Write, offset: 0, length: 512 });
        assert_eq!(system.next_done(Nanos::MAX), Some((Nanos::from_millis(2), 4)));
        assert_eq!(system.next_done(Nanos::MAX), Some((Nanos::from_millis(5), 3)));
    }

    #[test]
    fn a_drive_keeps_its_commands() {
        let mut system = system("hdd/7200rpm");
        let read = |id| Request { id, kind: RequestKind::Read, offset: u64::from(id) << 30, length: 4096 };
        (0..8).for_each(|id| system.arrive(Nanos::ZERO, 0, read(id)));
        let _ = system.next_done(Nanos::MAX);
        system.change(Nanos::from_secs(1), &[attachment("hdd/7200rpm")]);
        let mut ids: Vec<u32> = std::iter::from_fn(|| system.next_done(Nanos::MAX)).map(|(_, id)| id).collect();
        ids.sort_unstable();
        assert_eq!(ids.len(), 7);
    }
}

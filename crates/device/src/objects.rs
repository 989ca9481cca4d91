//! Objects of a store: settings of the engine `http`.

use engine::{ObjectStoreSetup, StoreTls, StoredObjects};
use job::{Job, ObjectStoreMode, ObjectStoreOptions, StoreEncryption};
use object_wire::{CustomerKey, S3Access, StoreAccess, StoreProtocol};
use runner::{WorkerError, WorkerPlan};

use crate::safety;
use crate::shared_run::{SharedRun, worker_error};

/// Returns the store of a worker; none for other engines.
pub(crate) fn setup(
    worker_plan: &WorkerPlan,
    job: &Job,
    shared: &SharedRun,
) -> Result<Option<ObjectStoreSetup>, WorkerError> {
    if !job.engine.engine.is_of_objects() {
        return Ok(None);
    }
    let options = &job.engine.objects;
    let (host, port) = options.address().ok_or_else(|| WorkerError::new("http_host is not a host".to_owned()))?;
    let objects = worker_plan.files.files.iter().map(|file| {
        let url = file.path.clone();
        let permit = safety::changes_targets(job).then(|| shared.gate.admit_objects(&url)).transpose();
        let permit = permit.map_err(|denied| worker_error(&denied.into()))?;
        Ok(StoredObjects { path: options.path(&url).to_owned(), url, permit })
    });
    Ok(Some(ObjectStoreSetup {
        access: access(options),
        host: host.to_owned(),
        port,
        tls: match options.encryption {
            StoreEncryption::Off => StoreTls::Off,
            StoreEncryption::On => StoreTls::Verified,
            StoreEncryption::Insecure => StoreTls::Unverified,
        },
        objects: objects.collect::<Result<_, WorkerError>>()?,
        ranged: options.ranged,
        verbosity: options.verbosity,
        journal: shared.journals.of_worker(worker_plan.number),
    }))
}

fn access(options: &ObjectStoreOptions) -> StoreAccess {
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    let protocol = match options.mode {
        ObjectStoreMode::WebDav => {
            let user = given(&options.user).or_else(|| given(&options.password.0).map(|_| String::new()));
            StoreProtocol::WebDav { user: user.map(|user| (user, options.password.0.clone())) }
        }
        ObjectStoreMode::Swift => StoreProtocol::Swift { token: options.swift_token.0.clone() },
        ObjectStoreMode::S3 => StoreProtocol::S3(S3Access {
            key_id: options.s3_key_id.0.clone(),
            secret: options.s3_key.0.clone(),
            security_token: given(&options.s3_token.0),
            region: options.s3_region.clone(),
            storage_class: options.s3_storage_class.clone(),
            customer_key: given(&options.s3_customer_key.0)
                .map(|key| CustomerKey { key, algorithm: options.s3_customer_algorithm.clone() }),
        }),
    };
    StoreAccess { host: options.host.clone(), protocol }
}

//! Access to a store: protocol and credentials.

use object_wire::{CustomerKey, S3Access, StoreAccess, StoreProtocol};
use target::spec::{ObjectStoreMode, ObjectStoreOptions};

/// Returns the host header and the credentials.
pub(super) fn of(options: &ObjectStoreOptions) -> StoreAccess {
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

//! The one suite, through a gateway on a real Redis.

mod in_batches {
    use crate::support::Served;

    tollgate_suite::certify! { #[tokio::test] Served::start(|builder| builder).await }
}

mod one_by_one {
    use crate::support::Served;

    tollgate_suite::certify! { #[tokio::test] Served::start(|builder| builder.batching(false)).await }
}

//! The one suite, through a gateway on a real Redis.

mod in_batches {
    use crate::support::served;

    tollgate_suite::certify! { #[tokio::test] served(|builder| builder) }
}

mod one_by_one {
    use crate::support::served;

    tollgate_suite::certify! { #[tokio::test] served(|builder| builder.batching(false)) }
}

//! The one suite, on a store that sends once and on one that may send again.

mod sending_once {
    use crate::served::Served;

    tollgate_suite::certify! { #[tokio::test] Served::start() }
}

mod sending_again {
    use crate::served::Served;

    tollgate_suite::certify! { #[tokio::test] Served::with(|builder| builder.resends(2)) }
}

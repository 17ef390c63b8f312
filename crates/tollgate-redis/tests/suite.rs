//! The one suite, on a store that sends once and on one that may send again.

mod sending_once {
    use crate::served::served;

    tollgate_suite::certify! { #[tokio::test] served() }
}

mod sending_again {
    use crate::served::served_with;

    tollgate_suite::certify! { #[tokio::test] served_with(|builder| builder.resends(2)) }
}

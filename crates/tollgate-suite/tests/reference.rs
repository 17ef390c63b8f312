//! The suite against the reference, and against what it is wrapped in.

mod reference {
    use tollgate_suite::Reference;

    tollgate_suite::certify! { #[tokio::test] Reference::new() }
}

mod shared {
    use std::sync::Arc;

    use tollgate_store::Store;
    use tollgate_suite::Reference;

    tollgate_suite::certify! { #[tokio::test] Arc::new(Reference::new()) as Arc<dyn Store> }
}

mod with_a_deadline {
    use std::time::Duration;

    use tollgate_store::{Deadline, DeadlineError};
    use tollgate_suite::{Reference, Setting};

    fn store() -> Result<Deadline<Reference>, DeadlineError> {
        Deadline::new(Reference::new(), Duration::from_secs(60))
    }

    tollgate_suite::certify! { #[tokio::test] store().unwrap(), Setting { run: u64::MAX, ..Setting::default() } }
}

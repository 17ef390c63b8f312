//! The one suite, on the store in memory and behind every decorator.

mod claims {
    tollgate_suite::certify_claims! { #[tokio::test] tollgate_memory::MemoryStore::new() }
}

mod memory {
    tollgate_suite::certify! { #[tokio::test] tollgate_memory::MemoryStore::new() }
}

mod behind_a_shared_pointer {
    use std::sync::Arc;

    use tollgate_memory::MemoryStore;
    use tollgate_store::Store;

    tollgate_suite::certify! { #[tokio::test] Arc::new(MemoryStore::new()) as Arc<dyn Store> }

    mod claims {
        use std::sync::Arc;

        use tollgate_memory::MemoryStore;
        use tollgate_store::Claims;

        tollgate_suite::certify_claims! { #[tokio::test] Arc::new(MemoryStore::new()) as Arc<dyn Claims> }
    }
}

mod within_a_deadline {
    use std::time::Duration;

    use tollgate_memory::MemoryStore;
    use tollgate_store::Deadline;

    fn store() -> Deadline<MemoryStore> {
        Deadline::new(MemoryStore::new(), Duration::from_secs(5)).expect("five seconds are some")
    }

    tollgate_suite::certify! { #[tokio::test] store() }

    mod claims {
        tollgate_suite::certify_claims! { #[tokio::test] super::store() }
    }
}

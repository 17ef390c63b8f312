//! A test for each case.

/// Makes a test of every case and one of the random histories, for the store that an expression makes.
///
/// The attribute is that of your test runner, so the runtime is yours. The expression is evaluated in an `async`
/// function, and anew for each case and each [`Door`](crate::Door): some stores take the newest time they were ever
/// given for the present of all keys, and each case has times of its own. All of them may be connections to one
/// server. A second expression may give the [`Setting`](crate::Setting).
///
/// ```
/// mod owes {
///     use tollgate_suite::Reference;
///
///     tollgate_suite::certify! { #[tokio::test] Reference::new() }
/// }
///
/// mod owes_on_a_shared_server {
///     use tollgate_core::Timestamp;
///     use tollgate_suite::{Reference, Setting};
///
///     async fn connect() -> Reference {
///         Reference::new()
///     }
///
///     // The server's present, and a number that no other run uses.
///     fn setting() -> Setting {
///         Setting { epoch: Timestamp::from_unix_ms(1_764_500_000_000), run: 0x5EED }
///     }
///
///     tollgate_suite::certify! { #[tokio::test] connect().await, setting() }
/// }
/// ```
#[macro_export]
macro_rules! certify {
    (#[$test:meta] $store:expr $(,)?) => {
        $crate::certify! { #[$test] $store, $crate::Setting::default() }
    };
    (#[$test:meta] $store:expr, $setting:expr $(,)?) => {
        $crate::__with_cases! { __tests { #[$test] $store, $setting } }

        #[$test]
        async fn random_histories_are_answered_as_the_core_does() -> Result<(), $crate::Failure> {
            let setting = $setting;
            for seed in $crate::SEEDS {
                let store = $store;
                $crate::differential(&store, &setting, seed, $crate::STEPS).await?;
            }
            Ok(())
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ({ #[$test:meta] $store:expr, $setting:expr } $($group:ident { $($case:ident)* })*) => {
        $crate::__tests! { @each { #[$test] $store, $setting } $($($case)*)* }
    };
    (@each { #[$test:meta] $store:expr, $setting:expr }) => {};
    (@each { #[$test:meta] $store:expr, $setting:expr } $case:ident $($others:ident)*) => {
        #[$test]
        async fn $case() -> Result<(), $crate::Failure> {
            let setting = $setting;
            for door in $crate::Door::ALL {
                let store = $store;
                let case = $crate::case(stringify!($case));
                case.expect("every name is in the list").run(&store, &setting, door).await?;
            }
            Ok(())
        }

        $crate::__tests! { @each { #[$test] $store, $setting } $($others)* }
    };
}

//! A test for each case about claims.

/// Makes a test of every case about claims and one of the random histories, for the store that an expression makes.
///
/// Attribute, expressions and setting are as for [`certify!`](crate::certify).
///
/// ```
/// mod owes {
///     use tollgate_suite::ReferenceClaims;
///
///     tollgate_suite::certify_claims! { #[tokio::test] ReferenceClaims::new() }
/// }
/// ```
#[macro_export]
macro_rules! certify_claims {
    (#[$test:meta] $claims:expr $(,)?) => {
        $crate::certify_claims! { #[$test] $claims, $crate::Setting::default() }
    };
    (#[$test:meta] $claims:expr, $setting:expr $(,)?) => {
        $crate::__with_claim_cases! { __claim_tests { #[$test] $claims, $setting } }

        #[$test]
        async fn random_histories_are_answered_as_the_reference_does() -> Result<(), $crate::Failure> {
            let setting = $setting;
            for seed in $crate::SEEDS {
                let claims = $claims;
                $crate::claims_differential(&claims, &setting, seed, $crate::CLAIM_STEPS).await?;
            }
            Ok(())
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __claim_tests {
    ({ #[$test:meta] $claims:expr, $setting:expr }) => {};
    ({ #[$test:meta] $claims:expr, $setting:expr } $case:ident $($others:ident)*) => {
        #[$test]
        async fn $case() -> Result<(), $crate::Failure> {
            let setting = $setting;
            let claims = $claims;
            let case = $crate::claim_case(stringify!($case));
            case.expect("every name is in the list").run(&claims, &setting).await
        }

        $crate::__claim_tests! { { #[$test] $claims, $setting } $($others)* }
    };
}

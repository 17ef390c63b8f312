//! Which crate may depend on which. A new arrow is a decision about the architecture: it starts here.

use super::Problems;
use crate::workspace::Package;

/// A crate and the crates of this workspace that it may use, dev-dependencies aside. Nobody lists
/// `tollgate-demo`, `tollgate-bench`, `tollgate-e2e`, `tollgate-suite`, `tollgate-testbed` or `xtask`: they are ends, save that
/// benches need the testbed's servers as tests do.
const ARROWS: [(&str, &[&str]); 18] = [
    ("tollgate-core", &[]),
    ("tollgate-store", &["tollgate-core"]),
    // How counts are kept.
    ("tollgate-memory", &["tollgate-core", "tollgate-store"]),
    ("tollgate-script", &["tollgate-core", "tollgate-store"]),
    ("tollgate-upstash", &["tollgate-core", "tollgate-script", "tollgate-store"]),
    ("tollgate-redis", &["tollgate-core", "tollgate-script", "tollgate-store"]),
    ("tollgate-suite", &["tollgate-core", "tollgate-store"]),
    // Throwaway servers for the tests of those that need one, and what every store on a Redis is tried with.
    (
        "tollgate-testbed",
        &[
            "tollgate-core",
            "tollgate-gateway",
            "tollgate-guard",
            "tollgate-memory",
            "tollgate-script",
            "tollgate-store",
        ],
    ),
    // What is done with them.
    ("tollgate-guard", &["tollgate-core", "tollgate-store"]),
    ("tollgate-webhook", &["tollgate-core", "tollgate-store"]),
    ("tollgate-visitor", &[]),
    (
        "tollgate-http",
        &["tollgate-core", "tollgate-guard", "tollgate-store", "tollgate-visitor", "tollgate-webhook"],
    ),
    // What puts them together.
    ("tollgate-gateway", &["tollgate-core", "tollgate-guard", "tollgate-memory", "tollgate-store"]),
    ("tollgate", LIBRARIES),
    ("tollgate-demo", EVERYTHING),
    ("tollgate-bench", MEASURED),
    // It knows the demo as a program only.
    ("tollgate-e2e", &[]),
    ("xtask", &[]),
];

const LIBRARIES: &[&str] = &[
    "tollgate-core",
    "tollgate-guard",
    "tollgate-http",
    "tollgate-memory",
    "tollgate-redis",
    "tollgate-store",
    "tollgate-upstash",
    "tollgate-visitor",
    "tollgate-webhook",
];

const EVERYTHING: &[&str] = &[
    "tollgate",
    "tollgate-core",
    "tollgate-gateway",
    "tollgate-guard",
    "tollgate-http",
    "tollgate-memory",
    "tollgate-redis",
    "tollgate-script",
    "tollgate-store",
    "tollgate-upstash",
    "tollgate-visitor",
    "tollgate-webhook",
];

/// Everything, with servers to measure it on.
const MEASURED: &[&str] = &{
    let mut all = ["tollgate-testbed"; EVERYTHING.len() + 1];
    let mut at = 0;
    while at < EVERYTHING.len() {
        all[at] = EVERYTHING[at];
        at += 1;
    }
    all
};

/// Crates that know nothing of HTTP, and what would bring it in.
const WITHOUT_HTTP: [&str; 4] = ["tollgate-core", "tollgate-guard", "tollgate-memory", "tollgate-store"];
const HTTP: [&str; 8] =
    ["axum", "axum-core", "http", "http-body", "hyper", "tower-http", "tower-layer", "tower-service"];

pub(super) fn problems(packages: &[Package]) -> Problems {
    packages.iter().flat_map(|package| package_problems(package, packages)).collect()
}

fn package_problems(package: &Package, packages: &[Package]) -> Problems {
    let from = &package.name;
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| name == from) else {
        return vec![format!(
            "{from} is not in the table of arrows: say in xtask/src/tidy/arrows.rs what it may use"
        )];
    };
    let ours = |name: &str| packages.iter().any(|package| package.name == name);
    let forbidden = |name: &str| {
        if ours(name) {
            !allowed.contains(&name)
        } else {
            WITHOUT_HTTP.contains(&from.as_str()) && HTTP.contains(&name)
        }
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| !dependency.dev && forbidden(&dependency.name))
        .map(|dependency| {
            format!(
                "{from} may not depend on {}: xtask/src/tidy/arrows.rs has the allowed arrows",
                dependency.name
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    /// Every known crate, and one more dependency for one of them.
    fn with_edge(from: &str, to: &str, dev: bool) -> Problems {
        let mut packages: Vec<_> = ARROWS.iter().map(|(name, _)| package(name)).collect();
        let edge = Dependency { name: to.to_owned(), dev, versioned: true };
        packages.iter_mut().find(|package| package.name == from).unwrap().dependencies.push(edge);
        problems(&packages)
    }

    fn package(name: &str) -> Package {
        Package {
            name: name.to_owned(),
            manifest: "Cargo.toml".into(),
            license: String::new(),
            lib: None,
            publish: true,
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn each_forbidden_arrow_is_named() {
        for (from, to) in [
            ("tollgate-core", "tollgate-store"),
            ("tollgate-memory", "tollgate-guard"),
            ("tollgate-redis", "tollgate-guard"),
            ("tollgate-upstash", "tollgate-guard"),
            ("tollgate-guard", "tollgate-http"),
            ("tollgate-guard", "tollgate-visitor"),
            ("tollgate-guard", "tollgate-memory"),
            ("tollgate-visitor", "tollgate-store"),
            ("tollgate-store", "tollgate-memory"),
        ] {
            let problems = with_edge(from, to, false);
            assert_eq!(problems.len(), 1, "{from} → {to}");
            assert!(problems[0].starts_with(&format!("{from} may not depend on {to}:")), "{}", problems[0]);
            assert!(
                with_edge(from, to, true).is_empty(),
                "a dev-dependency of {from} on {to} is its own affair"
            );
        }
    }

    #[test]
    fn nobody_depends_on_an_end() {
        for (from, _) in ARROWS {
            for end in [
                "tollgate-bench",
                "tollgate-demo",
                "tollgate-e2e",
                "tollgate-suite",
                "tollgate-testbed",
                "xtask",
            ] {
                let is_measured = (from, end) == ("tollgate-bench", "tollgate-testbed");
                let problems = usize::from(!is_measured);
                assert_eq!(with_edge(from, end, false).len(), problems, "{from} → {end}");
            }
        }
    }

    #[test]
    fn every_arrow_in_the_table_is_allowed_and_points_at_a_known_crate() {
        for (from, allowed) in ARROWS {
            for to in allowed {
                assert!(with_edge(from, to, false).is_empty(), "{from} → {to}");
                assert!(ARROWS.iter().any(|(name, _)| name == to), "{to} is in nobody's row");
            }
        }
    }

    #[test]
    fn the_arrows_form_no_ring() {
        let mut left: Vec<_> = ARROWS.iter().collect();
        while !left.is_empty() {
            let before = left.len();
            let waiting: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
            left.retain(|(_, allowed)| allowed.iter().any(|to| waiting.contains(to)));
            assert!(left.len() < before, "a ring among {waiting:?}");
        }
    }

    #[test]
    fn third_party_crates_are_no_arrows() {
        assert!(with_edge("tollgate-core", "serde", false).is_empty());
    }

    #[test]
    fn the_guard_and_all_below_it_know_nothing_of_http() {
        assert_eq!(with_edge("tollgate-guard", "http", false).len(), 1);
        assert_eq!(with_edge("tollgate-store", "tower-service", false).len(), 1);
        assert!(with_edge("tollgate-guard", "http", true).is_empty());
        assert!(with_edge("tollgate-http", "http", false).is_empty());
    }

    #[test]
    fn an_unknown_crate_is_refused() {
        let problems = problems(&[package("tollgate-new")]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("tollgate-new is not in the table"), "{}", problems[0]);
    }
}

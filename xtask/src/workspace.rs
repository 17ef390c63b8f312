//! The workspace as cargo sees it: where it is, which packages it has, what they depend on.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Result, failure};
use crate::process;

pub(crate) struct Workspace {
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    pub(crate) license: String,
    /// Absent for a package that is only a program.
    pub(crate) lib: Option<PathBuf>,
    pub(crate) publish: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Only for tests, examples and benches.
    pub(crate) dev: bool,
    /// Named by a version, and not by a path alone.
    pub(crate) versioned: bool,
}

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

impl Workspace {
    pub(crate) fn load() -> Result<Self> {
        let args = ["metadata", "--format-version", "1", "--no-deps"];
        let text = process::read(&mut process::cargo(&args))?;
        let metadata: Value = serde_json::from_str(&text)
            .map_err(|error| failure(format!("`cargo metadata` cannot be read: {error}")))?;
        Self::from_metadata(&metadata)
            .ok_or_else(|| failure("`cargo metadata` has another shape than xtask/src/workspace.rs expects"))
    }

    /// `--no-deps` leaves the workspace's own packages, each with what its manifest declares: optional
    /// dependencies and those of other platforms too, which a resolved graph of this machine would hide.
    fn from_metadata(metadata: &Value) -> Option<Self> {
        let packages = metadata["packages"].as_array()?;
        Some(Self {
            target: metadata["target_directory"].as_str()?.into(),
            packages: packages.iter().map(Package::from_metadata).collect::<Option<_>>()?,
        })
    }

    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.publish)
    }
}

impl Package {
    fn from_metadata(package: &Value) -> Option<Self> {
        let is_lib = |target: &&Value| {
            target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib"))
        };
        let lib = package["targets"].as_array()?.iter().find(is_lib);
        let dependency = |dependency: &Value| {
            Some(Dependency {
                name: dependency["name"].as_str()?.to_owned(),
                dev: dependency["kind"] == "dev",
                versioned: dependency["req"] != "*",
            })
        };
        Some(Self {
            name: package["name"].as_str()?.to_owned(),
            manifest: package["manifest_path"].as_str()?.into(),
            license: package["license"].as_str().unwrap_or_default().to_owned(),
            lib: lib.and_then(|lib| lib["src_path"].as_str()).map(PathBuf::from),
            // `publish = false` is an empty list of registries; `null` is every registry.
            publish: package["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
            dependencies: package["dependencies"]
                .as_array()?
                .iter()
                .map(dependency)
                .collect::<Option<_>>()?,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(&self.manifest)
    }
}

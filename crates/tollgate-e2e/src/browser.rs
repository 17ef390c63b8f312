//! A Chromium of its own: headless, with a profile that is thrown away, and told to stay off the network.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities as _, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver};

use crate::failure::{Result, failure};

/// A browser and what drives it.
pub(crate) struct Browser {
    driver: Option<WebDriver>,
    /// After the driver, so that they end in this order.
    processes: Processes,
    profile: TempDir,
}

/// The driver's process and, by its id, the browser's.
struct Processes {
    chromedriver: Child,
    chromium: Option<u64>,
}

/// What a build machine needs, and what keeps the browser from asking anybody but the demo.
const ARGUMENTS: [&str; 18] = [
    "--headless=new",
    // As root there is no sandbox; the only page it shows is ours.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--lang=en-GB",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
    // No name has an address: whoever asks for one is told that it does not exist.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

impl Browser {
    pub(crate) async fn start() -> Result<Self> {
        let profile = TempDir::new()?;
        let mut capabilities = DesiredCapabilities::chrome();
        for argument in ARGUMENTS {
            capabilities.add_arg(argument)?;
        }
        capabilities.add_arg(&format!("--user-data-dir={}", profile.path().join("profile").display()))?;
        capabilities.add_arg(&format!("--log-net-log={}", profile.path().join(LOG).display()))?;
        capabilities.set_browser_log_level(LoggingPrefsLogLevel::All)?;
        capabilities.set_logging_prefs("performance", LoggingPrefsLogLevel::All)?;

        let (chromedriver, port) = chromedriver()?;
        let mut processes = Processes { chromedriver, chromium: None };
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), capabilities).await?;
        processes.chromium = driver.capabilities().get("goog:processID").and_then(Value::as_u64);
        Ok(Self { driver: Some(driver), processes, profile })
    }

    /// The driver.
    ///
    /// # Errors
    /// Only if it has ended.
    pub(crate) fn driver(&self) -> Result<&WebDriver> {
        self.driver.as_ref().ok_or_else(|| failure("the browser has ended"))
    }

    /// One of the browser's own commands.
    pub(crate) async fn command(&self, name: &str, parameters: Value) -> Result<Value> {
        Ok(self.driver()?.cdp().send_raw(name, parameters).await?)
    }

    /// Shows the page as on a screen of this size, in these colours, with these wishes.
    pub(crate) async fn look(&self, width: u32, height: u32, scheme: &str, motion: &str) -> Result {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", size).await?;
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": motion },
        ]);
        self.command("Emulation.setEmulatedMedia", json!({ "features": features })).await?;
        Ok(())
    }

    /// Leaves the page, whose server may end then, and forgets what the console said of it.
    pub(crate) async fn leave(&self) -> Result {
        let driver = self.driver()?;
        driver.goto("about:blank").await?;
        drop(driver.browser_log().await?);
        Ok(())
    }

    /// Ends it in good order; what it did on the network.
    pub(crate) async fn end(mut self) -> Result<String> {
        if let Some(driver) = self.driver.take() {
            driver.quit().await?;
        }
        self.processes.chromium = None;
        Ok(std::fs::read_to_string(self.profile.path().join(LOG))?)
    }
}

const LOG: &str = "network.json";

/// The driver on a port that it chooses.
fn chromedriver() -> Result<(Child, u16)> {
    let mut command = Command::new("chromedriver");
    command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| {
        failure(format!("`chromedriver` cannot be started ({error}): run `cargo xtask e2e`, which brings it"))
    })?;
    let lines = child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines());
    let port = lines.map_while(std::result::Result::ok).find_map(|line| {
        let port = line.split_once("started successfully on port ")?.1;
        port.trim_end_matches('.').parse().ok()
    });
    match port {
        Some(port) => Ok((child, port)),
        None => {
            drop(child.kill());
            drop(child.wait());
            Err(failure("`chromedriver` does not start"))
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // Only where the browser was not ended in good order: the driver would leave it behind.
        if let Some(id) = self.chromium {
            drop(Command::new("kill").args(["-KILL", &id.to_string()]).status());
        }
        drop(self.chromedriver.kill());
        drop(self.chromedriver.wait());
    }
}

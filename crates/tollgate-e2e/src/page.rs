//! The page in the browser: what it says, and what a person does with it.

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::{By, Key};

use crate::{
    browser::Browser,
    demo::Demo,
    failure::{Result, ensure, failure},
};

/// The demo's page, open in the browser.
pub(crate) struct Page<'b> {
    browser: &'b Browser,
}

/// How long a condition may take to hold: a loaded machine is slow, and what waits longer will not come.
const TRIES: u32 = 400;
const PAUSE: Duration = Duration::from_millis(50);

impl<'b> Page<'b> {
    /// Opens it anew, as nobody who was here before, and waits until it is live.
    pub(crate) async fn open(browser: &'b Browser, demo: &Demo) -> Result<Self> {
        browser.command("Network.clearBrowserCookies", json!({})).await?;
        browser.driver()?.goto(demo.url()).await?;
        let page = Self { browser };
        page.run("localStorage.clear()").await?;
        browser.driver()?.refresh().await?;
        page.is_live().await?;
        Ok(page)
    }

    /// Waits until the server has told what there is to show.
    pub(crate) async fn is_live(&self) -> Result {
        self.until("the page is live", "return document.querySelectorAll('#rows tr').length >= 9").await?;
        self.until("the buttons are there", "return document.querySelectorAll('#buttons button').length >= 5")
            .await
    }

    /// What a script returns.
    pub(crate) async fn run(&self, script: &str) -> Result<Value> {
        Ok(self.browser.driver()?.execute(script, Vec::new()).await?.json().clone())
    }

    /// Waits until a script returns true.
    pub(crate) async fn until(&self, what: &str, script: &str) -> Result {
        for _ in 0..TRIES {
            if self.run(script).await? == json!(true) {
                return Ok(());
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "a pause between two looks; the condition decides"
            )]
            tokio::time::sleep(PAUSE).await;
        }
        let text = self.text("body").await.unwrap_or_default();
        Err(failure(format!("it never holds that {what}; the page says:\n{text}")))
    }

    /// Waits until an element's text holds these words.
    pub(crate) async fn says(&self, selector: &str, words: &str) -> Result {
        let script = format!(
            "return document.querySelector({})?.textContent.includes({}) ?? false",
            json!(selector),
            json!(words)
        );
        self.until(&format!("{selector} says {words:?}"), &script).await
    }

    /// An element's text as it is seen.
    pub(crate) async fn text(&self, selector: &str) -> Result<String> {
        Ok(self.browser.driver()?.find(By::Css(selector)).await?.text().await?)
    }

    /// Clicks as a person does: what is covered or out of sight cannot be clicked.
    pub(crate) async fn click(&self, selector: &str) -> Result {
        Ok(self.browser.driver()?.find(By::Css(selector)).await?.click().await?)
    }

    /// Chooses an option of a list.
    pub(crate) async fn choose(&self, selector: &str, value: &str) -> Result {
        self.click(&format!("{selector} option[value={value:?}]")).await
    }

    /// Presses a key.
    pub(crate) async fn press(&self, key: Key) -> Result {
        Ok(self.browser.driver()?.action_chain().send_keys(key).perform().await?)
    }

    /// Waits until the table shows that much used of a key.
    pub(crate) async fn shows_used(&self, key: &str, used: &str) -> Result {
        let script =
            format!("{ROW} return row?.cells[1].textContent === {used}", ROW = row(key), used = json!(used));
        self.until(&format!("{used} is used of {key}"), &script).await
    }

    /// Waits for a condition on the table's row of a key, as `row`.
    pub(crate) async fn row_until(&self, key: &str, what: &str, condition: &str) -> Result {
        self.until(what, &format!("{} return row !== undefined && ({condition})", row(key))).await
    }

    /// Whether nothing stands out at the sides.
    pub(crate) async fn fits(&self) -> Result {
        let script = "return [document.documentElement.scrollWidth, innerWidth]";
        let widths = self.run(script).await?;
        ensure(widths[0].as_u64() <= widths[1].as_u64(), || {
            format!("the page is wider than its window: {widths}")
        })
    }

    /// A picture of what is seen.
    pub(crate) async fn picture(&self) -> Result<Vec<u8>> {
        Ok(self.browser.driver()?.screenshot_as_png().await?)
    }

    /// That the console has said nothing but that limits refused, which is what they are for.
    pub(crate) async fn is_quiet(&self) -> Result {
        for entry in self.browser.driver()?.browser_log().await? {
            let is_refusal = ["429 (Too Many Requests)", "503 (Service Unavailable)", "401 (Unauthorized)"]
                .iter()
                .any(|status| entry.message.contains(status) && entry.message.contains("/api/"));
            ensure(is_refusal, || format!("the console says: {} {}", entry.level, entry.message))?;
        }
        Ok(())
    }

    pub(crate) const fn browser(&self) -> &'b Browser {
        self.browser
    }
}

fn row(key: &str) -> String {
    format!(
        "const row = [...document.querySelectorAll('#rows tr')].find((row) => row.querySelector('.label').textContent === {});",
        json!(key)
    )
}

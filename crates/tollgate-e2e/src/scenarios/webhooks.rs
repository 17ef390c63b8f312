//! One push, delivered twice: it updates a page once, and is counted once for the organization.

use crate::{browser::Browser, demo::Demo, failure::Result, page::Page};

pub(crate) async fn is_worked_on_once(browser: &Browser, demo: &Demo) -> Result {
    let page = Page::open(browser, demo).await?;
    page.click("#sign").await?;
    page.says("#org", "signed in as acme").await?;
    page.shows_used("docs-update:acme", "0 of 15").await?;
    for n in 1..=2 {
        page.click("#replay").await?;
        page.shows_used("docs-update:acme", &format!("{n} of 15")).await?;
        page.says("#status", "200 OK").await?;
        page.says("#body", "queued").await?;
    }
    page.click("#explain summary").await?;
    page.says("#sentences li:nth-child(1)", "delivered it to itself twice").await?;
    page.is_quiet().await
}

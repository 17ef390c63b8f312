//! Another visitor has limits of its own.

use crate::{browser::Browser, demo::Demo, failure::Result, page::Page};

pub(crate) async fn acts_as_somebody_else(browser: &Browser, demo: &Demo) -> Result {
    let page = Page::open(browser, demo).await?;
    page.click("#burst").await?;
    page.says("#took", "25 sent: 15 allowed, 10 refused").await?;
    page.says("#status", "429").await?;
    page.until("one waits", "return ask.ariaDisabled === 'true'").await?;

    page.choose("#role", "cleo").await?;
    page.says("#visitor", "2001:db8:0:1::/64").await?;
    page.until("the other does not", "return ask.ariaDisabled === 'false'").await?;
    page.shows_used("ask:tollgate:2001:db8:0:1::/64", "0 of 15").await?;
    page.shows_used("ask-all", "15 of 5,000").await?;
    page.click("#ask").await?;
    page.shows_used("ask:tollgate:2001:db8:0:1::/64", "1 of 15").await?;

    page.choose("#role", "").await?;
    page.says("#visitor", "local").await?;
    page.shows_used("ask:tollgate:local", "15 of 15").await?;
    page.is_quiet().await
}

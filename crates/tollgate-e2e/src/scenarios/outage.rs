//! The store is cut off: signed-in actions go on, paid public ones stop.

use crate::{browser::Browser, demo::Demo, failure::Result, page::Page};

pub(crate) async fn go_and_stop(browser: &Browser, demo: &Demo) -> Result {
    let page = Page::open(browser, demo).await?;
    page.click("#sign").await?;
    page.says("#org", "signed in as acme").await?;
    page.click("#publish").await?;
    page.shows_used("publish:acme", "1 of 50").await?;

    page.click("#store").await?;
    page.says("#notice", "The store is cut off").await?;
    page.until("the switch is off", "return store.ariaChecked === 'false'").await?;
    page.until("the rows are grey", "return document.getElementById('rows').classList.contains('gone')")
        .await?;
    for (key, word) in [("ask:tollgate:local", "stop"), ("playground:day", "stop"), ("github:acme", "go")] {
        page.row_until(key, &format!("{key} says {word}"), &format!("row.cells[3].textContent === '{word}'"))
            .await?;
    }

    page.click("#ask").await?;
    page.says("#status", "503 Service Unavailable").await?;
    page.click("#explain summary").await?;
    page.says("#sentences li:nth-child(1)", "No limit is known to be reached").await?;
    page.until("who asks need not wait", "return ask.ariaDisabled === 'false'").await?;
    page.click("#chat").await?;
    page.says("#took", "/api/chat").await?;
    page.says("#status", "503 Service Unavailable").await?;

    page.click("#look-up").await?;
    page.says("#status", "200 OK").await?;
    page.says("#took", "not counted").await?;
    page.says("#sentences li:nth-child(1)", "it was let through and not counted").await?;
    page.click("#publish").await?;
    page.says("#took", "/api/publishes").await?;
    page.says("#took", "not counted").await?;
    page.says("#legend", "let through, not counted 2").await?;
    page.says("#legend", "stopped 2").await?;

    page.click("#store").await?;
    page.says("#notice", "Each request is counted in memory").await?;
    page.shows_used("publish:acme", "1 of 50").await?;
    page.click("#ask").await?;
    page.says("#status", "200 OK").await?;
    page.is_quiet().await
}

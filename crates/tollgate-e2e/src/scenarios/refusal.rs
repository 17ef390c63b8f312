//! A limit that refuses, and the way back.

use crate::{
    browser::Browser,
    demo::Demo,
    failure::{Result, ensure},
    page::Page,
};

/// Fifteen questions a day are answered; the sixteenth is refused, and everything on the page says so.
pub(crate) async fn asks_until_refused(browser: &Browser, demo: &Demo) -> Result {
    let page = Page::open(browser, demo).await?;
    for n in 1..=15 {
        page.click("#ask").await?;
        page.shows_used("ask:tollgate:local", &format!("{n} of 15")).await?;
        page.says("#status", "200 OK").await?;
    }
    page.says("#said", "from ").await?;
    page.row_until("ask:tollgate:local", "the bar refuses", "row.classList.contains('refuses')").await?;
    page.row_until(
        "ask-burst:local",
        "a bar that is not near stays calm",
        "!row.classList.contains('nearly')",
    )
    .await?;

    page.click("#ask").await?;
    page.says("#status", "429 Too Many Requests").await?;
    page.says("#fields", "retry-after").await?;
    page.says("#fields", "\"ask\";q=15;w=86400").await?;
    page.says("#body", "violated-policies").await?;
    page.says("#announcer", "Refused: 429. It passes again in ").await?;
    page.says("#ask .hint", "again in ").await?;
    let waits = "return ['ask', 'burst'].every((id) => document.getElementById(id).ariaDisabled === 'true')";
    page.until("whoever sends a question waits", waits).await?;
    // To press it again does nothing at all.
    let before = page.text("#took").await?;
    page.click("#ask").await?;
    ensure(page.text("#took").await? == before, || "a button that waits sends nothing".to_owned())?;

    page.click("#explain summary").await?;
    page.says("#sentences li:nth-child(1)", "The policy ask refused it").await?;
    page.says("#sentences li:nth-child(1)", "charged to none of its 5 limits").await?;
    page.says("#sentences li:nth-child(2)", "ask:tollgate:local").await?;
    page.says("#sentences li:nth-child(3)", "The same request would pass in ").await?;
    page.shows_used("ask-all", "15 of 5,000").await?;
    page.says("#legend", "refused 1").await?;
    page.is_quiet().await
}

/// Signing in is limited to five in ten seconds: the button waits, and is back at that moment, with its focus.
pub(crate) async fn comes_back_by_itself(browser: &Browser, demo: &Demo) -> Result {
    /// All that the button says from now on, since a machine may be too busy to look while it waits.
    const LISTEN: &str = "window.said = [sign.textContent];
        new MutationObserver(() => said.push(sign.textContent))
            .observe(sign, { childList: true, characterData: true, subtree: true })";
    /// Signs in until that is refused, with no cookie kept, and presses the button at once.
    const SPEND: &str = "const done = arguments[arguments.length - 1];
        const spend = async () => {
            const body = JSON.stringify({ org: 'acme' });
            const headers = { 'content-type': 'application/json' };
            for (;;) {
                const answer = await fetch('/api/session', { method: 'POST', headers, body, credentials: 'omit' });
                // Near its end the window could be over before the button is pressed: the next one will do.
                if (answer.status === 429 && Number(answer.headers.get('retry-after')) > 3) break;
            }
            sign.focus();
            sign.click();
        };
        spend().then(() => done(null), (error) => done(String(error)))";
    let page = Page::open(browser, demo).await?;
    page.says("#org", "not signed in").await?;
    page.run(LISTEN).await?;
    let spent = browser.driver()?.execute_async(SPEND, Vec::new()).await?.json().clone();
    ensure(spent.is_null(), || format!("nobody could sign in: {spent}"))?;
    page.says("#status", "429").await?;
    page.until(
        "the button says how long it waits",
        "return said.some((text) => text.includes('again in 0:'))",
    )
    .await?;
    page.says("#announcer", "Signing in is possible again.").await?;
    page.says("#sign", "Sign in as acme").await?;
    page.until("it may be pressed", "return sign.ariaDisabled === 'false'").await?;
    page.until("the focus stays", "return document.activeElement.id === 'sign'").await?;
    page.click("#sign").await?;
    page.says("#org", "signed in as acme").await?;
    page.is_quiet().await
}

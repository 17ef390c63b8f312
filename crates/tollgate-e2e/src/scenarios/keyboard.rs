//! Without a mouse: everything is reached in an order that makes sense, is seen to have the focus, and works.

use std::collections::BTreeSet;

use thirtyfour::Key;

use crate::{
    browser::Browser,
    demo::Demo,
    failure::{Result, ensure},
    page::Page,
};

const CONTROLS: [&str; 12] = [
    "store", "theme", "role", "sign", "question", "ask", "chat", "burst", "look-up", "publish", "panel",
    "summary",
];

/// The name of what has the focus, and whether one sees that it has.
const FOCUSED: &str = "
    const focused = document.activeElement;
    if (focused === document.body) return ['', true];
    const style = getComputedStyle(focused);
    const seen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
    return [focused.id || focused.className || focused.localName, seen];";

pub(crate) async fn reaches_everything(browser: &Browser, demo: &Demo) -> Result {
    let page = Page::open(browser, demo).await?;
    // An answer, so that there is something to explain.
    tab_to(&page, "ask").await?;
    page.press(Key::Enter).await?;
    page.says("#status", "200 OK").await?;

    let mut reached = BTreeSet::new();
    loop {
        page.press(Key::Tab).await?;
        let name = focused(&page).await?;
        if !reached.insert(name) {
            break;
        }
    }
    let missed: Vec<_> = CONTROLS.iter().filter(|control| !reached.contains(**control)).collect();
    ensure(missed.is_empty(), || format!("{missed:?} cannot be reached: only {reached:?} can"))?;

    tab_to(&page, "summary").await?;
    page.press(Key::Enter).await?;
    page.says("#sentences", "All 5 policies let it through").await?;
    tab_to(&page, "store").await?;
    page.press(Key::Space).await?;
    page.says("#notice", "The store is cut off").await?;
    page.press(Key::Space).await?;
    page.says("#notice", "Each request is counted in memory").await?;
    tab_to(&page, "role").await?;
    page.press(Key::Down).await?;
    page.says("#visitor", "203.0.113.7").await?;
    tab_to(&page, "sign").await?;
    page.press(Key::Space).await?;
    page.says("#org", "signed in as acme").await?;
    tab_to(&page, "publish").await?;
    page.press(Key::Enter).await?;
    page.says("#said", "is live").await?;
    tab_to(&page, "theme").await?;
    page.press(Key::Enter).await?;
    page.until("it is dark", "return theme.ariaPressed === 'true'").await?;
    page.is_quiet().await
}

async fn tab_to(page: &Page<'_>, wanted: &str) -> Result {
    // Twice round is more than enough, wherever it begins.
    for _ in 0..40 {
        page.press(Key::Tab).await?;
        if focused(page).await? == wanted {
            return Ok(());
        }
    }
    ensure(false, || format!("{wanted} cannot be reached"))
}

async fn focused(page: &Page<'_>) -> Result<String> {
    let focused = page.run(FOCUSED).await?;
    let name = focused[0].as_str().unwrap_or_default().to_owned();
    ensure(focused[1] == true, || format!("one does not see that {name} has the focus"))?;
    Ok(name)
}

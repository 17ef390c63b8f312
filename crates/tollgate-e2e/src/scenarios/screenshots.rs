//! The pictures of the README: made only after the page was asserted to show what they are to show.

use std::path::Path;

use crate::{
    browser::Browser,
    demo::Demo,
    failure::{Result, ensure},
    page::Page,
};

/// Each of them; they must not weigh on whoever clones the repository.
const MOST_BYTES: usize = 256 * 1024;

pub(crate) async fn take(browser: &Browser, demo: &Demo, folder: Option<&Path>) -> Result {
    for (scheme, role, visitor) in [("light", "cleo", "2001:db8:0:1::/64"), ("dark", "ada", "203.0.113.7")] {
        browser.look(1280, 900, scheme, "reduce").await?;
        let page = Page::open(browser, demo).await?;
        page.choose("#role", role).await?;
        page.says("#visitor", visitor).await?;
        page.click("#sign").await?;
        page.says("#org", "signed in as acme").await?;
        page.click("#chat").await?;
        page.says("#body", "event: done").await?;
        page.click("#burst").await?;
        page.says("#took", "25 sent: 15 allowed, 10 refused").await?;
        page.says("#status", "429 Too Many Requests").await?;
        page.click("#explain summary").await?;
        page.says("#sentences", "The policy ask refused it").await?;
        page.says("#sentences", &format!("ask:tollgate:{visitor}")).await?;
        page.shows_used(&format!("ask:tollgate:{visitor}"), "15 of 15").await?;
        page.says("#legend", "refused ").await?;
        let fold = "return [document.querySelector('.lately').getBoundingClientRect().bottom, innerHeight]";
        let fold = page.run(fold).await?;
        ensure(fold[0].as_f64() <= fold[1].as_f64(), || format!("the chart ends below the fold: {fold}"))?;
        page.is_quiet().await?;
        let picture = page.picture().await?;
        ensure(picture.len() <= MOST_BYTES, || format!("the picture has {} bytes", picture.len()))?;
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join(format!("page-{scheme}.png")), picture)?;
        }
    }
    Ok(())
}

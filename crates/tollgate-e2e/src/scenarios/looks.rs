//! How it looks: on a small screen, in both colours, without motion, and to those who do not see it.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    demo::Demo,
    failure::{Result, ensure, failure},
    page::Page,
};

/// 360 pixels wide, with everything that can be shown, nothing stands out.
pub(crate) async fn fits_a_small_screen(browser: &Browser, demo: &Demo) -> Result {
    browser.look(360, 800, "light", "no-preference").await?;
    let page = Page::open(browser, demo).await?;
    page.fits().await?;
    page.choose("#role", "cleo").await?;
    page.says("#visitor", "2001:db8:0:1::/64").await?;
    page.click("#sign").await?;
    page.says("#org", "signed in as acme").await?;
    page.click("#burst").await?;
    page.says("#status", "429").await?;
    page.click("#explain summary").await?;
    page.says("#sentences", "The policy ask refused it").await?;
    page.fits().await?;
    page.click("#store").await?;
    page.says("#notice", "The store is cut off").await?;
    page.click("#ask").await?;
    page.fits().await?;
    let order = "const top = (selector) => document.querySelector(selector).getBoundingClientRect().top;
        const tops = ['.limits', '.actions', '.answer', '.lately'].map(top);
        return tops.every((top, at) => at === 0 || tops[at - 1] < top)";
    page.until("the answer is below the buttons and the chart last", order).await
}

/// From the first paint on nothing changes its place, on any screen, while all that there is to show arrives.
pub(crate) async fn paints_once(browser: &Browser, demo: &Demo) -> Result {
    const SHIFTS: &str = "const done = arguments[arguments.length - 1];
        new PerformanceObserver((list) => done(list.getEntries().flatMap(({ sources }) =>
            sources.map(({ node, previousRect, currentRect }) =>
                [node?.outerHTML?.slice(0, 200) ?? node?.nodeName, previousRect, currentRect])))
        ).observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done([]))))";
    for (width, height) in [(360, 800), (600, 800), (800, 600), (1280, 900)] {
        browser.look(width, height, "light", "reduce").await?;
        let page = Page::open(browser, demo).await?;
        page.says("#notice", "Each request is counted in memory").await?;
        let shifts = browser.driver()?.execute_async(SHIFTS, Vec::new()).await?.json().clone();
        ensure(shifts == json!([]), || format!("{width} pixels wide, these have moved: {shifts:#}"))?;
        page.is_quiet().await?;
    }
    Ok(())
}

/// The system's colours at first; then the chosen ones, also after coming back.
pub(crate) async fn follows_the_system(browser: &Browser, demo: &Demo) -> Result {
    let page = Page::open(browser, demo).await?;
    let light = paper(&page).await?;
    browser.look(1280, 900, "dark", "no-preference").await?;
    page.until("the switch follows", "return theme.ariaPressed === 'true'").await?;
    let dark = paper(&page).await?;
    ensure(light != dark, || format!("light and dark are both {light}"))?;
    page.click("#theme").await?;
    ensure(paper(&page).await? == light, || "the switch makes it light".to_owned())?;
    browser.driver()?.refresh().await?;
    page.is_live().await?;
    ensure(paper(&page).await? == light, || "the choice is kept".to_owned())?;
    page.click("#theme").await?;
    ensure(paper(&page).await? == dark, || "the switch makes it dark again".to_owned())
}

async fn paper(page: &Page<'_>) -> Result<Value> {
    page.run("return getComputedStyle(document.body).backgroundColor").await
}

/// Motion takes at most 200 ms, and none of those who ask for that.
pub(crate) async fn stands_still(browser: &Browser, demo: &Demo) -> Result {
    let longest = "const seconds = (text) => text.split(',').map(parseFloat);
        const all = [...document.querySelectorAll('*')].flatMap((node) => ['', '::before', '::after'].flatMap((part) => {
            const style = getComputedStyle(node, part || null);
            return [...seconds(style.transitionDuration), ...seconds(style.animationDuration)];
        }));
        return Math.round(Math.max(...all) * 1000)";
    let page = Page::open(browser, demo).await?;
    let usual = page.run(longest).await?;
    ensure((1..=200).contains(&usual.as_u64().unwrap_or_default()), || format!("motion takes {usual} ms"))?;
    browser.look(1280, 900, "light", "reduce").await?;
    let reduced = page.run(longest).await?;
    ensure(reduced == 0, || format!("motion takes {reduced} ms though none is wanted"))
}

/// axe-core finds nothing serious, on the page as it is at first, refused, and without a store, in both colours.
pub(crate) async fn is_accessible(browser: &Browser, demo: &Demo, axe: &str) -> Result {
    for (scheme, role) in [("light", "ada"), ("dark", "ben")] {
        browser.look(1280, 900, scheme, "reduce").await?;
        let page = Page::open(browser, demo).await?;
        check(&page, axe, &format!("{scheme}, at first")).await?;
        page.choose("#role", role).await?;
        page.until("the role is taken", "return visitor.textContent !== 'local'").await?;
        page.click("#sign").await?;
        page.says("#org", "signed in as acme").await?;
        page.click("#burst").await?;
        page.says("#status", "429").await?;
        page.click("#explain summary").await?;
        page.says("#sentences", "The policy ask refused it").await?;
        check(&page, axe, &format!("{scheme}, refused")).await?;
        page.click("#store").await?;
        page.says("#notice", "The store is cut off").await?;
        check(&page, axe, &format!("{scheme}, without a store")).await?;
        browser.look(360, 800, scheme, "reduce").await?;
        check(&page, axe, &format!("{scheme}, small")).await?;
        page.click("#store").await?;
        page.says("#notice", "Each request is counted in memory").await?;
        page.is_quiet().await?;
    }
    Ok(())
}

async fn check(page: &Page<'_>, axe: &str, state: &str) -> Result {
    // The driver puts the script into the page from outside: the page's own policy need not allow it.
    page.run(&format!("if (!window.axe) {{ {axe} }}")).await?;
    let script = "const done = arguments[arguments.length - 1];
        axe.run(document, { resultTypes: ['violations'] }).then(
            ({ violations, passes }) => done([passes.length, violations.map(({ id, impact, nodes }) => [impact, id, ...nodes.map(({ html, any }) => `${html} ${any.map(({ message }) => message)}`)])]),
            (error) => done([0, [['critical', String(error)]]]),
        )";
    let found = page.browser().driver()?.execute_async(script, Vec::new()).await?.json().clone();
    ensure(found[0].as_u64() > Some(10), || format!("{state}: axe-core has checked nothing: {found}"))?;
    let serious = |violation: &&Value| [json!("serious"), json!("critical")].contains(&violation[0]);
    match found[1].as_array().into_iter().flatten().find(serious) {
        Some(violation) => Err(failure(format!("{state}: {violation:#}"))),
        None => Ok(()),
    }
}

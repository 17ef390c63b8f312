//! What comes from the server by itself.

use crate::{
    browser::Browser,
    demo::Demo,
    failure::{Result, ensure},
    page::Page,
};

/// A chat is shown as it comes, and its events as they came.
pub(crate) async fn streams_an_answer(browser: &Browser, demo: &Demo) -> Result {
    let page = Page::open(browser, demo).await?;
    page.click("#chat").await?;
    page.says("#body", "event: done").await?;
    page.says("#body", "event: summary").await?;
    page.says("#fields", "text/event-stream").await?;
    page.says("#said footer", "from outages").await?;
    page.shows_used("playground:minute:local", "1 of 30").await?;
    page.is_quiet().await
}

/// An answer that is still coming does not write into the next one.
pub(crate) async fn keeps_answers_apart(browser: &Browser, demo: &Demo) -> Result {
    /// From now on a chat's answer comes as `tell` says, and ends with `end`.
    const HOLD: &str = "const real = window.fetch;
        const encoded = (text) => new TextEncoder().encode(text);
        const headers = { 'content-type': 'text/event-stream' };
        const start = (stream) => {
            window.tell = (text) => stream.enqueue(encoded(`event: text\\ndata: ${JSON.stringify({ text })}\\n\\n`));
            window.end = () => stream.close();
        };
        window.fetch = async (path, init) =>
            path === '/api/chat' ? new Response(new ReadableStream({ start }), { headers }) : real(path, init)";
    /// The rest, and a moment in which it is read.
    const REST: &str = "const done = arguments[arguments.length - 1];
        tell('and late');
        end();
        requestAnimationFrame(() => requestAnimationFrame(() => done()))";
    let page = Page::open(browser, demo).await?;
    page.run(HOLD).await?;
    page.click("#chat").await?;
    page.until("the chat has begun", "return window.tell !== undefined").await?;
    page.run("tell('slow ')").await?;
    page.says("#said", "slow").await?;
    page.click("#ask").await?;
    page.says("#took", "POST /api/ask").await?;
    page.says("#said", "from ").await?;
    browser.driver()?.execute_async(REST, Vec::new()).await?;
    page.says("#said", "from ").await?;
    let shown = page.text("#body").await?;
    ensure(!shown.contains("late"), || format!("the chat has written into the next answer: {shown}"))?;
    page.is_quiet().await
}

/// Another client asks, and the bars that are everybody's move; one's own do not.
pub(crate) async fn sees_others(browser: &Browser, demo: &Demo) -> Result {
    let page = Page::open(browser, demo).await?;
    page.shows_used("ask-all", "0 of 5,000").await?;
    for n in 1..=3 {
        ensure(demo.ask_as("203.0.113.9")? == 200, || "another client is answered".to_owned())?;
        page.shows_used("ask-all", &format!("{n} of 5,000")).await?;
    }
    page.shows_used("ask:tollgate:local", "0 of 15").await?;
    page.row_until(
        "ask-site:tollgate",
        "the bar has moved",
        "/scaleX\\(0\\.006\\)/.test(row.querySelector('.fill').style.transform)",
    )
    .await?;
    page.says("#legend", "allowed 3").await?;
    let label = "return chart.ariaLabel === 'In the last five minutes: 3 allowed.'";
    page.until("the chart says so in words", label).await?;
    page.is_quiet().await
}

/// Figures change, a limit refuses, the store goes and comes back, all by the hand of others: nothing on the page changes its place.
pub(crate) async fn nothing_jumps(browser: &Browser, demo: &Demo) -> Result {
    const WATCH: &str = "window.jumps = [];
        new PerformanceObserver((list) => {
            for (const { sources } of list.getEntries()) jumps.push(...sources.map(({ node }) => node?.outerHTML));
        }).observe({ type: 'layout-shift' })";
    let page = Page::open(browser, demo).await?;
    page.choose("#role", "ada").await?;
    page.says("#visitor", "203.0.113.7").await?;
    page.shows_used("ask:tollgate:203.0.113.7", "0 of 15").await?;
    page.run(WATCH).await?;
    for n in 1..=15 {
        ensure(demo.ask_as("203.0.113.7")? == 200, || format!("question {n} is answered"))?;
    }
    ensure(demo.ask_as("203.0.113.7")? == 429, || "the next is refused".to_owned())?;
    page.shows_used("ask:tollgate:203.0.113.7", "15 of 15").await?;
    page.says("#legend", "refused 1").await?;
    demo.switch_store(false)?;
    page.says("#notice", "The store is cut off").await?;
    demo.switch_store(true)?;
    page.says("#notice", "Each request is counted in memory").await?;
    let jumps = page.run("return jumps").await?;
    ensure(jumps == serde_json::json!([]), || format!("these have changed their place: {jumps:#}"))
}

/// The stream opens again by itself once there is a server to open it to.
pub(crate) async fn survives_a_new_server(browser: &Browser, demo: Demo) -> Result {
    let page = Page::open(browser, &demo).await?;
    page.says("#notice", "Each request is counted in memory").await?;
    let demo = demo.replace()?;
    ensure(demo.ask_as("203.0.113.9")? == 200, || "the new server answers".to_owned())?;
    page.shows_used("ask-all", "1 of 5,000").await?;
    page.says("#notice", "Each request is counted in memory").await
}

//! What is done with the page, one file each. All are on one demo of their own, so that none counts for another.

mod keyboard;
mod live;
mod looks;
mod outage;
mod refusal;
mod screenshots;
mod visitors;
mod webhooks;

use std::time::Duration;

use crate::{
    Options,
    browser::Browser,
    demo::Demo,
    failure::{Result, failure},
};

/// How long all of them take at most, where nothing is wrong.
const USUAL: Duration = Duration::from_secs(120);

macro_rules! scenarios {
    ($browser:ident $options:ident $demo:ident: $($name:literal $run:expr;)*) => {
        $({
            let $demo = Demo::start(&$options.demo)?;
            $browser.look(1280, 900, "light", "no-preference").await?;
            $run.await.map_err(|error| failure(format!("{}: {error}", $name)))?;
            $browser.leave().await?;
            say_passed($name);
        })*
    };
}

/// Runs all of them, in one browser, within one day: at midnight UTC the daily counts begin anew.
pub(crate) async fn run(browser: &Browser, options: &Options) -> Result {
    let left_ms = browser.driver()?.execute("return 86400000 - Date.now() % 86400000", Vec::new()).await?;
    let left = Duration::from_millis(left_ms.json().as_u64().unwrap_or_default());
    if left < USUAL {
        println!("  waiting for midnight, since no count may begin anew half way");
        #[expect(clippy::disallowed_methods, reason = "until an instant, no decision of a limit")]
        tokio::time::sleep(left + Duration::from_secs(1)).await;
    }
    let axe = std::fs::read_to_string(&options.axe)?;
    scenarios! { browser options demo:
        "one asks until refused, and is told when it passes again" refusal::asks_until_refused(browser, &demo);
        "a button comes back by itself" refusal::comes_back_by_itself(browser, &demo);
        "an answer comes piece by piece" live::streams_an_answer(browser, &demo);
        "what others do is seen at once" live::sees_others(browser, &demo);
        "nothing changes its place" live::nothing_jumps(browser, &demo);
        "the figures come back after the server was gone" live::survives_a_new_server(browser, demo);
        "without a store some go on and some stop" outage::go_and_stop(browser, &demo);
        "a push that is delivered twice is worked on once" webhooks::is_worked_on_once(browser, &demo);
        "a developer acts as somebody else" visitors::acts_as_somebody_else(browser, &demo);
        "everything is done by keyboard" keyboard::reaches_everything(browser, &demo);
        "nothing is wider than a small screen" looks::fits_a_small_screen(browser, &demo);
        "light and dark follow the system and the switch" looks::follows_the_system(browser, &demo);
        "nothing moves for those who want no motion" looks::stands_still(browser, &demo);
        "no rule of accessibility is broken" looks::is_accessible(browser, &demo, &axe);
        "the pictures show what they say" screenshots::take(browser, &demo, options.screenshots.as_deref());
    }
    Ok(())
}

fn say_passed(name: &str) {
    println!("  ok  {name}");
}

//! What is done with the page, one file each. All are on one demo of their own, so that none counts for another.

mod keyboard;
mod live;
mod looks;
mod outage;
mod refusal;
mod screenshots;
mod visitors;
mod webhooks;

use crate::{
    Options,
    browser::Browser,
    demo::Demo,
    failure::{Result, failure},
};

macro_rules! scenarios {
    ($browser:ident $options:ident $ahead:ident $demo:ident: $($name:literal $run:expr;)*) => {
        $({
            let $demo = Demo::start(&$options.demo, &$ahead)?;
            $browser.look(1280, 900, "light", "no-preference").await?;
            $run.await.map_err(|error| failure(format!("{}: {error}", $name)))?;
            $browser.leave().await?;
            say_passed($name);
        })*
    };
}

/// Runs all of them, in one browser. It is noon at the servers, since at midnight UTC the daily counts begin anew.
pub(crate) async fn run(browser: &Browser, options: &Options) -> Result {
    let until_noon = "return 86400000 + 43200000 - Date.now() % 86400000";
    let ahead = browser.driver()?.execute(until_noon, Vec::new()).await?;
    let ahead = format!("{} ms", ahead.json());
    let axe = std::fs::read_to_string(&options.axe)?;
    scenarios! { browser options ahead demo:
        "the first paint keeps its place" looks::paints_once(browser, &demo);
        "one asks until refused, and is told when it passes again" refusal::asks_until_refused(browser, &demo);
        "a button comes back by itself" refusal::comes_back_by_itself(browser, &demo);
        "an answer comes piece by piece" live::streams_an_answer(browser, &demo);
        "two answers at once are kept apart" live::keeps_answers_apart(browser, &demo);
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
